"""Covers of triples by quadruples (k=4, r=3): Steiner quadruple systems by doubling."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs.plans import Plan, PlanIterator, Planner, Rows, fewest_rows


def one_factorisation(n: int) -> NDArray[np.int64]:
    """Return n−1 perfect matchings of n points (n even) that hold each pair once.

    The round robin: point n−1 meets i in round i, and i+j meets i−j.
    """
    rounds = []
    for i in range(n - 1):
        pairs = [(n - 1, i)]
        pairs += [((i + j) % (n - 1), (i - j) % (n - 1)) for j in range(1, n // 2)]
        rounds.append(pairs)
    return np.array(rounds)


def doubled_quadruples(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Two covers of half the labels, and the pairs of one round in both halves.

    C(2v, 4, 3) ≤ 2 C(v, 4, 3) + (v−1)(v/2)² for even v (Hanani 1960): a triple with two labels
    in one half has its pair in one round. From a quadruple system comes a quadruple system.
    """
    if k != 4 or r != 3 or n_labels < 8:
        return
    half = -(-n_labels // 4) * 2
    across = (half - 1) * (half // 2) ** 2
    if across + 2 * fewest_rows(half, 4, 3) >= limit:
        return
    part = planner.smallest(half, 4, 3)

    def build() -> Rows:
        rows = part.build()
        both = [rows, np.where(rows < 0, -1, rows + half)]
        for pairs in one_factorisation(half):
            both.append(np.array([[*a, *(b + half)] for a, b in product(pairs, pairs)]))
        table = np.vstack(both).astype(np.int32)
        return np.where(table < n_labels, table, -1)

    yield Plan(2 * part.size + across, "quadruples by doubling", build)
