"""Difference families: a few base blocks whose translates cover every pair once, or nearly.

Wilson's, over finite fields, cover every pair once; k is any. Families of quadruples modulo n are
optimal covers of pairs (k=4, r=2). Their smallest size is known (`smallest_cover_size`):
Schönheim's bound but for m = 7, 9, 10 and 19. What the proofs put together from many ingredients,
a search finds for the sizes of practice, m up to 300: base blocks modulo n, moved by all residues,
in which every difference occurs as often as its pairs are to be covered. They are kept in
`quadruple_families.jsonl`, which ``tools/find_quadruple_families.py`` makes. Which blocks these
are depends on m modulo 12:

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
"""

import json
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from labelcover.covers._designs.cyclic_kernels import wilson_block
from labelcover.covers._designs.geometry import galois_field, prime_power
from labelcover.covers._designs.plans import Rows

# Trials of the search for a base block; enough for k ≤ 8 wherever one is likely.
MOST_NODES = 20_000_000
FAMILIES = "quadruple_families.jsonl"
# Labels with an optimal cover of their own that the classes 7 and 10 modulo 12 need.
HOLE = 22


@lru_cache(maxsize=256)
def wilson_family(k: int, q: int) -> NDArray[np.int64] | None:
    """Return the base blocks of a (q, k, 1) difference family over GF(q), or ``None``.

    Needs a prime power ``q ≡ 1 (mod k(k−1))``. If the differences of one block lie in different
    cosets of the e-th powers, ``e = k(k−1)/2``, then its products with ``g^(e·i)``,
    ``i < (q−1)/2e``, are a family (Wilson 1972). Another way is taken where k or k−1 divides
    q−1: blocks that are a coset of a subgroup, with 0 or without.
    """
    if prime_power(q) is None or q % (k * (k - 1)) != 1:
        return None
    family = _by_subgroup(k, q)
    family = _by_cosets(k, q) if family is None else family
    return None if family is None else np.sort(family, axis=1)


def developed(base_blocks: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Return all translates of `base_blocks` by the elements of GF(q)."""
    translates = galois_field(q).add(base_blocks[:, None, :], np.arange(q)[None, :, None])
    return translates.reshape(-1, base_blocks.shape[1])


def family_blocks(k: int, q: int) -> NDArray[np.int64] | None:
    """Return the blocks of `wilson_family`, all of them, or ``None``."""
    family = wilson_family(k, q)
    return None if family is None else developed(family, q)


def _by_cosets(k: int, q: int) -> NDArray[np.int64] | None:
    field = galois_field(q)
    elements = np.arange(q)
    differences = np.empty((0, 0), dtype=np.int64)
    if field.n > 1:
        differences = field.subtract(elements[:, None], elements[None, :])
    block = wilson_block(k, differences, field.logarithm(elements), MOST_NODES)
    if not block.any():
        return None
    e = k * (k - 1) // 2
    factors = field.exponential(e * np.arange((q - 1) // (2 * e)))
    return field.multiply(block[None, :], factors[:, None])


def _by_subgroup(k: int, q: int) -> NDArray[np.int64] | None:
    """Blocks ``c·M`` or ``{0} ∪ c·M`` for a subgroup M of the multiplicative group.

    Their differences are a union of cosets of M; which c to take is an exact cover of the
    cosets by translates of one set.
    """
    field = galois_field(q)
    for order in (k, k - 1):
        if (q - 1) % order:
            continue
        n = (q - 1) // order
        block = field.exponential(n * np.arange(order))
        if order == k - 1:
            block = np.append(block, 0)
        differences = field.subtract(block[:, None], block[None, :])[~np.eye(k, dtype=bool)]
        cosets, counts = np.unique(field.logarithm(differences) % n, return_counts=True)
        if (counts != order).any():
            continue
        shifts = _tiling(cosets.tolist(), n)
        if shifts is not None:
            return field.multiply(block, field.exponential(shifts)[:, None])
    return None


def _tiling(tile: list[int], n: int) -> list[int] | None:
    """Shifts whose translates of `tile` fill the residues modulo n once each, or ``None``."""
    nodes = 0

    def place(filled: frozenset[int], shifts: list[int]) -> list[int] | None:
        nonlocal nodes
        nodes += 1
        if len(filled) == n:
            return shifts
        if nodes > 20_000:
            return None
        hole = next(x for x in range(n) if x not in filled)
        for start in tile:
            shift = (hole - start) % n
            moved = {(x + shift) % n for x in tile}
            if not moved & filled:
                found = place(filled | moved, [*shifts, shift])
                if found is not None:
                    return found
        return None

    return place(frozenset(), []) if n % len(tile) == 0 else None


def family_rows(n_labels: int) -> Rows | None:
    """Return quadruples that cover all pairs of `n_labels` labels, or ``None`` if none are known.

    For ``n_labels ≡ 7, 10 (mod 12)`` the pairs of the last 22 labels are left out; for
    ``n_labels ≡ 2, 5`` there are none. Free places are −1.
    """
    if n_labels not in _families():
        return None
    a, blocks = _families()[n_labels]
    residue = n_labels % 12
    n = n_labels - {3: 3, 9: 3, 7: HOLE, 10: HOLE}.get(residue, 0)
    # Blocks and the number of their translates (see the table of this module).
    base = []
    if residue in (3, 9):
        base.append(([n, n + 1, n + 2, -1], 1))
    if residue in (7, 10):
        base.append(([0, n // 3, 2 * (n // 3), n_labels - 1], n // 3))
    if residue in (4, 8, 10):
        base.append(([0, n // 4, n // 2, 3 * (n // 4)], n // 4))
    if a is not None:
        base.append(([0, n // 2, a, a + n // 2], n // 2))
    base += [([*block, n + 3 * i][:4], n) for i, block in enumerate(blocks)]
    # Labels beside the residues move in cycles of three; the last of 22 and −1 stay.
    moves, others = np.arange(n)[:, None], np.arange(n_labels - n)
    moved = np.full((n, n_labels + 1), -1, dtype=np.int32)
    moved[:, :n] = (moves + np.arange(n)) % n
    cycled = others // 3 * 3 + (others + moves) % 3
    moved[:, n:-1] = n + np.where(others < HOLE - 1, cycled, others)
    return np.vstack([moved[:count, block] for block, count in base])


@lru_cache(maxsize=1)
def _families() -> dict[int, tuple[int | None, list[list[int]]]]:
    """Return by m the middle label of a short orbit, where there is one, and the base blocks."""
    text = (files(__package__) / FAMILIES).read_text(encoding="utf-8")
    return {m: (a, blocks) for m, a, blocks in map(json.loads, text.splitlines())}
