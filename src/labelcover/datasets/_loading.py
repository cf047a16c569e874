"""Data sets from a file of any format, and known sets by name: where they are, what is checked."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._arguments import check_choice, parameter
from labelcover._files import replacing
from labelcover.datasets._arff import read_arff
from labelcover.datasets._dataset import Dataset
from labelcover.datasets._libsvm import read_libsvm
from labelcover.datasets._raw_tables import KINDS, is_table
from labelcover.datasets._table_files import read_csv
from labelcover.tables import AnyPath, DataError

EMBEDDED = Path(__file__).parent
WORDS_LABELS = 14
# Figures are recorded to so many digits; anything further off is another set.
CARDINALITY_TOLERANCE, DENSITY_TOLERANCE = 1e-4, 1e-5
SUFFIXES = (".arff", ".libsvm", ".svm", *KINDS)


@dataclass(frozen=True)
class KnownSet:
    """What is known of a data set.

    Attributes
    ----------
    rows, features, labels : int
        Its size; `features` counts `identifiers` too.
    cardinality, density : float
        Mean labels of a row; share of ones among the labels.
    files : dict of str to str
        Name of each file in the folder of the set, with its SHA-256: one ARFF file, or the
        training and then the test file, and the label file last; of an embedded set, the file in
        the package.
    source : str
        Where it comes from.
    identifiers : tuple of str
        Features that only identify rows.
    openml : int, optional
        Its number on OpenML.
    embedded : bool
        Whether it comes with the package.
    """

    rows: int
    features: int
    labels: int
    cardinality: float
    density: float
    files: dict[str, str]
    source: str
    identifiers: tuple[str, ...] = ()
    openml: int | None = None
    embedded: bool = False


#: The sets known by name, with the figures and checksums that they must have.
KNOWN = {
    name: KnownSet(**facts | {"identifiers": tuple(facts.get("identifiers", ()))})
    for name, facts in json.loads((EMBEDDED / "known_sets.json").read_text("utf-8")).items()
}


def load(
    name: str, *, identifiers: bool = False, download: bool = False, verify: bool = True
) -> Dataset:
    """Return a known data set by its name.

    Parameters
    ----------
    name : str
        One of the names that ``labelcover datasets`` lists. ``"debtags"`` and ``"debtags-words"``
        come with the package; ``"debtags-words"`` has the words of the descriptions as its only
        features and the 14 most frequent tags as labels.
    identifiers : bool
        Keep features that only identify rows: the first attribute of genbase.
    download : bool
        Fetch the set from OpenML if it is not found on this machine and OpenML has it. Nothing is
        fetched otherwise.
    verify : bool
        Compare the files' SHA-256, and after loading the rows, features, labels, cardinality and
        density, with those on record.

    Returns
    -------
    Dataset
        A set is looked for in the folder that the environment variable ``LABELCOVER_DATA`` names
        (a folder per set in it), then in the user's cache (`cache_folder`).

    Examples
    --------
    >>> from labelcover.datasets import load
    >>> load("debtags")
    Dataset('debtags': 2291 rows, 378 dense features, 24 labels)
    """
    known = KNOWN[check_choice("name", name, KNOWN)]
    drop = () if identifiers else known.identifiers
    if known.embedded:
        (path,) = _checked(EMBEDDED, known, verify)
        dataset = _read_npz(path)
        if name == "debtags-words":
            Y = np.ascontiguousarray(dataset.Y[:, :WORDS_LABELS])
            dataset = _with_features(dataset, lambda feature: feature.startswith("word="))
            dataset = replace(dataset, Y=Y, label_names=dataset.label_names[:WORDS_LABELS])
    elif (folder := find_folder(name)) is not None:
        dataset = _from_folder(name, known, folder, drop, verify)
    elif download and known.openml is not None:
        dataset = _from_openml(name, known, drop)
    else:
        files, or_else = ", ".join(known.files), "; or load it with download=True."
        raise FileNotFoundError(
            f"data set {name!r} is not on this machine: put {files} into a folder {name!r} and set "
            f"LABELCOVER_DATA to the folder above it ({known.source})"
            f"{or_else if known.openml else '.'}"
        )
    if verify:
        check_figures(dataset, known, drop)
    return replace(dataset, name=name, description=known.source)


def cache_folder() -> Path:
    """Return the user's cache of data sets, a folder per set."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "labelcover"


