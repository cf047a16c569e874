"""From parts of scores to reasons: which are told, and in which words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import blocks, rows_of
from labelcover.ensemble._explanation import Explanation, Reason, smaller_ones
from labelcover.ensemble._label_tables import feature_words
from labelcover.ensemble._shares import Parts
from labelcover.ensemble._view import TableAnswer
from labelcover.learners import PLAIN, numeric, one_hot_columns

#: Names of features, or a function of the number of a feature and its value; one that has `units`
#: (`labelcover.datasets`) says which features are told together.
FeatureNames = Sequence[str] | Callable[[int, float], str]

# Parts that are no larger are rounding, which depends on the rows beside a row.
ROUNDING = 1e-12
# Rows are explained in blocks of so many numbers (32 MB), but of no fewer rows than these.
BLOCK_NUMBERS, BLOCK_ROWS = 2**22, 64
# Numbers that are held for each nonzero of a sparse row: of neighbours, mostly.
ROW_NUMBERS = 32
# Smaller contributions are not told alone: two digits would say 0.00.
LEAST = 0.005
# No reason is larger than so many times the way from start to score (or this way, where that is
# shorter): those that cancel are told together.
MOST_OF_WAY = 2.0
SHORT_WAY = {"log-odds": 1.0, "confidence": 0.2}
# Names of a group that are told.
MOST_NAMES = 3
# Of what speaks for a label columns are told that speak at least this share as strongly as the
# strongest; one that deviates from its mean by no more than the other share of it says nothing.
LEAST_SHARE, FLAT = 0.1, 1e-9


@dataclass(frozen=True)
class PlainWords:
    """How features are named where nothing says which belong together.

    Attributes
    ----------
    features : sequence of str, or function
        The names, or what says a feature, by its number, and its value.
    categories : tuple
        For each feature the values it may take, or None if it is numeric.
    is_sparse : bool
        Whether the table is sparse: features that are 0 are then told together.
    """

    features: FeatureNames
    categories: tuple[NDArray[Any] | None, ...]
    is_sparse: bool

    def __call__(self, f: int, value: float) -> str:
        """Return a feature and its value."""
        if callable(self.features):
            return self.features(f, value)
        values = self.categories[f]
        if values is None:
            return f"{self.features[f]} = {value:.4g}"
        known = 0 <= value < len(values)  # false for a missing value too
        return f"{self.features[f]} = {values[int(value)] if known else 'unknown'}"

    def units(
        self,
        row: int,
        features: NDArray[np.int64],
        parts: NDArray[np.float64],
        values: NDArray[np.float64],
        *,
        whole_columns: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], Callable[[int], str]]:
        """Return the parts that are told, how many features each stands for, and their names."""
        absent = (values[features] == 0) & self.is_sparse
        own, n = features[~absent], int(absent.sum())
        told, counts = parts[~absent], np.ones(len(own), dtype=np.int64)
        if n:
            told, counts = np.append(told, parts[absent].sum()), np.append(counts, n)

        def name(u: int) -> str:
            if u == len(own):
                return f"{n:,} features that are 0"
            return self(int(own[u]), float(values[own[u]]))

        return told, counts, name


class Explained(NamedTuple):
    """What one pass over a table gives: confidences, what is predicted, and why."""

    confidence: NDArray[np.float64]
    predicted: NDArray[np.bool_]
    explanation: Explanation


def explain_model(
    model: Any,
    X: Any,
    label: Any,
    n_reasons: int,
    feature_names: FeatureNames | None,
    label_names: Sequence[str] | None,
    *,
    whole_columns: bool = False,
    decide: Callable[[NDArray[np.float64]], NDArray[np.bool_]] | None = None,
    known: Any = None,
) -> Explained:
    """Return why a fitted `LabelModel` gives its confidences; parameters are those of `explain`.

    `decide` makes decisions of confidences; by default it is the model's own.
    """
    if why := model.view_.no_shares:
        raise ValueError(
            f"explain is for confidences that are sums over the columns of a table, and those of "
            f"{model!r} are none: {why}. Those of LabelCoverClassifier with its default estimator "
            "are, and those of any mean of LeastSquaresClassifier or LogisticClassifier members."
        )
    names, coding = label_words(list(model.label_names_in_), label_names), model._coding
    read, words = coding.read(model, X), feature_words(model, feature_names, X)
    if not hasattr(words, "units"):
        words = PlainWords(words, coding.categories, sparse.issparse(read))
    asked = None if label is None else _asked(label, names)
    n, m = read.shape[0], len(names)
    told = model._read_known(known, n)
    teller = _Teller(words, names, coding.n_values, n_reasons, whole_columns)
    confidence, predicted = np.empty((n, m)), np.zeros((n, m), dtype=bool)
    width = ROW_NUMBERS * read.nnz // max(n, 1) if sparse.issparse(read) else read.shape[1]
    for block in blocks(n, max(BLOCK_ROWS, BLOCK_NUMBERS // max(width, m, 1))):
        rows = rows_of(read, np.arange(block.start, block.stop))
        (shares, *_) = model.view_.shares(rows, *([] if told is None else [told[block]]))
        answer = TableAnswer(model._checked(shares.confidence), shares.known)
        confidence[block] = answer.dense()
        predicted[block] = answer.decided(decide or partial(model._decided, rows))
        chosen = predicted[block] if asked is None else np.tile(asked, (rows.shape[0], 1))
        chosen = chosen if told is None else chosen & (told[block] < 0)
        teller.tell(shares, rows, chosen, predicted[block], block.start)
    found = tuple(teller.reasons), teller.scores, teller.scale, teller.n_smaller
    return Explained(confidence, predicted, Explanation(*found))


def words_of_rows(names: Any, rows: Sequence[int]) -> Any:
    """Return names of features for some rows of the table that they are the words of."""
    return names.of_rows(rows) if hasattr(names, "of_rows") else names


@dataclass
class _Teller:
    """Parts put into words, block of rows by block of rows."""

    words: Any
    labels: Sequence[str]
    n_values: NDArray[np.int32]
    n: int
    whole: bool
    reasons: list[Reason] = field(default_factory=list)
    scores: dict[tuple[int, str], float] = field(default_factory=dict)
    n_smaller: dict[tuple[int, str], int] = field(default_factory=dict)
    scale: str = "log-odds"
    known: NDArray[np.int8] | None = None

    def tell(
        self,
        shares: Any,
        X: Any,
        chosen: NDArray[np.bool_],
        predicted: NDArray[np.bool_],
        first: int,
    ) -> None:
        """Tell the reasons of some labels of a block of rows, which begins at row `first`."""
        self.scale, self.known = shares.scale, shares.known
        told: dict[tuple[int, int], tuple[list[Reason], int, float]] = {}
        for j in np.flatnonzero(chosen.any(axis=0)).tolist():
            own = np.flatnonzero(chosen[:, j])
            parts = shares.of_label(j, own)
            totals, columns = parts.total().tolist(), parts.columns
            if not sparse.issparse(X) and columns.shape[1] != X.shape[1]:  # of nominal features
                source = one_hot_columns(self.n_values)[0]
                entries = np.ones(len(source)), (np.arange(len(source)), source)
                columns = columns @ sparse.csr_array(entries, shape=(len(source), X.shape[1]))
            for at, i in enumerate(own.tolist()):
                found = self._told(parts, columns, at, X, i, j, first + i, predicted[i, j])
                told[i, j] = *found, totals[at]
        for (i, j), (reasons, smaller, score) in sorted(told.items(), key=itemgetter(0)):
            self.reasons += reasons
            key = first + i, self.labels[j]
            self.scores[key], self.n_smaller[key] = score, smaller

    def _told(
        self, parts: Parts, columns: Any, at: int, X: Any, i: int, j: int, row: int, is_for: bool
    ) -> tuple[list[Reason], int]:
        """Return the reasons of one row and label, and how many are told as one."""
        features, own = _nonzeros(columns, at)
        given, counts, name = self.words.units(
            row, features, own, _dense_row(X, i), whole_columns=self.whole
        )
        others = np.zeros(0) if parts.labels is None else parts.labels[at]
        speaking = np.flatnonzero(others)
        every = np.append(given, others[speaking])
        start, label = float(parts.start[at]), self.labels[j]
        groups = _Groups(every, MOST_OF_WAY * max(abs(every.sum()), SHORT_WAY[self.scale]))

        def named(u: int) -> tuple[str, str]:
            if u < len(given):
                return "feature", name(u)
            other = int(speaking[u - len(given)])
            if other == j or self.known is None:
                return "label", "which labels occur together"
            return "label", f"{self.labels[other]} is {'' if self.known[i, other] else 'not '}set"

        sign = 1.0 if is_for else -1.0
        main = groups.strongest(named, sign, self.n, LEAST)
        least = min((abs(by) for *_, by in main), default=LEAST)
        against = groups.strongest(named, -sign, self.n, least)
        reasons = [Reason(row, label, "start", "before anything of the row is known", start)]
        reasons += [Reason(row, label, *each) for each in (*main, *against)]
        count = int(np.append(counts, np.ones(len(speaking)))[groups.left].sum())
        if count:
            rest = float(every[groups.left].sum())
            reasons.append(Reason(row, label, "rest", smaller_ones(count), rest))
        return reasons, count


class _Groups:
    """Parts, those that cancel joined until none is larger than a bound.

    What has not been told is `left`.
    """

    def __init__(self, parts: NDArray[np.float64], most: float) -> None:
        self.sums = parts.copy()
        self.members = [[u] for u in range(len(parts))]
        self.left = np.abs(parts) > ROUNDING
        while len(self.sums):
            largest = int(np.abs(self.sums).argmax())
            other = int((-np.sign(self.sums[largest]) * self.sums).argmax())
            if abs(self.sums[largest]) <= most or self.sums[largest] * self.sums[other] >= 0:
                break
            self.members[largest] += self.members[other]
            self.sums[largest] += self.sums[other]
            self.sums[other] = 0.0

    def strongest(
        self, named: Callable[[int], tuple[str, str]], sign: float, n: int, least: float
    ) -> list[tuple[str, str, float]]:
        """Return the strongest parts of a sign, in words, which are then no longer left."""
        told: list[tuple[str, str, float]] = []
        for u in np.argsort(-sign * self.sums, kind="stable").tolist():
            if len(told) == n or sign * self.sums[u] < least:
                break
            names = [what for _, what in map(named, self.members[u]) if what]
            if not names:  # stop words
                continue
            told.append((named(u)[0], _together(names), float(self.sums[u])))
            self.left[self.members[u]] = False
        return told


def _together(names: list[str]) -> str:
    """Return what is told of several things that are told as one."""
    if len(names) == 1:
        return names[0]
    more = len(names) - MOST_NAMES
    if more > 0:
        return f"{', '.join(names[:MOST_NAMES])} and {more:,} more together"
    return f"{', '.join(names[:-1])} and {names[-1]} together"


def _nonzeros(table: Any, i: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns of a row that are not 0, and their values."""
    if sparse.issparse(table):
        own = slice(*table.indptr[i : i + 2].tolist())
        return table.indices[own].astype(np.int64), table.data[own]
    features = np.flatnonzero(table[i])
    return features, table[i, features]


