"""Clusters of points whose sizes differ by at most one: the balanced k-means of HOMER."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

# The authors' own implementation stops after so many rounds.
ROUNDS = 20


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
    >>> from labelcover.methods.balanced_k_means import balanced_k_means
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