def find_folder(name: str) -> Path | None:
    """Return the folder that holds the files of the set `name`, if there is one."""
    places = os.environ.get("LABELCOVER_DATA"), cache_folder()
    return next(filter(Path.is_dir, (Path(place) / name for place in places if place)), None)


def is_here(name: str) -> bool:
    """Return whether `load` finds the set `name` without a download."""
    return KNOWN[name].embedded or find_folder(name) is not None


def check_figures(dataset: Dataset, known: KnownSet, dropped: Sequence[str] = ()) -> None:
    """Raise a ``ValueError`` unless `dataset` has the figures of `known`."""
    found = (dataset.X.shape[0], dataset.X.shape[1], dataset.Y.shape[1])
    expected = (known.rows, known.features - len(dropped), known.labels)
    for what, got, want in zip(("rows", "features", "labels"), found, expected, strict=True):
        if got != want:
            raise ValueError(f"{dataset.name} has {got} {what}, expected {want}.")
    for what, close in (("cardinality", CARDINALITY_TOLERANCE), ("density", DENSITY_TOLERANCE)):
        got, want = getattr(dataset, what), getattr(known, what)
        if abs(got - want) > close:
            raise ValueError(f"{dataset.name} has a {what} of {got:.5f}, expected {want:.5f}.")


def _from_folder(name, known, folder, drop, verify):
    stored = folder / f"{name}.npz"
    # The files of the set itself go first: their checksums are on record.
    if stored.exists() and not all((folder / file).exists() for file in known.files):
        if verify:
            recorded = _checksum_file(stored)
            if not recorded.exists():
                raise DataError(
                    stored,
                    f"has no checksum {recorded.name} beside it, expected a set that "
                    "load(…, download=True) stored; delete it and load it again.",
                )
            _check_sum(stored, recorded.read_text(encoding="utf-8").strip())
        return _with_features(_read_npz(stored), lambda feature: feature not in drop)
    *rows, labels = _checked(folder, known, verify)
    train, *more = [read_arff(path, labels, drop=drop) for path in rows]
    if not more:
        return train
    (test,) = more
    if (train.feature_names, train.categories) != (test.feature_names, test.categories):
        raise ValueError(f"{test.name} must have the attributes of {train.name}, got others.")
    stack = sparse.vstack if sparse.issparse(train.X) else np.vstack
    X, Y = stack([train.X, test.X]), np.vstack([train.Y, test.Y])
    train_rows, test_rows = np.split(np.arange(len(Y)), [len(train.Y)])  # the set's own split
    return replace(train, X=X, Y=Y, train_rows=train_rows, test_rows=test_rows)


def _checked(folder: Path, known: KnownSet, verify: bool) -> list[Path]:
    """Return the files of a set, after comparing their checksums."""
    for file, expected in known.files.items() if verify else ():
        _check_sum(folder / file, expected)
    return [folder / file for file in known.files]


