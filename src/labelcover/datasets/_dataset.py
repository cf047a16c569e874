"""What a data set is, what is in its rows, and how a reader says what is wrong with a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import parameter
from labelcover._imports import naming_extra
from labelcover.tables import AnyPath, DataError, shown

if TYPE_CHECKING:
    import pandas as pd

    from labelcover.datasets._reading_report import ReadingReport
    from labelcover.datasets._table_files import Reading
    from labelcover.tables import Features, Table, TableEncoder

MOST_CHARACTERS, MOST_FEATURES = 400, 8
#: What an empty cell of the labels means: none of them, the row is left out, or nobody looked.
EMPTY = ("none", "skip", "unknown")
MOST_EMPTY = 5  # labels whose share of empty cells is told


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set.

    Attributes
    ----------
    name : str
        Its name.
    X : ndarray or CSR array of shape (n, d), float64
        Features. A missing value is NaN. A nominal value is its position among the values that
        the file declares for it, from 0 (see `categories`).
    Y : ndarray of shape (n, m), uint8 or float32
        Labels, zeros and ones; where some are not known, floats with NaN for these.
    feature_names, label_names : list of str
        Names of the columns of X and Y.
    categorical : ndarray of shape (d,), bool
        Which features are nominal.
    train_rows, test_rows : ndarray of int or None
        The data set's own split into training and test rows, if it has one.
    description : str
        What it is and where it comes from.
    categories : dict of str to tuple of str
        For each nominal feature the values behind the codes 0, 1, …
    ids : list of str or None
        What names the rows, if a column of the table does.
    texts : dict of str to list of str
        The columns of the table that are free text, as they are.
    read_by : Reading or None
        How the table became features, if it was read by `read_table`.
    table : Table or None
        The columns of that table, as estimators take them.
    n_other_tags : int
        How many tags its rows have, counted in each row, that are not among the labels.
    """

    name: str
    X: Features
    Y: NDArray[Any]
    feature_names: list[str]
    label_names: list[str]
    categorical: NDArray[np.bool_]
    train_rows: NDArray[np.intp] | None = None
    test_rows: NDArray[np.intp] | None = None
    description: str = ""
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ids: list[str] | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    read_by: Reading | None = None
    table: Table | None = None
    n_other_tags: int = 0

    def __post_init__(self) -> None:
        # The name of a file need not be UTF-8, and all that is written of a data set is.
        name = self.name.encode("utf-8", "backslashreplace").decode("utf-8")
        object.__setattr__(self, "name", name)

    @property
    def encoder(self) -> TableEncoder | None:
        """How the table became features, if it was one."""
        return None if self.read_by is None else self.read_by.encoder

    @property
    def blocks(self) -> dict[str, Any]:
        """The features of each text of a table, and of all that is no text."""
        return {} if self.encoder is None else self.encoder.blocks

    @property
    def report(self) -> ReadingReport | None:
        """What was read from the training table, and how."""
        return None if self.read_by is None else self.read_by.report

    @property
    @naming_extra()
    def rows(self) -> Any:
        """What estimators are fitted on and predict: the table as it is, a frame, or X.

        It is a pandas frame where features are `many_valued`, whose dtype says so there.
        """
        X: Any = self.X
        many_valued = np.flatnonzero(self.many_valued)
        if self.table is not None or not len(many_valued):
            return X if self.table is None else self.table
        import pandas as pd

        X = X.toarray() if sparse.issparse(X) else X
        columns = dict(zip(self.feature_names, X.T, strict=True))
        for f in many_valued:
            name = self.feature_names[f]
            column = pd.Categorical(X[:, f])
            if name in self.categories:
                codes = np.where(np.isnan(X[:, f]), -1, X[:, f]).astype(np.intp)
                column = pd.Categorical.from_codes(codes, self.categories[name])
            columns[name] = column
        return pd.DataFrame(columns)

    @property
    def reading(self) -> Reading:
        """What a model keeps of its training data, to read further files in the same way."""
        from labelcover.datasets._table_files import Reading

        names = list(self.feature_names), list(self.label_names)
        return self.read_by or Reading(self.name, *names, dict(self.categories))

    @property
    @naming_extra()
    def labels(self) -> pd.DataFrame:
        """Y as a pandas frame whose columns are `label_names`, which estimators keep."""
        import pandas as pd

        return pd.DataFrame(self.Y, columns=list(self.label_names))

    @property
    def cardinality(self) -> float:
        """Mean number of labels that a row is known to have."""
        return float(np.nansum(self.Y, axis=1).mean())

    @property
    def density(self) -> float:
        """Share of the label table that is one, of the cells that are known."""
        return float(np.nanmean(self.Y))

    @property
    def unknown(self) -> float:
        """Share of the label table that is not known."""
        return float(np.isnan(self.Y).mean()) if self.Y.dtype.kind == "f" else 0.0

    @property
    def many_valued(self) -> NDArray[np.bool_]:
        """Which features are nominal with more than two values, or with values not recorded.

        Other nominal features are columns of zeros and ones, which a linear model takes as they
        are.
        """
        counts = [len(self.categories.get(name, "abc")) for name in self.feature_names]
        return self.categorical & (np.array(counts) > 2)

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        n, d = self.X.shape
        return f"Dataset({self.name!r}: {n} rows, {d} {kind} features, {self.Y.shape[1]} labels)"


