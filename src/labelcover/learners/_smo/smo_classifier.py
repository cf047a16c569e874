"""Linear support vector machines, one against one, as WEKA's SMO: columns, pairs and votes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labelcover._arguments import check_real
from labelcover._table_numbers import ROUNDING
from labelcover.learners._batch_classifier import WekaClassifier
from labelcover.learners._features import PLAIN, csr_arrays, one_hot, one_hot_columns
from labelcover.learners._problems import Members, Problems
from labelcover.learners._smo.solver_kernels import (
    coupled_distributions,
    dense_gram,
    fit_binary_svms,
)

# The greatest number of a column.
MOST = 1e100
# Up to so many rows, the products of all pairs of rows are computed once (512 MB).
MOST_GRAM_ROWS = 8192
# The ridge of 1e-8 that WEKA puts on the logistic fit.
LOGISTIC_C = 0.5e8


@dataclass(eq=False, repr=False)
class SMOClassifier(WekaClassifier):
    """Linear support vector machine of every pair of classes, with the answers of WEKA's SMO.

    Missing values are imputed, nominal features become 0/1 columns and everything is scaled to
    [0, 1]; then a binary SVM is trained for every pair of classes. The class distribution is each
    class's share of the votes of all pairs, which is not a probability (of c classes the winner
    has 2/c), or, with ``logistic=True``, couples probabilities fitted to the outputs.

    Parameters
    ----------
    C : float, default=1.0
        How much a training row outside the margin costs.
    tol : float, default=1e-3
        How closely the optimum is approached.
    logistic : bool, default=False
        Fit a logistic function to the outputs of each pair on its training rows and couple the
        pairs' probabilities (WEKA's option -M).
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features: the columns of categorical dtype, none, or a mask, indices or names.
    classes : array-like, optional
        All classes, in order, if some may be absent from training: such a class loses every vote
        but takes part in the count. By default those of `y`, sorted.

    Attributes
    ----------
    classes_ : ndarray
        The classes in the order of the columns of `predict_proba`.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    members_ : PairStack
        The binary SVMs, as the members of an ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import SMOClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SMOClassifier().fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.67, 0.33, 0.  ]])
    """

    C: float = 1.0
    tol: float = 1e-3
    logistic: bool = False
    categorical_features: Any = "from_dtype"
    classes: Any = None

    @property
    def gives_probabilities(self) -> bool:
        """Whether class distributions are probabilities: shares of votes are not."""
        return bool(self.logistic)

    def fit_problems(
        self,
        X: Any,
        problems: Problems,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> "PairStack":
        """Return the binary SVMs of all problems, trained on one matrix of products."""
        features = LinearFilter.of(X, problems.n_values, problems.weights)
        table = training_table(features.columns(X))
        how = {"text": "training SVMs", "verbose": verbose}
        svms = self._fitted(fit_pairs, table, problems, n_jobs, **how)
        return PairStack(features, svms, problems.offsets, couples=bool(self.logistic))

    def _options(self) -> dict[str, Any]:
        return {
            "C": check_real("C", self.C, above=0.0),
            "tol": check_real("tol", self.tol, above=0.0),
            "logistic": bool(self.logistic),
        }


@dataclass(frozen=True)
class LinearFilter:
    """WEKA's filters before SMO, fitted on training rows.

    A missing value becomes the mean (numeric) or the most frequent value (nominal); a nominal
    feature of more than two values becomes one 0/1 column per value; every column is then scaled
    to [0, 1] on the training rows. A column that is constant there but for rounding
    becomes 0; values outside the range seen in training are not clipped.

    Attributes
    ----------
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    fill : ndarray of shape (features,)
        What a missing value becomes.
    source, value : ndarray of shape (columns,)
        Which feature a column is made of, and the value that it marks (-1: the feature itself).
    low, width : ndarray of shape (columns,)
        Columns are ``(x - low) / width``; the width of a constant column is infinite.
    keeps_sparse : bool
        Whether sparse tables need not be made dense.
    """

    n_values: NDArray[np.int32]
    fill: NDArray[np.float64]
    source: NDArray[np.int64]
    value: NDArray[np.int64]
    low: NDArray[np.float64]
    width: NDArray[np.float64]
    keeps_sparse: bool

    @classmethod
    def of(
        cls, X: Any, n_values: NDArray[np.int32], weights: NDArray[np.float64] | None
    ) -> "LinearFilter":
        """Return the filter of the training table `X`, whose rows have these weights."""
        w = np.ones(X.shape[0]) if weights is None else weights
        if sparse.issparse(X):
            fill, low, high = _sparse_statistics(X, n_values > 0, w)
            source, value = np.arange(X.shape[1]), np.full(X.shape[1], PLAIN)
        else:
            fill = _fill(X, n_values, w)
            source, value = one_hot_columns(n_values)
            columns = one_hot(_filled(X, n_values, fill), source, value)
            low, high = columns.min(axis=0), columns.max(axis=0)
        varies = high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high))
        width = np.where(varies, high - low, np.inf)
        keeps_sparse = sparse.issparse(X) and bool((low == 0).all())
        return cls(n_values, fill, source, value, low, width, keeps_sparse)

    def columns(self, X: Any) -> Any:
        """Return the columns of `X`, a dense array or a CSR array."""
        if sparse.issparse(X) and self.keeps_sparse:
            X = sparse.csr_array(X, dtype=np.float64, copy=True)
            missing = np.isnan(X.data)
            X.data[missing] = self.fill[X.indices[missing]]
            X.data = _divided(X.data, self.width[X.indices])
            return X
        numbers = _filled(X.toarray() if sparse.issparse(X) else X, self.n_values, self.fill)
        return _divided(one_hot(numbers, self.source, self.value) - self.low, self.width)


def training_table(columns: Any) -> tuple[Any, tuple[NDArray[Any], ...]]:
    """Return training rows, dense or CSR, and the arrays in which the solver takes them."""
    n, d = columns.shape
    few = n <= MOST_GRAM_ROWS
    if sparse.issparse(columns):
        columns.sum_duplicates()
        gram = (columns @ columns.T).toarray() if few else np.zeros((0, 0))
        return columns, (*csr_arrays(columns), gram)
    columns = np.ascontiguousarray(columns)
    gram = np.empty((n, n) if few else (0, 0))
    if few:
        dense_gram(columns, columns.T.copy(), gram)
    return columns, (columns.ravel(), np.empty(0, np.int32), np.arange(n + 1) * d, gram)


def fit_pairs(
    table: tuple[Any, tuple[NDArray[Any], ...]],
    label: NDArray[np.int32],
    n_classes: int,
    *,
    C: float,
    tol: float,
    logistic: bool,
    weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Return the linear SVMs of all pairs of classes, of which at least one occurs in `label`.

    Where only one class of a pair occurs, the SVM always speaks for it. What is returned are
    arrays with an entry per pair, as `PairStack` has them.
    """
    columns, arrays = table
    first, second = np.triu_indices(n_classes, 1)
    w = np.ones(len(label)) if weights is None else weights
    count = np.bincount(label, minlength=n_classes)
    by_class, starts = np.argsort(label, kind="stable"), np.cumsum([0, *count])
    pairs = columns.shape[1], by_class, starts, first, second
    pair_weights, threshold = fit_binary_svms(arrays, *pairs, C * w, tol)
    class_weight = np.bincount(label, w, n_classes).astype(np.float64)
    seen = (count[first] > 0) | (count[second] > 0)
    first, second = first[seen].astype(np.int32), second[seen].astype(np.int32)
    pair_weights, bias = pair_weights[seen], -threshold[seen]
    fitted = np.column_stack([bias, 50.0 * bias])  # pairs with one class: as sure as one can be
    trained = (count[first] > 0) & (count[second] > 0)
    for p in np.flatnonzero(trained) if logistic else ():
        rows = np.flatnonzero((label == first[p]) | (label == second[p]))
        outputs = columns[rows] @ pair_weights[p] + bias[p]
        model = LogisticRegression(C=LOGISTIC_C, solver="newton-cholesky", max_iter=200)
        model.fit(outputs[:, None], label[rows] == second[p], w[rows])
        fitted[p] = model.coef_[0, 0], model.intercept_[0]
    size = class_weight[first] + class_weight[second]
    return first, second, pair_weights, bias, fitted, size


