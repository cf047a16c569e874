"""The tree of labels of HOMER, and the balanced k-means that divides them."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

CLUSTERINGS = ("balanced", "random", "k-means")
# The authors' own implementation stops after so many rounds.
ROUNDS = 20


@dataclass(frozen=True)
class LabelNode:
    """A set of labels in the tree.

    Attributes
    ----------
    labels : tuple of int
        The labels below, ascending; a leaf has one.
    children : tuple of int
        The numbers of the nodes that these labels are divided into; empty for a leaf.
    """

    labels: tuple[int, ...]
    children: tuple[int, ...] = ()


@dataclass(frozen=True)
class LabelTree:
    """A tree whose leaves are the labels; printed, it is a drawing.

    Attributes
    ----------
    nodes : tuple of LabelNode
        The root comes first, and every node before its children. A list of nodes rather than nodes
        in nodes: plain k-means may make a tree deeper than Python can recurse.
    names : tuple of str
        The names of all labels.

    Examples
    --------
    >>> from labelcover.methods._label_tree import LabelNode, LabelTree
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
    *,
    clusters: int,
    clustering: str,
    weights: NDArray[np.float64] | None = None,
    random: np.random.Generator,
) -> LabelTree:
    """Return a tree of the columns of `Y`: each node's labels are divided until one is left.

    A node of no more than `clusters` labels has a leaf for each. Labels are near each other if
    they agree in many rows (by the weights of the rows).

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    names : sequence of str
        One for each label.
    clusters : int
        How many children a node has at most.
    clustering : {"balanced", "random", "k-means"}
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

    Parameters
    ----------
    points : ndarray of shape (n, dimensions)
    n_clusters : int
        At most `n`.
    random : Generator

    References
    ----------
    Tsoumakas, Katakis, Vlahavas: Effective and efficient multilabel classification in domains
    with large number of labels. ECML/PKDD Workshop on Mining Multidimensional Data, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods._label_tree import balanced_k_means
    >>> points = np.array([[0.0], [0.1], [0.2], [8.9], [9.0]])
    >>> clusters = balanced_k_means(points, 2, np.random.default_rng(0))
    >>> sorted(cluster.tolist() for cluster in clusters)
    [[0, 1, 2], [3, 4]]
    """
    centres = points[np.sort(random.choice(len(points), n_clusters, replace=False))]
    clusters: list[NDArray[np.int64]] = []
    for _ in range(ROUNDS):
        found = divide_evenly(squared_distances(points, centres))
        if clusters and all(map(np.array_equal, found, clusters)):
            break
        clusters = found
        centres = np.stack([points[cluster].mean(axis=0) for cluster in clusters])
    return clusters


def squared_distances(
    points: NDArray[np.float64], centres: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the squared Euclidean distance of every point from every centre."""
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return squares - 2 * (points @ centres.T)


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