def choose_features(
    path: AnyPath,
    columns: Sequence[str],
    labels: Sequence[int],
    drop: Sequence[str],
    features: Sequence[str] | None,
) -> list[int]:
    """Return the positions of the feature columns: those named, else all that are left."""
    if features is not None:
        return _positions(path, columns, features, "feature")
    left_out = set(labels).union(_positions(path, columns, drop, "column to drop"))
    found = [j for j in range(len(columns)) if j not in left_out]
    if not found:
        raise DataError(path, "every column is a label, expected at least one feature.")
    return found


def choose_labels(
    path: AnyPath,
    columns: Sequence[str],
    labels: Sequence[str] | None,
    prefix: str | Sequence[str] | None,
    span: str | None = None,
) -> list[int]:
    """Return the positions of the label columns, in the order of `labels` if that is given.

    Else they are the columns that start with a `prefix`, or those of a `span`: ``FIRST:LAST``.
    """
    ways = {"labels": labels, "label_prefix": prefix, "label_range": span}
    given = [parameter(way) for way, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are given, expected one of them.")
    if labels is not None:
        return _positions(path, columns, labels, "label")
    if span is not None:  # names may hold a colon
        ends = [(span[:at], span[at + 1 :]) for at, sign in enumerate(span) if sign == ":"]
        ends = [(first.strip(), last.strip()) for first, last in ends]
        known = [(first, last) for first, last in ends if first in columns and last in columns]
        option = parameter("label_range")
        if not known:
            text = f"{option} must be FIRST:LAST, two columns of the file, got {span!r}."
            raise DataError(path, text, name=span)
        first, last = (list(columns).index(name) for name in known[0])
        if first > last:
            text = f"{option} is {span!r}, but column {known[0][1]!r} comes first."
            raise DataError(path, text)
        return list(range(first, last + 1))
    if prefix is None:
        raise DataError(
            path,
            f"which columns are labels is not given, expected a column of tags "
            f"({parameter('tags')}, for tables), or columns of 0 and 1: their names "
            f"({parameter('labels')}), how these start ({parameter('label_prefix')}), or the first "
            f"and last of them ({parameter('label_range')}, for tables).",
        )
    prefixes = (prefix,) if isinstance(prefix, str) else tuple(prefix)
    for each in prefixes:
        if not any(name.startswith(each) for name in columns):
            text = f"no column starts with {each!r}, expected the labels to."
            raise DataError(path, text, name=each)
    return [j for j, name in enumerate(columns) if name.startswith(prefixes)]


def settled_labels(
    path: AnyPath, Y: NDArray[np.float32], names: Sequence[str], empty: str | None
) -> NDArray[Any]:
    """Return labels whose empty cells, NaN in `Y`, mean what `empty` says.

    Zeros and ones; where labels are unknown, floats with NaN.

    Raises
    ------
    DataError
        If there are empty cells, and it is not said what they mean; or all are empty.
    """
    missing = np.isnan(Y)
    if not missing.any():
        return Y.astype(np.uint8)
    if empty == "none":
        return np.where(missing, 0, Y).astype(np.uint8)
    if missing.all():
        which = shown([*map(repr, names)], MOST_EMPTY)
        text = f"labels {which} are empty in all {len(Y)} rows, expected some filled."
        raise DataError(path, text)
    if empty == "unknown":
        return Y
    shares = missing.mean(axis=0)
    order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
    told = [f"{names[j]!r} {_percent(shares[j])}" for j in order[:MOST_EMPTY].tolist()]
    more = f" and {len(order) - MOST_EMPTY} more" if len(order) > MOST_EMPTY else ""
    raise DataError(
        path,
        f"{_percent(missing.mean())} of the label cells are empty ({', '.join(told)}{more}): say "
        f"whether nobody looked, {parameter('empty', 'unknown')}, or they mean 0, "
        f"{parameter('empty', 'none')}.",
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "<1%"


def _positions(path, columns, names, what):
    at = {name: j for j, name in enumerate(columns)}
    for name in names:
        if name not in at:
            text = f"no column {name!r}, expected every {what} to be a column."
            raise DataError(path, text, name=name)
    if len(set(names)) < len(names):
        repeated = next(name for name in names if list(names).count(name) > 1)
        raise DataError(path, f"{what} {repeated!r} is asked for twice, expected once.")
    return [at[name] for name in names]


def feature_words(dataset: Dataset) -> Callable[[int, float], str]:
    """Return what says a feature, by its number, and its value in the words of the table."""
    if dataset.encoder is not None:
        return dataset.encoder.words(dataset.table)
    names = dataset.feature_names

    def told(f: int, value: float) -> str:
        values = dataset.categories.get(names[f], ()) if dataset.categorical[f] else ()
        known = 0 <= value < len(values)  # false for a missing value too
        return f"{names[f]} = {values[int(value)] if known else f'{value:.4g}'}"

    return told


def row_contents(dataset: Dataset, rows: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
    """Return what is in some rows, as headings and texts.

    The text of the row where there is any, shortened; else the features in which the row differs
    the most from others.
    """
    rows = sorted(set(rows))
    if dataset.texts:

        def shortened(text: str) -> str:
            text = " ".join(text.split())
            is_long = len(text) > MOST_CHARACTERS
            return text[:MOST_CHARACTERS].rstrip() + " …" if is_long else text

        texts = dataset.texts.items()
        return {i: [(name, shortened(own[i])) for name, own in texts if own[i]] for i in rows}
    words = feature_words(dataset)
    X: Any = dataset.X
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
    else:
        known = np.ma.masked_invalid(X)
        mean, spread = known.mean(axis=0).filled(0), known.std(axis=0).filled(0)
    found = {}
    for i in rows:
        row = X[[i]].toarray()[0] if sparse.issparse(X) else X[i]
        unusual = np.abs(row - mean) / np.where(spread > 0, spread, np.inf)
        # Of a sparse row, what is there tells more than what is not.
        unusual[np.isnan(row) | (sparse.issparse(X) & (row == 0))] = 0
        most = np.argsort(-unusual, kind="stable")[:MOST_FEATURES]
        told = [words(int(f), float(row[f])) for f in most if unusual[f] > 0]
        found[i] = [("strongest features", "; ".join(told))] if told else []
    return found
