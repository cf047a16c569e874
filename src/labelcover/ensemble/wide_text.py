"""Wide text: where least squares reads the scores of logistic regressions instead of the words.

With more than 4,000 rows and columns, least squares on the words is an approximation with few
landmarks, while logistic regression needs none. Its scores for rows not seen (out-of-fold) are a
table with a column per label, on which the members of a cover are quick: they are a second stage
(stacking), which learns how labels depend on each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from labelcover.ensemble.chunked_training import filled_cells
from labelcover.ensemble.view import TrainingRows
from labelcover.learners import LeastSquaresClassifier
from labelcover.learners.chunked_table import ChunkedTable

# A table is wide with more rows and more columns than this: least squares is approximated there.
NARROW = 4_000
# It is text where no greater share of its cells is not 0.
TEXT_SHARE = 0.1
# Scores have a column per label, and these depend on each other: fewer landmarks do than for words.
SCORE_LANDMARKS = 300


def is_wide_text(X: Any) -> bool:
    """Tell whether a table has many rows and many columns, nearly all of its cells 0."""
    n, d = X.shape
    if min(n, d) <= NARROW:
        return False
    if isinstance(X, ChunkedTable):
        cells = filled_cells(X)
    else:
        cells = int(X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X))
    return bool(cells <= TEXT_SHARE * n * d)


def on_scores(training: TrainingRows, P: NDArray[np.float64]) -> TrainingRows:
    """Return the training rows with log-odds, of probabilities inside (0, 1), as their table."""
    n_values = np.zeros(P.shape[1], dtype=np.int32)
    return replace(training, X=logit(P), n_values=n_values)


def reading_scores(learner: LeastSquaresClassifier) -> LeastSquaresClassifier:
    """Return least squares as it reads scores.

    They are on one scale already. Divided by its deviation, the score of a rare label, which
    hardly varies, would count as much as any other.
    """
    landmarks = min(learner.n_landmarks, SCORE_LANDMARKS)
    return clone(learner).set_params(scale="none", n_landmarks=landmarks)
