"""Find the cells of a label table that contradict everything else.

Every cell of Y is predicted twice. First from the row's features, by members fitted without
the row (leave-one-out and out-of-bag predictions, so nothing is fitted twice). Then from that and
from the row's other labels (`labelcover.ensemble.given_others`). A cell is the more suspicious the
less likely its value is: with calibrated probabilities, and errors that are as likely in one cell
as in another, this is the order of how likely cells are wrong. How many are wrong is another
question (`labelcover.audit._error_numbers`): of a coin flip, either value is unlikely.

References
----------
C. Northcutt, L. Jiang and I. Chuang (2021). Confident learning: estimating uncertainty in dataset
labels. Journal of Artificial Intelligence Research 70, 1373–1411.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import cross_val_predict

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._files import replacing
from labelcover._imports import naming_extra
from labelcover._label_values import as_booleans, drawn_by_frequency, split_unknown
from labelcover._safe_text import write_rows
from labelcover.audit._error_numbers import LabelErrors, WrongLabels, expected_labels, label_errors
from labelcover.ensemble import (
    LabelCoverClassifier,
    Pool,
    given_others,
    label_words,
    linking_cover,
    named_labels,
)
from labelcover.learners import LabelForest

if TYPE_CHECKING:
    import pandas as pd

# An estimator that gives no predictions for rows left out is cross-validated in so many folds.
FOLDS = 5
# Least number of draws in a leaf: a wrong label in a leaf of two rows is half of what it says.
LEAST_LEAF = 5
KINDS = ("wrong", "missing")
# Up to so many labels, all are linked with each other; of more, those that depend on each other,
# by labelsets of so many labels.
ALL_PAIRS, LINKED = 50, 5
# So many suspects are in the display of a notebook.
MOST_DISPLAYED = 10


def suspicious_labels(
    X: Any, Y: Any, estimator: Any = None, *, label_names: Sequence[str] | None = None
) -> Suspects:
    """Return which cells of a label table look wrong, by everything else that is known.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, d)
    Y : array-like, sparse matrix or data frame of shape (n, n_labels), or tags
        Zeros and ones; or the tags of each row, as `LabelCoverClassifier.fit` takes them. Labels
        that are not known (NaN, None) are not suspected, and say nothing of others.
    estimator : estimator, optional
        What predicts labels from features: by default a `LabelCoverClassifier` of single labels,
        as the second step looks at the other labels. If it has ``left_out_proba``, as
        `LabelCoverClassifier` has, nothing is fitted twice; any other multi-label classifier of
        scikit-learn's kind is cross-validated in five folds.
    label_names : sequence of str, optional
        By default the column names of Y, the tags, or ``"label0"``, ….

    Returns
    -------
    Suspects

    Raises
    ------
    ValueError
        If Y holds anything but zeros and ones or tags, if names are too few, too many or not
        different, or if `estimator` cannot give probabilities of left-out rows, or needs all labels
        known.

    Examples
    --------
    >>> from labelcover.audit import suspicious_labels
    >>> from labelcover.datasets import load
    >>> data = load("debtags")
    >>> Y = data.Y[:400].copy()
    >>> Y[160, 20] = 1 - Y[160, 20]
    >>> suspects = suspicious_labels(data.X[:400], Y, label_names=data.label_names)
    >>> (160, data.label_names[20]) in [suspect[:2] for suspect in suspects.ranked(most=9)]
    True
    """
    given, tags = named_labels(Y)
    table, known = split_unknown(given)
    table = as_booleans(table).view(np.uint8)
    columns = getattr(Y, "columns", [f"label{j}" for j in range(table.shape[1])])
    names = label_words(list(columns if tags is None else tags), label_names)
    if estimator is None:
        estimator = single_labels()
    if known is not None and not hasattr(estimator, "left_out_proba"):
        raise ValueError(
            f"estimator must have left_out_proba where labels are not known, got {estimator!r}."
        )
    features = np.asarray(_unseen(estimator, X, given, table), dtype=np.float64)
    found, links = _contradictions(table, features, known)
    return Suspects(found, features, table, names, links, known)


def suspicion(Y: NDArray[np.uint8], P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each cell has the other value.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models fitted without the row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.audit import suspicion
    >>> random = np.random.default_rng(0)
    >>> one = random.random(500) < 0.5
    >>> Y = np.column_stack([one, one]).astype(np.uint8)
    >>> Y[0] = 0, 1
    >>> found = suspicion(Y, np.full((500, 2), 0.5))
    >>> bool(found[0].min() > 0.8 > 0.2 > found[1:].max())
    True
    """
    return _contradictions(Y, P)[0]


