"""Multi-label files in the format of LIBSVM: ``1,3 5:0.2 7:1``."""

import io
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._tags import tag_table
from labelcover.datasets._dataset import Dataset
from labelcover.datasets._file_limits import check_bytes, read_bytes
from labelcover.tables import AnyPath, DataError

NAME_BYTES = 64  # of the name of a feature


def read_libsvm(
    path: AnyPath,
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
    raw = read_bytes(path)
    width = None if features is None else len(features)
    from_zero = features is not None and features[:1] == ["0"]
    n_columns = None if width is None else width + (not from_zero)
    try:
        X = _features(raw, n_columns)
    except (ValueError, OverflowError):
        lines = raw.splitlines(keepends=True)
        bad, end = 0, len(lines)  # the first line that cannot be read is between these
        while end - bad > 1:
            middle = (bad + end) // 2
            try:
                _features(b"".join(lines[bad:middle]), n_columns)
                bad = middle
            except (ValueError, OverflowError):
                end = middle
        text = f"{lines[bad].rstrip()[:30].decode('latin-1')!r} cannot be read, expected labels, "
        limit = "" if width is None else f" with indices up to {width}"
        raise DataError(path, f"{text}then index:value pairs{limit}.", bad + 1) from None
    if X.shape[0] == 0:
        raise DataError(path, "the file is empty, expected rows.", 1)
    check_bytes(path, NAME_BYTES * X.shape[1], f"{X.shape[1]} features")
    has_zero = bool((X.indices == 0).any())
    if has_zero and features is not None and not from_zero:
        raise DataError(path, f"index 0, expected 1 to {width} as in training.")
    first = 0 if has_zero or from_zero else 1
    X = sparse.csr_array(X[:, first:])
    rows = _label_rows(path, raw)
    if labels is None:
        labels = sorted({name for row in rows for name in row}, key=Decimal)
    check_bytes(path, len(rows) * len(labels), f"a table of {len(rows)} x {len(labels)} labels")
    for i, row in enumerate(rows if labels else ()):
        if others := set(row).difference(labels):
            other = min(others, key=row.index)
            raise DataError(path, f"row {i + 1} has the label {other}, which is not expected.")
    return Dataset(
        name=Path(path).stem,
        X=X,
        Y=tag_table(rows, labels)[0],
        feature_names=list(features or [str(j + first) for j in range(X.shape[1])]),
        label_names=list(labels),
        categorical=np.zeros(X.shape[1], dtype=bool),
    )


def _features(raw: bytes, width: int | None) -> Any:
    """Return the features of all lines, with the column of index 0 whether it occurs or not."""
    from sklearn.datasets import load_svmlight_file  # slow to import, and most files are others

    X, _ = load_svmlight_file(io.BytesIO(raw), multilabel=True, zero_based=True, n_features=width)
    return X


def _label_rows(path, raw: bytes) -> list[list[str]]:
    """Return the labels of each row, each by one name: ``1``, ``+1`` and ``1.0`` are the same."""
    rows, named = [], dict[bytes, str]()
    for number, line in enumerate(io.BytesIO(raw), start=1):
        words = line.partition(b"#")[0].split(None, 1)
        if not words:
            continue
        given = [] if b":" in words[0] else words[0].split(b",")
        for label in [own for own in given if own not in named]:
            value = float(label)
            if not math.isfinite(value):
                shown = label[:30].decode("latin-1")
                text = f"the label {shown!r} is no number, expected one such as 3."
                raise DataError(path, text, number)
            try:
                named[label] = str(int(label))
            except ValueError:
                named[label] = str(int(value)) if value.is_integer() else repr(value)
        rows.append([named[label] for label in given])
    return rows
