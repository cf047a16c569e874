"""Which labels of a table look wrong: cells that contradict what everything else says.

Every cell of Y is predicted twice. First from the row's features, by members that have not seen
the row (leave-one-out and out-of-bag predictions, so nothing is fitted twice). Then from that and
from the row's other labels: with the probabilities ``p`` of the features alone, the log-odds of
label ``j`` become::

    logit q_j = logit p_j + b_j + Σ_k θ_jk (y_k − p_k)

over the other labels ``k``. A label that the features do not speak for, but the other labels do,
is then expected, and one that never comes with them is not. The ``θ`` are fitted for each label on
all rows, and each row is left out of its own fit (approximate leave-one-out of a logistic
regression), which also chooses the penalty, or that the other labels do not count. A cell is the
more suspicious the less likely its value is: with calibrated probabilities, and errors that are as
likely in one cell as in another, this is the order of how likely cells are wrong.

References
----------
C. Northcutt, L. Jiang and I. Chuang (2021). Confident learning: estimating uncertainty in dataset
labels. Journal of Artificial Intelligence Research 70, 1373–1411.

K. R. Rad and A. Maleki (2020). A scalable estimate of the out-of-sample prediction error via
approximate leave-one-out cross-validation. Journal of the Royal Statistical Society B 82(4),
965–996.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.model_selection import cross_val_predict

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._files import replacing
from labelcover._label_values import as_booleans, as_table
from labelcover.ensemble.explanation import label_words
from labelcover.ensemble.label_cover import LabelCoverClassifier
from labelcover.ensemble.label_tables import named_labels
from labelcover.ensemble.pooled_view import Pool
from labelcover.learners.forest.label_forest import LabelForest

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("wrong", "missing")
# An estimator that gives no predictions for rows left out is cross-validated in so many folds.
FOLDS = 5
# Least number of draws in a leaf: a wrong label in a leaf of two rows is half of what it says.
LEAST_LEAF = 5
# Probabilities of the features alone are never surer than this.
LEAST_PROBABILITY = 1e-4
# The other labels that a label is predicted from: those whose residuals go with its own the most.
MOST_OTHERS = 40
# Penalties on θ that are compared by leave-one-out, from strong to weak; 4 is a prior deviation
# of a half.
PENALTIES = (64.0, 16.0, 4.0)
MOST_STEPS = 12
# Newton's method ends where no log-odds moves by more; what is left is about the square of it.
TOLERANCE = 1e-2


class Suspect(NamedTuple):
    """A cell of Y that looks wrong.

    Attributes
    ----------
    row : int
    label : str
    kind : {"wrong", "missing"}
        Whether the label is there and should not be, or the other way round.
    suspicion : float
        How likely the cell has the other value, by everything else.
    features : float
        The probability of the label by the features of the row alone.
    """

    row: int
    label: str
    kind: str
    suspicion: float
    features: float


@dataclass(frozen=True)
class Suspects:
    """All cells of a label table, by how suspicious they are.

    Attributes
    ----------
    suspicion : ndarray of shape (n, n_labels)
        How likely each cell has the other value.
    features : ndarray of shape (n, n_labels)
        The probability of each label by the features alone.
    Y : ndarray of shape (n, n_labels)
        The labels as given.
    label_names : list of str
    """

    suspicion: NDArray[np.float64]
    features: NDArray[np.float64]
    Y: NDArray[np.uint8]
    label_names: list[str]

    def ranked(
        self, kind: str | None = None, *, above: float = 0.5, most: int | None = None
    ) -> list[Suspect]:
        """Return the suspicious cells, the most suspicious first.

        Parameters
        ----------
        kind : {"wrong", "missing"}, optional
            Only labels that are there and look wrong, or only those that look missing.
        above : float, default=0.5
            The suspicion that a cell has to exceed; 0.5 means: likelier wrong than right.
        most : int, optional
            No more than so many.
        """
        if kind is not None:
            check_choice("kind", kind, KINDS)
        if most is not None:
            check_integer("most", most, low=0)
        check_real("above", above, low=0, high=1)
        chosen = self.suspicion > above
        if kind is not None:
            chosen &= (kind == "wrong") == self.Y
        rows, labels = np.nonzero(chosen)
        order = np.argsort(-self.suspicion[rows, labels], kind="stable")[:most]
        return [self._cell(int(rows[at]), int(labels[at])) for at in order]

    def to_frame(self, kind: str | None = None, **which: Any) -> pd.DataFrame:
        """Return what `ranked` returns as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.ranked(kind, **which), columns=list(Suspect._fields))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        row_names: Sequence[str] | None = None,
        **which: Any,
    ) -> int:
        """Write what `ranked` returns to a CSV file, wrong labels first; return the number.

        With `row_names`, one for each row of Y, there is a column ``name`` after ``row``.
        """
        if row_names is not None and len(row_names) != len(self.Y):
            raise ValueError(
                f"row_names must name the {len(self.Y)} rows, got {len(row_names)} names."
            )
        found = [suspect for kind in KINDS for suspect in self.ranked(kind, **which)]
        with (
            replacing(path) as temporary,
            temporary.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file, lineterminator="\n")
            row, *others = Suspect._fields
            writer.writerow([row, *(["name"] if row_names is not None else []), *others])
            for suspect in found:
                name = [] if row_names is None else [row_names[suspect.row]]
                numbers = [f"{number:.4f}" for number in suspect[3:]]
                writer.writerow([suspect.row, *name, *suspect[1:3], *numbers])
        return len(found)

    def _cell(self, i: int, j: int) -> Suspect:
        kind = KINDS[0] if self.Y[i, j] else KINDS[1]
        suspicion, features = float(self.suspicion[i, j]), float(self.features[i, j])
        return Suspect(i, self.label_names[j], kind, suspicion, features)