def _contradictions(
    Y: NDArray[np.uint8], P: NDArray[np.float64], known: NDArray[np.bool_] | None = None
) -> tuple[NDArray, Any]:
    """Return how likely each cell has the other value, and the links that say so."""
    drawn = drawn_by_frequency(Y, known)
    cover = None if Y.shape[1] <= ALL_PAIRS else linking_cover(drawn, LINKED)
    odds, links = given_others(Y, expected_labels(P), cover, known)
    found = expit(np.where(Y == 1, -odds, odds))
    return found if known is None else np.where(known, found, 0.0), links


def single_labels() -> LabelCoverClassifier:
    """Return what predicts labels from features by default."""
    pool = Pool(forest=LabelForest(min_leaf=LEAST_LEAF))
    return LabelCoverClassifier(pool, k=1, r=1, random_state=0)


def _unseen(estimator: Any, X: Any, Y: Any, table: NDArray[np.uint8]) -> Any:
    """Return the probabilities of all labels by models fitted without the row."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "left_out_proba") or hasattr(estimator, "predict_proba")
    ):
        raise ValueError(
            "estimator must be a classifier that has left_out_proba or predict_proba, such as "
            f"LabelCoverClassifier(), got {estimator!r}."
        )
    if hasattr(estimator, "left_out_proba"):
        return estimator.left_out_proba(X, Y)
    if len(table) < FOLDS:
        raise ValueError(
            f"estimator {estimator!r} is cross-validated in {FOLDS} folds, expected as many rows, "
            f"got {len(table)}."
        )
    found = cross_val_predict(estimator, X, Y, cv=FOLDS, method="predict_proba")
    if not isinstance(found, list):
        return found
    # A table for each label, with one column if the label is the same in all rows.
    return np.column_stack(
        [P[:, 1] if P.shape[1] == 2 else table[:, j] for j, P in enumerate(found)]
    )


class Suspect(NamedTuple):
    """A cell of Y that looks wrong.

    Attributes
    ----------
    row : int
    label : str
    kind : {"wrong", "missing"}
        Whether the label is there and should not be, or the other way round.
    suspicion : float
        How unlikely the value of the cell is, by everything else. This orders cells; how many of
        them are wrong is `Suspects.n_wrong`.
    features : float
        The probability of the label by the features of the row alone.
    """

    row: int
    label: str
    kind: str
    suspicion: float
    features: float


class LabelNumbers(NamedTuple):
    """How many cells of one label look wrong.

    Attributes
    ----------
    label : str
    rows : int
        How many rows have the label.
    wrong, missing : float
        How many of these look wrong, and how many of the others look as if it were missing.
    low, high : float
        A 95 % interval for the sum of both, as far as chance in the counts goes.
    judged : bool
        Whether errors can be told from chance.
    """

    label: str
    rows: int
    wrong: float
    missing: float
    low: float
    high: float
    judged: bool


@dataclass(frozen=True, repr=False)
class Suspects:
    """All cells of a label table, by how suspicious they are.

    Attributes
    ----------
    suspicion : ndarray of shape (n, n_labels)
        How unlikely the value of each cell is; 0 where it is not known.
    features : ndarray of shape (n, n_labels)
        The probability of each label by the features alone.
    Y : ndarray of shape (n, n_labels)
        The labels as given; 0 where they are not known.
    label_names : list of str
    links : CSR array of shape (n_labels, n_labels), optional
        What the other labels of a row add to the log-odds of each, times how far they are from
        what their features say.
    known : ndarray of bool of shape (n, n_labels), optional
        Which cells of Y are known; by default all are.
    """

    suspicion: NDArray[np.float64]
    features: NDArray[np.float64]
    Y: NDArray[np.uint8]
    label_names: list[str]
    links: Any = None
    known: NDArray[np.bool_] | None = None

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as estimators take them: Y, with NaN where it is not known."""
        return self.Y if self.known is None else np.where(self.known, self.Y, np.nan)

    @cached_property
    def errors(self) -> LabelErrors:
        """How many cells look wrong, by label and kind."""
        return label_errors(self.Y, self.suspicion, self.known)

    @property
    def n_wrong(self) -> WrongLabels:
        """How many cells look wrong: ``estimate``, ``low`` and ``high``."""
        return self.errors.total

    def by_label(self) -> list[LabelNumbers]:
        """Return how many cells of each label look wrong, the most first."""
        found, rows = self.errors, self.Y.sum(axis=0)
        judged = found.judged.any(axis=0)
        every: Any = (rows, found.wrong, found.missing, found.low, found.high, judged)
        columns = [each.tolist() for each in every]
        lines = [LabelNumbers(*own) for own in zip(self.label_names, *columns, strict=True)]
        return sorted(lines, key=lambda line: -(line.wrong + line.missing))

    def in_words(self) -> str:
        """Return how many cells look wrong as a sentence."""
        n_judged, m = int(self.errors.judged.any(axis=0).sum()), len(self.label_names)
        if not n_judged:
            return (
                "No label can be judged: the features and the other labels predict none of them "
                "so well that an error could be told from chance."
            )
        number = self.n_wrong
        about, low, high = round(number.estimate), int(number.low), int(np.ceil(number.high))
        cells = f"{self.Y.size:,} labels ({len(self.Y):,} rows × {m:,})"
        if self.known is not None:
            cells = f"{int(self.known.sum()):,} known labels (of {self.Y.size:,})"
        told = (
            f"About {about:,} ({low:,} to {high:,}) of {cells} look wrong or missing."
            if about
            else f"None of {cells} looks wrong or missing (0 to {high:,})."
        )
        if n_judged < m:
            told += (
                f" Judged are {n_judged:,} of the {m:,}: the others cannot be predicted so well "
                "that an error could be told from chance."
            )
        return told

    def ranked(
        self, kind: str | None = None, *, above: float | None = None, most: int | None = None
    ) -> list[Suspect]:
        """Return the suspicious cells, the most suspicious first.

        Parameters
        ----------
        kind : {"wrong", "missing"}, optional
            Only labels that are there and look wrong, or only those that look missing.
        above : float, optional
            All cells whose suspicion exceeds this. By default as many cells as look wrong
            (`n_wrong`), of the labels that can be judged.
        most : int, optional
            No more than so many.
        """
        if kind is not None:
            check_choice("kind", kind, KINDS)
        if most is not None:
            check_integer("most", most, low=0)
        if above is not None:
            check_real("above", above, low=0, high=1)
            rows, labels = np.nonzero(self.suspicion > above)
        else:
            judged = np.where(self.Y == 1, *self.errors.judged)
            rows, labels = np.nonzero(judged if self.known is None else judged & self.known)
        order = np.argsort(-self.suspicion[rows, labels], kind="stable")
        if above is None:
            order = order[: round(self.n_wrong.estimate)]
        if kind is not None:
            order = order[(self.Y[rows, labels] == 1)[order] == (kind == "wrong")]
        i, j = rows[order[:most]], labels[order[:most]]
        told = i.tolist(), [self.label_names[label] for label in j]
        kinds = [KINDS[0] if has else KINDS[1] for has in self.Y[i, j]]
        cells = *told, kinds, self.suspicion[i, j].tolist(), self.features[i, j].tolist()
        return [Suspect(*cell) for cell in zip(*cells, strict=True)]

    @naming_extra()
    def to_frame(self, kind: str | None = None, **which: Any) -> pd.DataFrame:
        """Return what `ranked` returns as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.ranked(kind, **which), columns=list(Suspect._fields))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        row_names: Sequence[str] | None = None,
        reasons: Mapping[tuple[int, str], Any] | None = None,
        raw: bool = False,
        **which: Any,
    ) -> int:
        """Write what `ranked` returns to a CSV file; return the number.

        Rows are numbered from 1, as in files of predictions. With `row_names`, one for each row of
        Y, there is a column ``name`` after ``row``; with `reasons`, as `explain_suspects` returns
        them, a column ``reason`` at the end. Cells that a spreadsheet would run (``=1+1``) get an
        apostrophe, unless they are to be `raw`.
        """
        if row_names is not None and len(row_names) != len(self.Y):
            raise ValueError(
                f"row_names must name the {len(self.Y)} rows, got {len(row_names)} names."
            )
        found = self.ranked(**which)
        columns: dict[str, list[Any]] = {"row": [each.row + 1 for each in found]}
        if row_names is not None:
            columns["name"] = [row_names[each.row] for each in found]
        columns |= {"label": [each.label for each in found], "kind": [each.kind for each in found]}
        for name in ("suspicion", "features"):
            columns[name] = [f"{getattr(each, name):.4f}" for each in found]
        if reasons is not None:
            columns["reason"] = [str(reasons.get(each[:2], "")) for each in found]
        with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
            write_rows(file, [columns, *zip(*columns.values(), strict=True)], raw=raw)
        return len(found)

    def __repr__(self) -> str:
        n, m = self.Y.shape
        about, low, high = self.n_wrong
        return (
            f"Suspects({n} rows, {m} labels: about {about:.0f} wrong or missing, "
            f"{int(low)} to {np.ceil(high):.0f})"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the number in words, and the first of the list."""
        found = self.ranked()
        shown = found[:MOST_DISPLAYED]
        lines = [
            f"<tr><td>{cell.row}</td><td>{html.escape(cell.label)}</td><td>{cell.kind}</td>"
            f"<td>{cell.suspicion:.3f}</td><td>{cell.features:.3f}</td></tr>"
            for cell in shown
        ]
        heads = "".join(f"<th>{name}</th>" for name in Suspect._fields)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        more = f"<p>… and {len(found) - len(shown):,} more</p>" if len(found) > len(shown) else ""
        return f"<p>{html.escape(self.in_words())}</p>{table if shown else ''}{more}"