class PairStack(Members):
    """The linear SVMs of many problems side by side: one product answers them all.

    They are given as `fit_pairs` returns those of each. Votes are counted, unless it `couples` the
    fitted probabilities.

    Attributes
    ----------
    first, second : ndarray of shape (pairs,), int32
        The classes of each pair; an output above 0 speaks for the second.
    weights : ndarray of shape (pairs, columns)
    bias : ndarray of shape (pairs,)
    logistic : ndarray of shape (pairs, 2) or None
        Slope and intercept of the probability of the second class, given the output.
    size : ndarray of shape (pairs,)
        Training weight of the two classes together.
    """

    def __init__(
        self,
        features: LinearFilter,
        problems: Sequence[tuple[NDArray[Any], ...]],
        offsets: NDArray[np.int64],
        *,
        couples: bool,
    ) -> None:
        self.features, self.offsets = features, offsets
        found = (np.concatenate(each) for each in zip(*problems, strict=True))
        self.first, self.second, self.weights, self.bias, logistic, self.size = found
        self.logistic = logistic if couples else None
        self.starts = np.cumsum([0, *(len(first) for first, *_ in problems)])
        self.row_width = self.weights.shape[1]

    def prepare(self, X: Any) -> Any:
        """Return the columns that the SVMs take."""
        return self.features.columns(X)

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side, a row per row."""
        starts = self.starts[problems.start : problems.stop + 1]
        offsets = self.offsets[problems.start : problems.stop + 1]
        pairs = slice(starts[0], starts[-1])
        outputs = np.ascontiguousarray(prepared @ self.weights[pairs].T)
        outputs += self.bias[pairs]
        first, second = self.first[pairs], self.second[pairs]
        starts, offsets = starts - starts[0], offsets - offsets[0]
        if self.logistic is None:
            return vote_distributions(outputs > 0, first, second, starts, offsets)
        logistic, size = self.logistic[pairs], self.size[pairs]
        return coupled_distributions(outputs, first, second, logistic, size, starts, offsets)


def vote_distributions(
    is_second: NDArray[np.bool_],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    starts: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return, for every row and problem, each class's share of the votes of its pairs.

    ``is_second`` of shape (n, pairs) says whether the vote of a pair is for its second class;
    other parameters are those of `coupled_distributions`.
    """
    n, n_pairs, n_classes = len(is_second), np.diff(starts), np.diff(offsets)
    before = np.repeat(offsets[:-1], n_pairs)
    winner = np.where(is_second, before + second, before + first)
    cells = np.arange(n)[:, None] * offsets[-1] + winner
    votes = np.bincount(cells.ravel(), minlength=n * offsets[-1]).reshape(n, offsets[-1])
    shares = votes * np.repeat(1.0 / np.maximum(n_pairs, 1), n_classes)
    # Without pairs all classes are as likely.
    return shares + np.repeat((n_pairs == 0) / n_classes, n_classes)