def suspicious_labels(
    X: Any, Y: Any, estimator: Any = None, *, label_names: Sequence[str] | None = None
) -> Suspects:
    """Return which cells of a label table look wrong, by everything else that is known.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, d)
    Y : array-like, sparse matrix or data frame of shape (n, n_labels), or tags
        Zeros and ones; or the tags of each row, as `LabelCoverClassifier.fit` takes them.
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
        different, or if `estimator` cannot give probabilities of rows that it has not seen.

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
    table = as_booleans(as_table(given)).view(np.uint8)
    known = getattr(Y, "columns", [f"label{j}" for j in range(table.shape[1])])
    names = label_words(list(known if tags is None else tags), label_names)
    if estimator is None:
        pool = Pool(forest=LabelForest(min_leaf=LEAST_LEAF))
        estimator = LabelCoverClassifier(pool, k=1, r=1, random_state=0)
    features = np.asarray(_unseen(estimator, X, given, table), dtype=np.float64)
    return Suspects(suspicion(table, features), features, table, names)


def _unseen(estimator: Any, X: Any, Y: Any, table: NDArray[np.uint8]) -> Any:
    """Return the probabilities of all labels by models that have not seen the row."""
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


def suspicion(Y: NDArray[np.uint8], P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each cell has the other value.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models that have not seen the row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.audit import suspicion
    >>> random = np.random.default_rng(0)
    >>> one = random.random(500) < 0.5
    >>> Y = np.column_stack([one, one]).astype(np.uint8)
    >>> Y[0] = 0, 1
    >>> found = suspicion(Y, np.full((500, 2), 0.5))
    >>> bool(found[0].min() > 0.9 > 0.1 > found[1:].max())
    True
    """
    P = np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    residuals = Y - P
    # Correlations of residuals, by which the other labels are chosen.
    lengths = np.maximum(np.sqrt((residuals**2).sum(axis=0)), 1e-12)
    alike = np.abs(residuals.T @ residuals / np.outer(lengths, lengths))
    np.fill_diagonal(alike, -1)
    odds = logit(P)
    for j in range(Y.shape[1]):
        fit = _LabelFit(_others(residuals, alike[j]), odds[:, j].copy(), Y[:, j])
        # The features alone, unless the other labels improve on them; weaker penalties are tried
        # as long as they improve.
        least = _loss(Y[:, j], odds[:, j])
        for penalty in PENALTIES:
            found = fit.left_out_odds(penalty)
            loss = _loss(Y[:, j], found)
            if loss >= least:
                break
            least, odds[:, j] = loss, found
    return expit(np.where(Y == 1, -odds, odds))


def _loss(y: NDArray[np.uint8], odds: NDArray[np.float64]) -> float:
    return float(np.logaddexp(0, np.where(y == 1, -odds, odds)).sum())


class _LabelFit:
    """The logistic regression of one label on the residuals of others, with an offset."""

    def __init__(
        self, inputs: NDArray[np.float64], offset: NDArray[np.float64], y: NDArray[np.uint8]
    ) -> None:
        self.inputs, self.offset, self.y = inputs, offset, y
        self.theta = np.zeros(inputs.shape[1])

    def left_out_odds(self, penalty: float) -> NDArray[np.float64]:
        """Return the log-odds of all rows, each left out of the fit; start from the last fit."""
        inputs, y = self.inputs, self.y
        for _ in range(MOST_STEPS):
            odds = self.offset + inputs @ self.theta
            p = expit(odds)
            weights = p * (1 - p)
            scaled = inputs * np.sqrt(weights)[:, None]
            curve = scaled.T @ scaled + penalty * np.eye(len(self.theta))
            step = np.linalg.solve(curve, inputs.T @ (p - y) + penalty * self.theta)
            moved = inputs @ step
            self.theta -= step
            if np.abs(moved).max() < TOLERANCE:
                odds -= moved
                break
        inverse = np.linalg.inv(curve)
        leverage = np.einsum("ij,ij->i", inputs @ inverse, inputs)
        # Without the row, the fit would be further from it (Rad and Maleki, 2020).
        return odds - leverage / np.maximum(1 - weights * leverage, 1e-6) * (y - p)


def _others(residuals: NDArray[np.float64], alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the residuals of the labels that go with one label the most, and a constant."""
    n, m = residuals.shape
    chosen = np.sort(np.argsort(-alike, kind="stable")[: min(MOST_OTHERS, m - 1)])
    return np.column_stack([residuals[:, chosen], np.ones(n)])
