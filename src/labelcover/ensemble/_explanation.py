"""Why a row got a label: reasons in the words of the table, which add up to the score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._imports import naming_extra
from labelcover._table_numbers import rows_of
from labelcover.ensemble._shares import Shares, ShareTable, check_explained, training_labels
from labelcover.learners import FeatureCoding, ScoreParts

if TYPE_CHECKING:
    import pandas as pd

#: Names of features, or a function of the number of a feature and its value.
FeatureNames = Sequence[str] | Callable[[int, float], str]

# Numbers in the shares of one block of rows (32 MB).
BLOCK_NUMBERS = 2**22
# A training row is described by so many of its labels at most.
MOST_TAGS = 5


class Reason(NamedTuple):
    """What adds to the score of a label in a row.

    Attributes
    ----------
    row : int
        Position of the row in the table that is explained.
    label : str
    part : str
        ``"start"``, the score before anything of the row is known; ``"feature"``;
        ``"training row"``, one that the row is more, or less, similar to than usual; ``"label"``,
        another label, by the labelsets that hold both; ``"labelsets"``, which labelsets occur in
        training; ``"view"``, a view that is not split further; ``"rest"``, all weaker reasons
        together.
    what : str
        The reason in words.
    contribution : float
        Above 0 for the label, below 0 against it.
    """

    row: int
    label: str
    part: str
    what: str
    contribution: float


@dataclass(frozen=True)
class Explanation(Sequence[Reason]):
    """The reasons for some labels of some rows, the strongest of each first.

    A sequence of `Reason`; the contributions of a row and label add up to its score.

    Attributes
    ----------
    reasons : tuple of Reason
    scores : dict of (int, str) to float
        The score of each row and label.
    scale : {"log-odds", "confidence"}
        What scores are: the log-odds of the confidence, or the confidence itself.
    """

    reasons: tuple[Reason, ...]
    scores: dict[tuple[int, str], float]
    scale: str

    def __len__(self) -> int:
        return len(self.reasons)

    @overload
    def __getitem__(self, at: int) -> Reason: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Reason, ...]: ...

    def __getitem__(self, at: int | slice) -> Reason | tuple[Reason, ...]:
        return self.reasons[at]

    @naming_extra()
    def to_frame(self) -> pd.DataFrame:
        """Return the reasons as a pandas data frame, a line each."""
        import pandas as pd

        return pd.DataFrame(list(self.reasons), columns=list(Reason._fields))

    def in_words(self, n: int = 3) -> dict[tuple[int, str], str]:
        """Return for each row and label its `n` strongest reasons as one text."""
        found: dict[tuple[int, str], list[str]] = {key: [] for key in self.scores}
        for reason in self.reasons:
            told = found[reason.row, reason.label]
            if reason.part not in ("start", "rest") and len(told) < n:
                told.append(f"{reason.what} ({reason.contribution:+.2f})")
        return {key: "; ".join(told) for key, told in found.items()}


@dataclass(frozen=True)
class Words:
    """How reasons are named.

    Attributes
    ----------
    labels : sequence of str
    features : sequence of str, or function
        The names, or what says a feature, by its number, and its value.
    categories : tuple
        For each feature the values it may take, or None if it is numeric.
    training_labels : tuple of ndarrays or None
        The labels of all training rows, as ``(indices, starts)`` of a CSR table.
    """

    labels: Sequence[str]
    features: FeatureNames
    categories: tuple[NDArray[Any] | None, ...]
    training_labels: tuple[NDArray[Any], NDArray[Any]] | None

    def feature(self, f: int, value: float) -> str:
        """Return a feature and its value."""
        if callable(self.features):
            return self.features(f, value)
        values = self.categories[f]
        if values is None:
            return f"{self.features[f]} = {value:.4g}"
        known = 0 <= value < len(values)  # false for a missing value too
        return f"{self.features[f]} = {values[int(value)] if known else 'unknown'}"

    def training_row(self, i: int) -> str:
        """Return the number of a training row and its labels."""
        if self.training_labels is None:
            return f"training row {i}"
        indices, starts = self.training_labels
        return f"training row {i}, {self.tagged(indices[starts[i] : starts[i + 1]])}"

    def tagged(self, labels: NDArray[Any]) -> str:
        """Return the names of some labels."""
        names = [self.labels[int(j)] for j in labels[:MOST_TAGS]]
        more = ", …" if len(labels) > MOST_TAGS else ""
        return f"tagged {', '.join(names)}{more}" if names else "without tags"


def explain_model(
    model: Any,
    coding: FeatureCoding,
    X: Any,
    label: Any,
    n_reasons: int,
    feature_names: FeatureNames | None,
    label_names: Sequence[str] | None,
) -> Explanation:
    """Return why a fitted `LabelModel` gives its confidences; parameters are those of `explain`.

    `coding` is how the model reads tables.
    """
    check_explained(model.view_, repr(model))
    names = label_words(list(model.label_names_in_), label_names)
    features: FeatureNames = (
        feature_names if callable(feature_names) else feature_words(model, coding, feature_names)
    )
    read = coding.read(model, X)
    if label is None:
        predicted = model.predict(X)
        predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
        chosen = np.asarray(predicted) == model.classes_[0, 1]
    else:
        chosen = _cells_of(label, names, read.shape[0])
    words = Words(names, features, coding.categories, training_labels(model.view_))
    return _explained(model.view_, read, chosen, words, n_reasons=n_reasons)


def _explained(
    view: Any,
    X: Any,
    chosen: NDArray[np.bool_],
    words: Words,
    *,
    n_reasons: int,
) -> Explanation:
    """Return why a fitted view gives its confidences.

    Parameters
    ----------
    view : fitted view
        One that `labelcover.ensemble._shares.check_explained` accepts.
    X : ndarray or CSR matrix
        As the view reads it.
    chosen : ndarray of shape (n, n_labels)
        Which labels of which rows are explained.
    words : Words
    n_reasons : int
        How many reasons are told of each; the others are one, ``"rest"``.
    """
    n, m = chosen.shape
    reasons: list[Reason] = []
    scores: dict[tuple[int, str], float] = {}
    is_log_odds = False
    width = max(X.shape[1], m, _training_rows(words), 1)
    step = max(16, BLOCK_NUMBERS // width)
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        if not chosen[rows].any():
            continue
        table = ShareTable(view, rows_of(X, rows), m)
        is_log_odds = table.is_log_odds
        values = rows_of(X, rows)
        told: dict[tuple[int, int], list[Reason]] = {}
        for j in np.flatnonzero(chosen[rows].any(axis=0)).tolist():
            own = np.flatnonzero(chosen[rows, j])
            shares = table.of_label(j, own)
            totals = shares.total()
            for at, i in enumerate(own.tolist()):
                row = first + i
                scores[row, words.labels[j]] = float(totals[at])
                likeliest = None if table.likeliest is None else table.likeliest[i]
                named = _Names(words, _row(values, i), likeliest, table.parts, table.near_rows, i)
                told[i, j] = _strongest(shares, at, named, row, words.labels[j], n_reasons)
        reasons += [reason for key in sorted(told) for reason in told[key]]
    scale = "log-odds" if is_log_odds or not scores else "confidence"
    return Explanation(tuple(reasons), dict(sorted(scores.items())), scale)


@dataclass(frozen=True)
class _Names:
    """The words for the reasons of one row."""

    words: Words
    values: NDArray[np.float64]
    likeliest: NDArray[np.uint8] | None
    parts: ScoreParts | None
    neighbours: NDArray[np.int64]
    place: int

    def feature(self, f: int) -> str:
        return self.words.feature(f, float(self.values[f]))

    def training_row(self, i: int) -> str:
        assert self.parts is not None
        numbers = self.parts.row_numbers
        like = "like" if self.parts.inputs[self.place, i] >= 0 else "unlike"
        return f"{like} {self.words.training_row(i if numbers is None else int(numbers[i]))}"

    def label(self, j: int) -> str:
        return f"seen together with {self.words.labels[j]}"

    def labelsets(self) -> str:
        if self.likeliest is None:
            return "labelsets that occur in training"
        likely = self.words.tagged(np.flatnonzero(self.likeliest))
        return f"labelsets that occur in training, most likely {likely}"


def _strongest(
    shares: Shares, at: int, named: _Names, row: int, label: str, n: int
) -> list[Reason]:
    """Return the start, the `n` strongest reasons of one row, and the rest."""
    tables = [
        shares.features[at],
        shares.rows[at],
        shares.labels[at],
        shares.labelsets[at : at + 1],
        shares.neighbours[at],
    ]
    tables += [values[at : at + 1] for values in shares.views.values()]
    every = np.concatenate(tables)
    strongest = np.argsort(-np.abs(every), kind="stable")[:n]
    strongest = strongest[every[strongest] != 0]
    starts = np.cumsum([0, *map(len, tables)])
    reasons = [Reason(row, label, "start", "before anything of the row is known", shares.start[at])]
    for place in strongest.tolist():
        kind = int(np.searchsorted(starts, place, side="right")) - 1
        part, what = _told(kind, place - int(starts[kind]), named, list(shares.views))
        reasons.append(Reason(row, label, part, what, every[place]))
    kept = np.ones(len(every), dtype=bool)
    kept[strongest] = False
    if every[kept].any():
        reasons.append(Reason(row, label, "rest", "all weaker reasons together", every[kept].sum()))
    return [reason._replace(contribution=float(reason.contribution)) for reason in reasons]


def _told(kind: int, place: int, named: _Names, views: list[str]) -> tuple[str, str]:
    """Return the part and the words of a reason, by the table that it is in."""
    if kind == 0:
        return "feature", named.feature(place)
    if kind == 1:
        return "training row", named.training_row(place)
    if kind == 2:
        return "label", named.label(place)
    if kind == 3:
        return "labelsets", named.labelsets()
    if kind == 4:
        return "training row", f"near {named.words.training_row(int(named.neighbours[place]))}"
    return "view", views[kind - 5]


def _row(X: Any, i: int) -> NDArray[np.float64]:
    return X[[i]].toarray()[0] if sparse.issparse(X) else X[i]


def _training_rows(words: Words) -> int:
    return 0 if words.training_labels is None else len(words.training_labels[1]) - 1


def feature_words(owner: Any, coding: FeatureCoding, names: Sequence[str] | None) -> list[str]:
    """Return the names of the features: those given, those of the training frame, or numbers."""
    n = len(coding.categories)
    if names is None:
        names = getattr(owner, "feature_names_in_", None)
    if names is None:
        return [f"feature {f}" for f in range(n)]
    if len(names) != n:
        raise ValueError(f"feature_names must name the {n} features, got {len(names)} names.")
    return [str(name) for name in names]


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


def _cells_of(label: Any, names: Sequence[str], n: int) -> NDArray[np.bool_]:
    """Return the cells of some labels, by name or number, in all of `n` rows."""
    chosen = np.zeros((n, len(names)), dtype=bool)
    for one in _each(label):
        found = [j for j, name in enumerate(names) if name == one]
        if not found and isinstance(one, int | np.integer) and not isinstance(one, bool):
            found = [int(one)] if 0 <= one < len(names) else []
        if not found:
            raise ValueError(
                f"label must be a name of {', '.join(map(str, names[:5]))}"
                f"{', …' if len(names) > 5 else ''}, a number from 0 to {len(names) - 1}, or a "
                f"list of these, got {one!r}."
            )
        chosen[:, found] = True
    return chosen


def _each(label: Any) -> Iterator[Any]:
    if isinstance(label, str | bytes) or not hasattr(label, "__iter__"):
        yield label
    else:
        yield from label
