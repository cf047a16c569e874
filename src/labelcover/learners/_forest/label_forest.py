"""A forest of extremely randomised trees on all labels at once, with out-of-bag predictions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer, check_random_state, check_seed
from labelcover.learners._features import TableLearner
from labelcover.learners._forest.feature_forest import FeatureForest, ReadTable
from labelcover.learners._forest.grown_forest import GrownForest
from labelcover.learners._forest.mean_forest import MeanForest

AUTO = "auto"
KINDS: dict[str, type[GrownForest]] = {"features": FeatureForest, "means": MeanForest}
SPLITS = (AUTO, *KINDS)
# From this many labels on, the way to split is chosen, by this many trees of each kind on no more
# rows than these.
MANY_LABELS = 100
TRIAL_TREES, TRIAL_ROWS = 16, 4_000
# Where labels are unknown, so many trees say first by what these are drawn for the others.
FIRST_TREES = 20


class LabelLearner(TableLearner):
    """What learns all labels of a table at once: an `estimator` of `LabelCoverClassifier` only."""

    gives_left_out = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Say that weights of rows are taken: `LabelCoverClassifier` fits."""
        name = type(self).__name__
        raise TypeError(f"{name} is an estimator of LabelCoverClassifier, not fitted alone.")


@dataclass(eq=False, repr=False)
class LabelForest(LabelLearner):
    """A forest whose leaves hold the labels of their training rows.

    Every tree is grown on a bootstrap sample, or, where the table is sparse, has 1,000 rows or
    more, and these have no weights, on half of the rows. The confidence of a label is its mean
    share in the leaves that a row falls into. One tree serves all labels. What a training row gets
    from the trees that were grown without it (out-of-bag) needs no refit.

    Nodes split in one of two ways. With ``"features"`` the trees are extremely randomised: of √d
    random cuts of one feature each, the one that leaves the labels least varied is taken. With
    ``"means"``, for many labels, rows are grouped by a random sketch of their labels, and a row
    goes to the group whose mean is nearest to its features; the shares are then corrected by a
    regression on each other.

    As ``estimator`` of `LabelCoverClassifier` it is used alone, without labelsets.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        ``"auto"`` is 100 trees that split by features, 200 if the table is sparse, and 200 trees
        that split by means.
    min_leaf : int, default=2
        Least number of draws in a leaf; a row that was drawn twice counts twice. Means split no
        node of fewer than ten times as many.
    max_features : int, optional
        Number of features tried in a node, by default the square root of their number (in sparse
        tables of those that are not always 0). On sparse tables of 1,000 rows or more and 100 to
        4,000 features a tree sees a quarter of these. Means take all features.
    splits : {"auto", "features", "means"}, default="auto"
        ``"auto"`` is ``"features"`` below 100 labels. From there on it is the way with the smaller
        out-of-bag error in a trial of 16 trees each, on at most 4,000 rows.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features, as for `LeastSquaresClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of samples and cuts; the forest of an ensemble takes it from the ensemble unless given.

    References
    ----------
    Geurts, P., Ernst, D., & Wehenkel, L. (2006). Extremely randomized trees. Machine Learning,
    63(1), 3-42.

    Joly, A., Geurts, P., & Wehenkel, L. (2014). Random forests with random projections of the
    output space for high dimensional multi-label classification. ECML PKDD 2014, 607-622.

    Siblini, W., Kuntz, P., & Meyer, F. (2018). CRAFTML, an efficient clustering-based random
    forest for extreme multi-label learning. ICML 2018, 4664-4673.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.learners import LabelForest
    >>> X, Y = make_multilabel_classification(n_classes=200, n_labels=5, random_state=0)
    >>> model = LabelCoverClassifier(LabelForest(n_trees=20), random_state=0).fit(X, Y)
    >>> model.predict(X, decide=5).sum(axis=1).max()
    np.int64(5)
    """

    view = "forest"
    reads_chunks = True

    n_trees: Any = "auto"
    _: KW_ONLY
    min_leaf: Any = 2
    max_features: Any = None
    splits: Any = "auto"
    categorical_features: Any = "from_dtype"
    random_state: Any = None

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        if not isinstance(self.n_trees, str):
            check_integer("n_trees", self.n_trees, low=1)
        elif self.n_trees != AUTO:
            raise ValueError(f'n_trees must be an integer or "auto", got {self.n_trees!r}.')
        check_integer("min_leaf", self.min_leaf, low=1)
        if self.max_features is not None:
            check_integer("max_features", self.max_features, low=1)
        check_choice("splits", self.splits, SPLITS)
        check_seed(self.random_state)

    def fit_labels(
        self,
        given: ReadTable,
        Y: NDArray[np.uint8],
        *,
        weights: NDArray[np.float64] | None = None,
        cells: NDArray[np.float64] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        left_out: NDArray[np.int64] | None = None,
        n_feature_trees: int | None = None,
    ) -> tuple[GrownForest, NDArray[np.float64]]:
        """Return the forest of a table and its labels, and confidences of some training rows.

        Parameters
        ----------
        given : ReadTable
        Y : ndarray of shape (n, n_labels)
        weights : ndarray of shape (n,), optional
            How likely rows are to be drawn.
        cells : ndarray of shape (n, n_labels), optional
            0 where a label of a row is not known. Where others differ, rows are drawn by their
            mean.
        seed : int
            Used unless ``random_state`` is given.
        n_jobs : int, optional
            Number of trees grown in parallel; by default as many as numba has threads.
        left_out : ndarray, optional
            The training rows whose out-of-bag confidences are returned, by default none.
        n_feature_trees : int, optional
            What ``n_trees="auto"`` is where trees split by features.
        """
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        known = None
        if cells is not None:
            known = cells > 0
            mean = cells.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
            weights = mean if weights is None else weights * mean
        if weights is not None and np.ptp(weights) == 0:
            weights = None  # both draw the same rows
        splits = self._splits(given, Y, weights, seed, known)
        forest = KINDS[splits](given, Y, known)
        default = n_feature_trees if splits == "features" else None
        n_trees = (default or forest.default_trees) if self.n_trees == AUTO else int(self.n_trees)
        how = {"n_jobs": n_jobs, **self._how(forest, weights)}
        seeds = np.random.SeedSequence(seed)
        if known is not None:
            forest.grow(seeds.spawn(FIRST_TREES), **how)
            forest.draw_unknown(n_jobs)
        forest.grow(seeds.spawn(n_trees), **how, text="growing trees", verbose=verbose)
        asked = np.empty(0, np.int64) if left_out is None else left_out
        return forest, forest.left_out(asked, weights, n_jobs)

    def _how(self, forest: GrownForest, weights: Any) -> dict[str, Any]:
        """Return what `GrownForest.grow` is to be given."""
        wanted = int(self.max_features or max(1, int(np.sqrt(forest.n_present))))
        wanted = min(wanted, forest.n_features)
        return {"weights": weights, "wanted": wanted, "min_leaf": int(self.min_leaf)}

    def _splits(self, given, Y, weights, seed, known) -> str:
        """Return the way to split: as asked for, by features for few labels, or the better."""
        if self.splits != AUTO:
            return self.splits
        if Y.shape[1] < MANY_LABELS:
            return "features"
        rows = np.random.default_rng(seed).permutation(len(Y))[:TRIAL_ROWS]
        rows = np.sort(rows if weights is None else rows[weights[rows] > 0])
        own = None if weights is None else weights[rows]
        seeds = np.random.SeedSequence(seed).spawn(TRIAL_TREES)
        trial = ReadTable(given.X[rows], given.n_values)

        def error(splits: str) -> float:
            of_rows = None if known is None else known[rows]
            forest = KINDS[splits](trial, Y[rows], of_rows)
            how = self._how(forest, own)
            return _error_of_many(forest, seeds, how, Y[rows], of_rows)

        return min(KINDS, key=error)


def _error_of_many(forest, seeds, how, Y, known=None) -> float:
    """Return the squared out-of-bag error that a forest of very many such trees would have.

    The errors of two halves of the trees are independent, so the mean of their products has no
    variance of single trees in it.
    """
    halves = []
    for some in (seeds[::2], seeds[1::2]):
        forest.grow(some, **how, n_jobs=1)
        halves.append(forest.out_of_bag(np.arange(len(Y)), 1))
    (first, in_first), (second, in_second) = halves
    both = in_first & in_second
    if not both.any():
        return 0.0
    products = (first - Y) * (second - Y)
    products = (products if known is None else products * known)[both].sum(axis=1)
    weights = None if how["weights"] is None else how["weights"][both]
    return float(np.average(products, weights=weights))
