"""Multi-label files in the format of LIBSVM: ``1,3 5:0.2 7:1``."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from labelcover.datasets.dataset import DataError, Dataset


def read_libsvm(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    features: Sequence[str] | None = None,
) -> Dataset:
    """Return the data set in a LIBSVM file whose rows start with their labels.

    Parameters
    ----------
    path : path-like
        The file: each line holds label numbers between commas, then ``index:value`` pairs.
    labels : list of str, optional
        Which labels make the columns of Y. By default all that occur, by number; ``[]`` for none.
    features : list of str, optional
        Names of the features, the indices of the file. By default 0 or 1 (if no index is 0) to the
        greatest index that occurs. A file read for a model that was trained on another one must
        have the features of that.
    """
    from sklearn.datasets import load_svmlight_file  # slow to import, and most files are others

    raw = Path(path).read_bytes()
    width = None if features is None else len(features)
    based = "auto" if features is None else features[:1] == ["0"]
    try:
        X, rows = load_svmlight_file(
            io.BytesIO(raw), multilabel=True, zero_based=based, n_features=width
        )
    except (ValueError, OverflowError):
        raise DataError(path, *_first_bad(raw, based, width)) from None
    if X.shape[0] == 0:
        raise DataError(path, "the file is empty, expected rows.", 1)
    first = 0 if b" 0:" in raw or based is True else 1
    names = features or [str(j + first) for j in range(X.shape[1])]
    ids = sorted({float(label) for row in rows for label in row})
    label_names = [f"{label:g}" for label in ids] if labels is None else list(labels)
    return Dataset(
        name=Path(path).stem,
        X=sparse.csr_array(X),
        Y=_label_bits(path, rows, label_names),
        feature_names=list(names),
        label_names=label_names,
        categorical=np.zeros(X.shape[1], dtype=bool),
    )


def _label_bits(path, rows, names):
    at = {name: j for j, name in enumerate(names)}
    Y = np.zeros((len(rows), len(names)), dtype=np.uint8)
    for i, row in enumerate(rows):
        for label in row if names else ():
            name = f"{label:g}"
            if name not in at:
                raise DataError(path, f"row {i + 1} has the label {name}, which is not expected.")
            Y[i, at[name]] = 1
    return Y


def _first_bad(raw, based, width):
    """Say what is wrong with the first line that cannot be read alone, and its number."""
    from sklearn.datasets import load_svmlight_file

    for number, line in enumerate(raw.splitlines(), start=1):
        try:
            load_svmlight_file(
                io.BytesIO(line), multilabel=True, zero_based=based, n_features=width
            )
        except (ValueError, OverflowError):
            shown = line[:30].decode("latin-1")
            limit = "" if width is None else f" with indices up to {width}"
            return (
                f"{shown!r} cannot be read, expected labels, then index:value pairs{limit}.",
                number,
            )
    return "cannot be read, expected labels, then index:value pairs.", 1
