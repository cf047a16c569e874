"""HOMER: a tree of labels with a multi-label model at each inner node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from labelcover._arguments import check_choice, check_integer
from labelcover._progress import progress_bar
from labelcover._table_numbers import rows_of
from labelcover.ensemble import (
    MOST_SEED,
    LabelModel,
    ThresholdParameters,
    TrainingRows,
    View,
    drawn_seed,
)
from labelcover.methods._binary_relevance import BinaryRelevanceClassifier
from labelcover.methods._member_rows import fitted

CLUSTERINGS = ("balanced", "random", "k-means")
# The authors' own implementation stops after so many rounds.
ROUNDS = 20


@dataclass(eq=False, repr=False, kw_only=True)
class HomerClassifier(ThresholdParameters, LabelModel):
    """Hierarchy of multi-label classifiers (HOMER): few labels at a time, in a tree.

    The labels are divided into `clusters` sets of similar labels, each set again, until single
    labels are left. Each inner node has a multi-label model that tells which of its sets hold a
    label of the row (a set's *meta-label* is on if any of its labels is). The root is trained on
    all rows, any other node on the rows that have at least one of its labels. A prediction
    descends from the root into predicted sets only, so most models are asked about few rows.

    The confidence of a label is the least confidence on the way from the root to it, or to the
    set that was not predicted: cut at ½, these are the labels that the descent reaches.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members of the nodes' models are clones of; by default those of `method`.
    clusters : int, default=3
        Into how many sets a node's labels are divided. With at least as many as there are labels,
        the tree has one level and HOMER is `method` itself.
    clustering : {"balanced", "random", "k-means"}, default="balanced"
        How labels are divided. ``"balanced"``: similar labels together, in sets whose sizes differ
        by at most one, by the authors' balanced k-means on the columns of Y. ``"random"``: sets
        of such sizes at random. ``"k-means"``: sets of any sizes by scikit-learn's ``KMeans``.
    method : multi-label estimator of labelcover, optional
        The model at each node; by default `BinaryRelevanceClassifier`. Its own threshold is not
        used: a node's sets are predicted at a confidence of ½.
    threshold : {"auto", "cv"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`. Below ½, all labels of a set that
        the descent did not enter may be predicted together.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    tree_ : LabelTree
        The tree of labels: ``print(model.tree_)`` draws it, ``tree_.nested()`` has the names of the
        labels in lists of lists.

    References
    ----------
    Tsoumakas, Katakis, Vlahavas: Effective and efficient multilabel classification in domains
    with large number of labels. ECML/PKDD Workshop on Mining Multidimensional Data, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import HomerClassifier
    >>> X, Y = make_multilabel_classification(n_classes=5, random_state=0)
    >>> model = HomerClassifier(random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (100, 5)
    >>> print(model.tree_)
    5 labels
    ├── label0
    ├── 2 labels
    │   ├── label1
    │   └── label2
    └── 2 labels
        ├── label3
        └── label4
    """

    clusters: int = 3
    clustering: str = "balanced"
    method: Any = None

    tree_ = fitted("tree", "The tree of labels.")

    def _make_view(self, learner, training, seed):
        names = tuple(map(str, self.label_names_in_))
        own = self._node_method(), names, int(self.clusters), self.clustering
        return HomerView(learner, *own, seed)

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        clusters = check_integer("clusters", self.clusters, low=2)
        check_choice("clustering", self.clustering, CLUSTERINGS)
        self._node_method()._check_parameters(min(clusters, n_labels), weighted=weighted)

    def _has_default_member(self) -> bool:
        return self.estimator is None and self.method is None

    def _member(self):
        return self._node_method()._member() if self.estimator is None else self.estimator

    def _learner(self):
        return self._node_method()._learner()

    def _node_method(self) -> LabelModel:
        """Return the unfitted model of a node."""
        if self.method is None:
            return BinaryRelevanceClassifier(self.estimator)
        if not isinstance(self.method, LabelModel):
            raise ValueError(
                "method must be None or a multi-label estimator of labelcover such as "
                f"RakelClassifier(), got {self.method!r}."
            )
        method = clone(self.method)
        return method if self.estimator is None else method.set_params(estimator=self.estimator)


@dataclass(eq=False, repr=False)
class HomerView(View):
    """A tree of labels and a view of meta-labels at each inner node, made by `method`.

    `views` has them by the number of the node. One whose labels no training row has is never
    entered and has none.
    """

    no_shares = "each label is reached through a tree of models"

    learner: Any
    method: LabelModel
    names: tuple[str, ...]
    clusters: int
    clustering: str
    seed: int

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Grow the tree, then fit the nodes from the root down."""
        division = self.clusters, self.clustering, np.random.default_rng(self.seed)
        self.tree = grow_tree(rows.Y, self.names, *division, weights=rows.weights)
        random = np.random.default_rng(drawn_seed(seed))
        nodes = self.tree.nodes
        inner = [i for i, node in enumerate(nodes) if node.children]
        self.views: dict[int, View] = {}
        with progress_bar("fitting nodes", len(inner), show=verbose) as bar:
            for i in inner:
                children = nodes[i].children
                metas = [rows.Y[:, nodes[child].labels].any(axis=1) for child in children]
                own = replace(rows, Y=np.column_stack(metas).astype(np.uint8))
                if i > 0:
                    own = own.rows(np.flatnonzero(own.Y.any(axis=1)))
                if len(own.Y):
                    method, names = clone(self.method), list(map(self.tree.name, children))
                    method.label_names_in_ = np.array(names, dtype=object)
                    view = method._make_view(self.learner, own, int(random.integers(MOST_SEED)))
                    self.views[i] = view.fit(own, int(random.integers(MOST_SEED)), n_jobs=n_jobs)
                bar.advance()
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the least confidence on the way to each label, ``(n, n_labels)``."""
        n = X.shape[0]
        confidence = np.zeros((n, len(self.names)))
        waiting = [(0, np.arange(n), np.ones(n))] if n else []
        while waiting:
            i, rows, so_far = waiting.pop()
            table = X if len(rows) == n else rows_of(X, rows)
            of_children = self.views[i].confidences(table)[0]
            for child, own in zip(self.tree.nodes[i].children, of_children.T, strict=True):
                node, least = self.tree.nodes[child], np.minimum(so_far, own)
                confidence[rows[:, None], list(node.labels)] = least[:, None]
                # A confidence of exactly ½ is a tie: what it means is for the threshold to say.
                entered = least >= 0.5
                if child in self.views and entered.any():
                    waiting.append((child, rows[entered], least[entered]))
        return [confidence]


class LabelNode(NamedTuple):
    """The labels below a node of the tree, ascending, and the numbers of its children."""

    labels: tuple[int, ...]
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class LabelTree:
    """A tree whose leaves are the labels; printed, it is a drawing.

    The root of `nodes` comes first, and every node before its children. A list of nodes rather than
    nodes in nodes: plain k-means may make a tree deeper than Python can recurse.

    Examples
    --------
    >>> from labelcover.methods._homer import LabelNode, LabelTree
    >>> nodes = (LabelNode((0, 1, 2), (1, 2)), LabelNode((0, 2), (3, 4)), LabelNode((1,)),
    ...          LabelNode((0,)), LabelNode((2,)))
    >>> tree = LabelTree(nodes, ("rock", "jazz", "pop"))
    >>> print(tree)
    3 labels
    ├── 2 labels
    │   ├── rock
    │   └── pop
    └── jazz
    >>> tree.nested()
    [['rock', 'pop'], 'jazz']
    """

    nodes: tuple[LabelNode, ...]
    names: tuple[str, ...]

    def name(self, i: int) -> str:
        """Return the name of node `i`: that of its label, or how many labels there are."""
        labels = self.nodes[i].labels
        return self.names[labels[0]] if len(labels) == 1 else f"{len(labels)} labels"

    def nested(self) -> Any:
        """Return the names of the labels in lists of lists, a list for each inner node."""
        made: list[Any] = [None] * len(self.nodes)
        for i in range(len(self.nodes) - 1, -1, -1):
            children = self.nodes[i].children
            made[i] = [made[child] for child in children] if children else self.name(i)
        return made[0]

    def __str__(self) -> str:
        lines = []
        waiting = [(0, "", "")]
        while waiting:
            i, first, rest = waiting.pop()
            lines.append(first + self.name(i))
            children = self.nodes[i].children
            for child in reversed(children):
                last = child == children[-1]
                branch, below = ("└── ", "    ") if last else ("├── ", "│   ")
                waiting.append((child, rest + branch, rest + below))
        return "\n".join(lines)


def grow_tree(
    Y: NDArray[np.uint8],
    names: Sequence[str],
    clusters: int,
    clustering: str,
    random: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> LabelTree:
    """Return a tree of the columns of `Y`: each node's labels are divided until one is left.

    A node of no more than `clusters` labels has a leaf for each. Labels are near each other if
    they agree in many rows (by the weights of the rows).
    """
    columns = (Y if weights is None else Y * np.sqrt(weights)[:, None]).T
    nodes = [LabelNode(tuple(range(Y.shape[1])))]
    i = 0
    while i < len(nodes):
        labels = np.array(nodes[i].labels)
        if len(labels) > 1 or i == 0:  # even a single label hangs below a root
            parts = _divide(columns[labels], clusters, clustering, random)
            below = range(len(nodes), len(nodes) + len(parts))
            nodes[i] = LabelNode(nodes[i].labels, tuple(below))
            nodes.extend(LabelNode(tuple(labels[part].tolist())) for part in parts)
        i += 1
    return LabelTree(tuple(nodes), tuple(map(str, names)))


def _divide(
    columns: NDArray[Any], clusters: int, clustering: str, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return at least two sets of labels, of which the columns of the label table are the rows."""
    n = len(columns)
    if n <= clusters:
        return list(np.arange(n)[:, None])
    if clustering != "random":
        columns = columns[:, columns.any(axis=0)].astype(np.float64)
    if clustering == "balanced":
        return balanced_k_means(columns, clusters, random)
    distinct = 1 if clustering == "random" else len(np.unique(columns, axis=0))
    if distinct == 1:  # also where labels that agree in every row leave k-means no choice
        return [np.sort(part) for part in np.array_split(random.permutation(n), clusters)]
    k_means = KMeans(min(clusters, distinct), random_state=int(random.integers(2**31)))
    found = k_means.fit_predict(columns)
    return [np.flatnonzero(found == c) for c in np.unique(found)]


def balanced_k_means(
    points: NDArray[np.float64], n_clusters: int, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the numbers of the points in each cluster, ascending.

    Centres start at points drawn at random. In each round every point goes to the nearest centre;
    a cluster that is then too large gives up its farthest point, which goes to the nearest of the
    centres that have not given it up, and so on. Centres move to the means, until nothing changes
    or 20 rounds have passed.

    A cluster holds at most ``ceil(n / n_clusters)`` points, as published. So that no cluster is
    much smaller than another, only ``n mod n_clusters`` clusters may have that many, the others
    one less.
    """
    centres = points[np.sort(random.choice(len(points), n_clusters, replace=False))]
    clusters: list[NDArray[np.int64]] = []
    for _ in range(ROUNDS):
        squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
        found = divide_evenly(squares - 2 * (points @ centres.T))
        if clusters and all(map(np.array_equal, found, clusters)):
            break
        clusters = found
        centres = np.stack([points[cluster].mean(axis=0) for cluster in clusters])
    return clusters


def divide_evenly(distances: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return the points of each cluster for the distances of points, in rows, from centres.

    The sizes of clusters differ by at most one. Of equally far points, the one that came last is
    given up.
    """
    n, n_clusters = distances.shape
    distances = distances.copy()
    least, n_larger = divmod(n, n_clusters)
    clusters: list[list[tuple[float, int, int]]] = [[] for _ in range(n_clusters)]
    time = 0
    for point in range(n):
        homeless: int | None = point
        # A cluster that gave up a point is full and stays so; hence a point that all clusters
        # gave up would be one more than there are places.
        while homeless is not None:
            j = int(np.argmin(distances[homeless]))
            heappush(clusters[j], (-distances[homeless, j], -time, homeless))
            time += 1
            larger = sum(len(cluster) > least for cluster in clusters)
            homeless = None
            if len(clusters[j]) > least + 1 or larger > n_larger:
                homeless = heappop(clusters[j])[2]
                distances[homeless, j] = np.inf
    return [np.array(sorted(point for *_, point in cluster)) for cluster in clusters]
