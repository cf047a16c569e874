"""Find the cells of a label table that contradict everything else.

Every cell of Y is predicted twice. First from the row's features, by members that have not seen
the row (leave-one-out and out-of-bag predictions, so nothing is fitted twice). Then from that and
from the row's other labels (`labelcover.audit.other_labels`). A cell is the more suspicious the
less likely its value is: with calibrated probabilities, and errors that are as likely in one cell
as in another, this is the order of how likely cells are wrong. How many are wrong is another
question (`labelcover.audit.error_numbers`): of a coin flip, either value is unlikely.

References
----------
C. Northcutt, L. Jiang and I. Chuang (2021). Confident learning: estimating uncertainty in dataset
labels. Journal of Artificial Intelligence Research 70, 1373–1411.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_predict

from labelcover._label_values import as_booleans, as_table
from labelcover.audit.other_labels import with_other_labels
from labelcover.audit.suspects import Suspects
from labelcover.ensemble import Pool
from labelcover.ensemble.explanation import label_words
from labelcover.ensemble.label_cover import LabelCoverClassifier
from labelcover.ensemble.label_tables import named_labels
from labelcover.learners.forest.label_forest import LabelForest

# An estimator that gives no predictions for rows left out is cross-validated in so many folds.
FOLDS = 5
# Least number of draws in a leaf: a wrong label in a leaf of two rows is half of what it says.
LEAST_LEAF = 5


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
        estimator = single_labels()
    features = np.asarray(_unseen(estimator, X, given, table), dtype=np.float64)
    suspicion, others = with_other_labels(table, features)
    return Suspects(suspicion, features, table, names, others)


def single_labels() -> LabelCoverClassifier:
    """Return what predicts labels from features by default."""
    pool = Pool(forest=LabelForest(min_leaf=LEAST_LEAF))
    return LabelCoverClassifier(pool, k=1, r=1, random_state=0)


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
