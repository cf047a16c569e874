"""Optimal covers of pairs by quadruples (k=4, r=2), from base blocks modulo n.

The smallest size is known for every m (Mills 1978, 1979): Schönheim's bound but for m = 7, 9, 10
and 19. What the proofs put together from many ingredients, a search finds at once for the sizes
of practice: base blocks modulo n, moved by all residues, in which every difference occurs as
often as its pairs are to be covered. Which blocks these are depends on m modulo 12:

====  =======  ==================================================================================
m     modulo   besides quadruples
====  =======  ==================================================================================
0     m        the difference m/2 occurs once, so that its pairs are covered twice
1     m        nothing: every pair is covered once
4     m        the short orbit of {0, m/4, m/2, 3m/4}
6     m        the short orbit of {0, m/2, a, a + m/2}
8     m        both of these short orbits
11    m        one difference occurs twice
3     m − 3    as for 6, and a triple
9     m − 3    as for 0, and a triple
7     m − 22   seven triples, the short orbit of {0, n/3, 2n/3}
10    m − 22   the same, and the short orbit of {0, n/4, n/2, 3n/4}
====  =======  ==================================================================================

A triple with labels that differ modulo 3 falls into three parallel classes, each of which takes
one further label. The orbit of {0, n/3, 2n/3} is a parallel class too. Further labels so added,
3 or 22 of them, get an optimal cover of their own.

For m ≡ 2, 5 (mod 12), `one_point_more` makes an optimal cover from one of m − 1 labels in which
every pair is covered once.

References
----------
Mills (1978), "On the covering of pairs by quadruples I", Journal of Combinatorial Theory A 25;
"... II" (1979), ibid. 26.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs.plans import Plan, PlanIterator, Planner, Rows, fewest_rows
from labelcover.covers.designs.quadruple_families_kernels import difference_blocks

# Below, the few base blocks cannot have the differences wanted; above, the search takes long.
LEAST_LABELS, MOST_LABELS = 37, 300
# Labels with an optimal cover of their own that the classes 7 and 10 modulo 12 need, and the
# fewest labels for which the triples of their parallel classes have enough differences.
HOLE, LEAST_WITH_HOLE = 22, 103
# Nodes of the search until the order of differences is drawn anew, and in all.
NODES, MOST_NODES = 100_000, 4_000_000


def quadruple_families(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Labelsets of four labels: `family_rows`, optimal where base blocks are found."""
    if (k, r) != (4, 2) or fewest_rows(n_labels, 4, 2) >= limit:
        return
    rows = family_rows(n_labels)
    if rows is None:
        return
    if n_labels % 12 not in (7, 10):
        yield Plan(len(rows), "base blocks modulo n", lambda: rows)
        return
    part = planner.smallest(HOLE, 4, 2)

    def build() -> Rows:
        inner = part.build()
        return np.vstack([rows, np.where(inner < 0, -1, inner + n_labels - HOLE)])

    yield Plan(len(rows) + part.size, "base blocks modulo n, hole filled", build)


@lru_cache(maxsize=64)
def family_rows(n_labels: int) -> Rows | None:
    """Return quadruples that cover all pairs of `n_labels` labels, or ``None`` if none are found.

    For ``n_labels ≡ 7, 10 (mod 12)`` the pairs of the last 22 labels are left out; for
    ``n_labels ≡ 2, 5`` there are none. Free places are −1.
    """
    residue = n_labels % 12
    least = LEAST_WITH_HOLE if residue in (7, 10) else LEAST_LABELS
    if residue in (2, 5) or not least <= n_labels <= MOST_LABELS:
        return None
    nodes = 0
    attempt = 0
    while nodes < MOST_NODES:
        rng = np.random.default_rng(attempt)
        attempt += 1
        n, n_triples, wanted, short = _wanted(n_labels, rng)
        order = 1 + rng.permutation(n - 1)
        n_differences = int(wanted[1 : n // 2 + 1].sum())
        n_blocks = n_triples + (n_differences - 3 * n_triples) // 6
        blocks, found, used = difference_blocks(wanted, n_triples, n_blocks, order, NODES)
        nodes += used
        if found:
            return np.vstack([*short, *_translates(blocks, n)]).astype(np.int32)
    return None


def _wanted(m: int, rng: np.random.Generator) -> tuple[int, int, NDArray[np.int64], list[NDArray]]:
    """Return n, the number of triples, the differences wanted, and the rows of short orbits."""
    residue = m % 12
    n, n_triples = m, 0
    short: list[NDArray] = []
    if residue in (3, 9):
        n, n_triples = m - 3, 1
        short.append(np.array([[n, n + 1, n + 2, -1]]))
    elif residue in (7, 10):
        n, n_triples = m - HOLE, 7
    wanted = np.ones(n, dtype=np.int64)
    wanted[0] = 0
    moves = np.arange(n)[:, None]
    if residue in (7, 10):
        third = n // 3
        wanted[[third, 2 * third]] = 0
        rows = moves[:third] + third * np.arange(3)
        short.append(np.column_stack([rows, np.full(third, m - 1)]))
    if residue in (4, 8, 10):
        quarter = n // 4
        wanted[[quarter, 2 * quarter, 3 * quarter]] = 0
        short.append(moves[:quarter] + quarter * np.arange(4))
    if residue in (3, 6, 8):
        half = n // 2
        a = int(rng.choice([a for a in range(1, half) if 4 * a not in (n, 3 * n)]))
        wanted[[half, a, n - a, half + a, half - a]] = 0
        short.append((moves[:half] + np.array([0, half, a, a + half])) % n)
    if residue == 11:
        a = int(rng.integers(1, n))
        wanted[[a, n - a]] = 2
    return n, n_triples, wanted, short


def _translates(blocks: NDArray[np.int64], n: int) -> list[NDArray[np.int64]]:
    """Return all translates of the base blocks; those of a triple get labels from n on."""
    moves = np.arange(n)[:, None]
    made = []
    for i, block in enumerate(blocks):
        rows = (block + moves) % n
        if block[3] < 0:
            rows[:, 3] = n + 3 * i + moves[:, 0] % 3
        made.append(rows)
    return made