def _divided(values: NDArray[np.float64], width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values over widths, of new rows that are far out no more than products can hold."""
    with np.errstate(over="ignore"):
        return np.clip(values / width, -MOST, MOST)


def _fill(
    numbers: NDArray[np.float64], n_values: NDArray[np.int32], w: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of numeric features and the most frequent value of nominal ones."""
    known = ~np.isnan(numbers)
    total = w @ known
    # Row after row, as WEKA does; a matrix product would round differently.
    sums = np.cumsum(np.where(known, w[:, None] * numbers, 0.0), axis=0)[-1]
    fill = sums / np.where(total > 0, total, 1.0)
    for f in np.flatnonzero(n_values):
        seen = known[:, f]
        counts = np.bincount(numbers[seen, f].astype(np.int64), w[seen], n_values[f])
        fill[f] = np.argmax(counts)
    return fill


def _sparse_statistics(
    X: Any, nominal: NDArray[np.bool_], w: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return fill values, minima and maxima of the columns; a zero may be implicit."""
    n, d = X.shape
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    missing = np.isnan(X.data)
    row_of = np.repeat(np.arange(n), np.diff(X.indptr))
    known = w.sum() - np.bincount(X.indices[missing], w[row_of[missing]], d)
    sums = np.bincount(X.indices, np.where(missing, 0.0, X.data) * w[row_of], d)
    fill = sums / np.where(known > 0, known, 1.0)
    fill[nominal] = fill[nominal] > 0.5  # the more frequent of 0 and 1
    X.data[missing] = fill[X.indices[missing]]
    low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return fill, low, high


def _filled(
    numbers: NDArray[np.float64], n_values: NDArray[np.int32], fill: NDArray[np.float64]
) -> NDArray[np.float64]:
    # A value never seen counts as missing where one column stands for both values; where each
    # value has a column, it marks none.
    absent = np.isnan(numbers)
    binary = (n_values > 0) & (n_values <= 2)
    absent |= binary & (numbers < 0)
    return np.where(absent, fill, numbers)