def _check_sum(path: Path, expected: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise DataError(path, f"has the SHA-256 {found}, expected {expected}.")


def _checksum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _from_openml(name, known, drop):
    """Fetch a set from OpenML, check it, and store it in the cache."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(
        data_id=known.openml, as_frame=True, parser="auto", data_home=cache_folder() / "openml"
    )
    X, Y = bunch.data, bunch.target.to_frame() if bunch.target.ndim == 1 else bunch.target
    categories = {c: tuple(map(str, X[c].cat.categories)) for c in X if X[c].dtype == "category"}
    coded = X.assign(**{c: X[c].cat.codes.replace(-1, np.nan) for c in categories})
    dataset = Dataset(
        name=name,
        X=coded.to_numpy(np.float64),
        Y=Y.astype(str).apply(lambda c: c.str.upper().isin(["TRUE", "1"])).to_numpy(np.uint8),
        feature_names=[str(c) for c in X],
        label_names=[str(c) for c in Y],
        categorical=np.array([c in categories for c in X]),
        categories=categories,
    )
    check_figures(dataset, known)
    folder = cache_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    with replacing(path) as temporary:
        np.savez_compressed(
            temporary,
            X=dataset.X,
            Y=dataset.Y,
            feature_names=np.array(dataset.feature_names),
            label_names=np.array(dataset.label_names),
            categorical=dataset.categorical,
            categories=np.array(json.dumps(dataset.categories)),
        )
        checksum = hashlib.sha256(temporary.read_bytes()).hexdigest()
    with replacing(_checksum_file(path)) as temporary:  # without which it would not be read
        temporary.write_text(checksum + "\n", encoding="utf-8")
    return _with_features(dataset, lambda feature: feature not in drop)


def _read_npz(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as stored:
        X, Y = stored["X"].astype(np.float64), stored["Y"].astype(np.uint8)
        features, labels = stored["feature_names"].tolist(), stored["label_names"].tolist()
        categorical, values = np.zeros(X.shape[1], dtype=bool), {}
        if "categories" in stored:  # the embedded set has none
            categorical, values = stored["categorical"], json.loads(str(stored["categories"]))
    categories = {feature: tuple(own) for feature, own in values.items()}
    return Dataset(path.stem, X, Y, features, labels, categorical, categories=categories)


def _with_features(dataset: Dataset, is_kept: Callable[[str], bool]) -> Dataset:
    keep = [j for j, feature in enumerate(dataset.feature_names) if is_kept(feature)]
    return replace(
        dataset,
        X=dataset.X[:, keep],
        feature_names=[dataset.feature_names[j] for j in keep],
        categorical=dataset.categorical[keep],
        categories={f: values for f, values in dataset.categories.items() if is_kept(f)},
    )


def read(
    path: AnyPath,
    labels: AnyPath | int | Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    empty: str | None = None,
) -> Dataset:
    """Return the data set in a file, by its suffix.

    Parameters
    ----------
    path : path-like
        ``.arff`` (see `read_arff`), ``.libsvm`` or ``.svm`` (`read_libsvm`), or a table of numbers:
        ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` (`read_csv`). Tables with other columns are
        for `read_table`.
    labels : path-like, int, list of str, optional
        Which columns are labels: names, or what `read_arff` accepts for an ARFF file.
    label_prefix, drop, features, empty
        As in those functions.
    """
    check_kind(path)
    suffix = Path(path).suffix.lower()
    how: dict[str, Any] = {"label_prefix": label_prefix, "drop": drop, "features": features}
    how["empty"] = empty
    if suffix == ".arff":
        return read_arff(path, labels, **how)
    if labels is not None and (isinstance(labels, int | str | os.PathLike)):
        raise DataError(path, f"labels={labels!r} is for ARFF files only, expected names.")
    if suffix in (".libsvm", ".svm"):
        if empty is not None:
            raise ValueError(f"{parameter('empty', empty)} is for files whose labels are columns.")
        return read_libsvm(path, labels, features=features)
    return read_csv(path, labels, **how)


def check_kind(path: AnyPath) -> None:
    """Raise a `DataError` if the suffix of a file is none that can be read."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES and not is_table(path):
        named = "" if suffix else "; labelcover datasets lists what is known by name"
        text = f"unknown kind of file, expected one of {', '.join(SUFFIXES)}{named}."
        raise DataError(path, text)