def _dense_row(X: Any, i: int) -> NDArray[np.float64]:
    if not sparse.issparse(X):
        return X[i]
    row, own = np.zeros(X.shape[1]), slice(*X.indptr[i : i + 2].tolist())
    row[X.indices[own]] = X.data[own]
    return row


def label_words(known: Sequence[str], given: Sequence[str] | None) -> list[str]:
    """Return the names of the labels: those given, else those known from training."""
    names = [str(name) for name in (known if given is None else given)]
    if isinstance(given, str) or len(names) != len(known):
        got = repr(given) if isinstance(given, str) else f"{len(names)} names"
        raise ValueError(f"label_names must name the {len(known)} labels, got {got}.")
    if len(set(names)) < len(names):  # reasons are told apart by the names of their labels
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"label_names must be different names, got {twice!r} twice.")
    return names


def _asked(label: Any, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which labels are asked for, by name or number."""
    chosen = np.zeros(len(names), dtype=bool)
    is_one = isinstance(label, str | bytes) or not hasattr(label, "__iter__")
    for one in [label] if is_one else label:
        found = [j for j, name in enumerate(names) if name == one]
        if not found and isinstance(one, int | np.integer) and not isinstance(one, bool):
            found = [int(one)] if 0 <= one < len(names) else []
        if not found:
            raise ValueError(
                f"label must be a name of {', '.join(map(str, names[:5]))}"
                f"{', …' if len(names) > 5 else ''}, a number from 0 to {len(names) - 1}, or a "
                f"list of these, got {one!r}."
            )
        chosen[found] = True
    return chosen


def speaking_features(
    model: Any, labels: Sequence[int], n: int = 5, *, feature_names: Any = None
) -> list[tuple[list[tuple[str, float]], list[tuple[str, float]]]] | None:
    """Return the columns whose higher values speak most for, and most against, some labels.

    Parameters
    ----------
    model : LabelModel
        Fitted.
    labels : sequence of int
    n : int, default=5
        No more columns than these of either kind.
    feature_names : optional
        As for `LabelModel.explain`.

    Returns
    -------
    list of (for_, against)
        Of each label two lists of ``(str, float)``: names, of nominal features with the value, the
        strongest first, each with what one standard deviation more adds to the score, by the parts
        of the column in the scores of 200 training rows. None if the model has no such parts.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.ensemble import speaking_features
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    >>> model = LabelCoverClassifier(random_state=0).fit(X, Y)
    >>> speaking_features(model, [0], feature_names=["warmth", "size", "noise"])[0][0][0][0]
    'warmth'
    """
    if getattr(model, "_sample", None) is None:
        return None
    X = model._sample
    (shares, *_) = model.view_.shares(X)
    values, rows = numeric(X, model._coding.n_values), np.arange(X.shape[0])
    names = _column_names(model, values.shape[1], feature_names)
    found = []
    for label in labels:
        effects = _effects(values, shares.of_label(int(label), rows).columns)
        effects[[not name for name in names]] = 0.0
        least = max(LEAST, LEAST_SHARE * float(np.abs(effects).max(initial=0.0)))
        sides = []
        for sign in (1.0, -1.0):
            order = np.argsort(-sign * effects, kind="stable")[:n]
            own = [(names[c], float(effects[c])) for c in order if sign * effects[c] >= least]
            sides.append(own)
        found.append((sides[0], sides[1]))
    return found


def _effects(values: Any, parts: Any) -> NDArray[np.float64]:
    """Return what one standard deviation more of each column adds, by regression on its values."""
    n = values.shape[0]
    if sparse.issparse(values):  # a missing nonzero is a 0
        mean = np.asarray(values.mean(axis=0)).ravel()
        squares = np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean**2
        products = np.asarray(values.multiply(parts).sum(axis=0)).ravel()
        products = products - mean * np.asarray(parts.sum(axis=0)).ravel()
    else:
        mean = values.mean(axis=0)
        moved = values - mean
        squares = (moved**2).mean(axis=0)
        products = (moved * (parts.toarray() if sparse.issparse(parts) else parts)).sum(axis=0)
    spread = np.sqrt(np.maximum(squares, 0.0))
    is_flat = spread <= FLAT * np.abs(mean)
    return np.where(is_flat, 0.0, products / n / np.where(is_flat, 1.0, spread))


def _column_names(model: Any, n_columns: int, given: Any) -> list[str]:
    """Return a name for each column: a feature, or one of its values; empty if it is not told."""
    coding, features = model._coding, feature_words(model, given)
    if hasattr(features, "told_names"):
        return features.told_names()
    features = feature_words(model, None) if callable(features) else features
    if n_columns == len(features):
        return features
    source, value = one_hot_columns(coding.n_values)
    return [
        features[f] if v == PLAIN else f"{features[f]} = {coding.categories[f][v]}"
        for f, v in zip(source.tolist(), value.tolist(), strict=True)
    ]
