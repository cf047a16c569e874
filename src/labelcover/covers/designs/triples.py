"""Optimal covers of pairs by triples (k=3, r=2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs.triples_kernels import climb_triples

# Steps of the climb per pair; a climb needs about five.
STEPS_PER_PAIR = 60
MOST_CLIMBS = 50


def triple_cover(n_labels: int, seed: int = 0) -> NDArray[np.int32]:
    """Return an optimal cover of all pairs of `n_labels` ≥ 3 labels by triples.

    The pairs covered more than once, the *excess graph*, are fixed first: none for
    ``m ≡ 1, 3 (mod 6)``; one pair twice for ``m ≡ 5``; a perfect matching for ``m ≡ 0``; a
    star of three pairs and a matching for ``m ≡ 2, 4``. The resulting multigraph falls into
    triangles (Fort & Hedlund 1958), found by hill-climbing (Stinson 1985). Every label lies in
    ``⌈(m−1)/2⌉`` triples or one more, so the imbalance is at most 1.
    """
    wanted = 1 + excess_of_triples(n_labels)
    np.fill_diagonal(wanted, 0)
    target = int(wanted.sum()) // 6
    most_steps = STEPS_PER_PAIR * n_labels * n_labels + 10_000
    for attempt in range(MOST_CLIMBS):
        triples = climb_triples(wanted, most_steps, seed + attempt)
        if len(triples) == target:
            return triples
    raise RuntimeError(f"no triples found for n_labels={n_labels} in {MOST_CLIMBS} climbs.")


def excess_of_triples(n_labels: int) -> NDArray[np.int8]:
    """Return how often more than once each pair is covered in an optimal cover by triples."""
    excess = np.zeros((n_labels, n_labels), dtype=np.int8)
    if n_labels % 6 == 5:
        edges = [(0, 1), (0, 1)]
    elif n_labels % 2 == 1:
        edges = []
    elif n_labels % 6 == 0:
        edges = [(x, x + 1) for x in range(0, n_labels, 2)]
    else:
        edges = [(0, 1), (0, 2), (0, 3)] + [(x, x + 1) for x in range(4, n_labels, 2)]
    for x, y in edges:
        excess[x, y] += 1
        excess[y, x] += 1
    return excess
