"""Difference families: a few base blocks whose translates cover every pair once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs.difference_kernels import wilson_block
from labelcover.covers.designs.fields import galois_field, prime_power

# Trials of the search for a base block; enough for k ≤ 8 wherever one is likely.
MOST_NODES = 20_000_000


@lru_cache(maxsize=256)
def wilson_family(k: int, q: int) -> tuple[tuple[int, ...], ...] | None:
    """Return the base blocks of a (q, k, 1) difference family over GF(q), or ``None``.

    Needs a prime power ``q ≡ 1 (mod k(k−1))``. If the differences of one block lie in different
    cosets of the e-th powers, ``e = k(k−1)/2``, then its products with ``g^(e·i)``,
    ``i < (q−1)/2e``, are a family (Wilson 1972). Another way is taken where k or k−1 divides
    q−1: blocks that are a coset of a subgroup, with 0 or without.
    """
    if prime_power(q) is None or q % (k * (k - 1)) != 1:
        return None
    return _by_subgroup(k, q) or _by_cosets(k, q)


def developed(base_blocks: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Return all translates of `base_blocks` by the elements of GF(q)."""
    field = galois_field(q)
    blocks = np.asarray(base_blocks)
    return field.add(blocks[:, None, :], np.arange(q)[None, :, None]).reshape(-1, blocks.shape[1])


def _by_cosets(k: int, q: int) -> tuple[tuple[int, ...], ...] | None:
    field = galois_field(q)
    elements = np.arange(q)
    differences = np.empty((0, 0), dtype=np.int64)
    if field.n > 1:
        differences = field.subtract(elements[:, None], elements[None, :])
    logarithm = np.concatenate([[0], field.logarithm(elements[1:])])
    block = wilson_block(k, differences, logarithm, MOST_NODES)
    if not block.any():
        return None
    e = k * (k - 1) // 2
    factors = field.exponential(e * np.arange((q - 1) // (2 * e)))
    return _as_tuples(field.multiply(block[None, :], factors[:, None]))


def _by_subgroup(k: int, q: int) -> tuple[tuple[int, ...], ...] | None:
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
            return _as_tuples(field.multiply(block, field.exponential(shifts)[:, None]))
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


def _as_tuples(blocks: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(int(x) for x in row)) for row in blocks)
