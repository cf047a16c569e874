"""Covers that a cyclic group leaves as they are: a few base blocks and all their translates.

A permutation moves m − f of the labels in cycles of length n and leaves f of them where they
are. It generates the cyclic group Z_n; a block's translates under it are the block's orbit.

**Theorem.** The orbits of base blocks B₁, …, B_b cover every r-labelset if and only if each orbit
of r-labelsets has a member inside some Bᵢ. *Proof.* A translate of a labelset S lies in Bᵢ just
when S itself lies in a translate of Bᵢ.

For r = 2, one cycle and no fixed label this is a *difference cover*: every nonzero residue modulo
n is a difference of two members of one base block (Singer 1938 for planes; Colbourn & Ling 2000).
{2, 4, 9, 12, 21, 22, 37} modulo 39 has all differences, so C(39, 7, 2) = 39. A block that a
subgroup of order s maps to itself has only n/s translates; without such blocks, the sizes of
covers would all be multiples of n. The conditions are fewer by a factor of about n than those of
a cover without symmetry, and so are the rows: annealing finds base blocks where it cannot find
the cover. Which permutation works best is found by a race (`cyclic_cover`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from labelcover.covers._designs.cyclic_kernels import anneal_orbits
from labelcover.covers._designs.plans import Rows

# The table of r-tuples of labels is at most this long.
MOST_TUPLES = 40_000
# Steps of annealing for each shape when a race begins; of the shapes, one in KEPT stays in the
# race after each round, with so many times the steps.
FIRST_STEPS, KEPT = 10_000, 3
# Temperatures in orbits of r-labelsets that are not covered.
HOT, COLD = 0.5, 0.12
# Base blocks of a shape: in all, and with fewer than n translates.
MOST_BLOCKS, MOST_SHORT = 60, 3


@dataclass(frozen=True)
class Shape:
    """What a cover with a cyclic symmetry looks like, before its base blocks are known.

    Its `order` is the length n of the cycles; the last `fixed` labels stay where they are. For each
    base block `base` has the order s of its stabiliser, and for s > 1 how many orbits of the
    stabiliser it holds; the rest of it are fixed labels.
    """

    order: int
    fixed: int
    base: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """The number of rows."""
        return sum(self.order // s for s, _ in self.base)


def shapes(n_labels: int, k: int, least: int, most: int) -> list[Shape]:
    """Return the shapes of `least` to `most` rows, those of the fewest base blocks first."""
    found = []
    for n in range(3, n_labels + 1):
        for fixed in range(n_labels % n, min(n_labels - n, k) + 1, n):
            short = list(_short_blocks(n, n_labels - fixed, fixed, k))
            for count in range(MOST_SHORT + 1):
                for some in combinations_with_replacement(short, count):
                    extra = sum(n // s for s, _ in some)
                    for full in range(max(1, -(-(least - extra) // n)), (most - extra) // n + 1):
                        found.append(Shape(n, fixed, ((1, 0),) * full + some))
    found = [shape for shape in found if len(shape.base) <= MOST_BLOCKS]
    return sorted(found, key=lambda shape: (len(shape.base), shape.size, -shape.order))


def _short_blocks(n: int, moved: int, fixed: int, k: int) -> Iterator[tuple[int, int]]:
    """Blocks with fewer translates: as many of the moved labels or of the fixed as fit."""
    for s in range(2, n + 1):
        if n % s == 0:
            for parts in sorted({k // s, (k - fixed) // s}):
                # Fixed labels alone are one row, not an orbit.
                if parts <= moved // s and (parts > 0 or (s == n and fixed > 1)):
                    yield s, parts


def cyclic_cover(
    n_labels: int, k: int, r: int, least: int, most: int, steps: int, seed: int = 0
) -> tuple[Rows, str] | None:
    """Return the smallest cover found of `least` to ``most − 1`` rows with a cyclic symmetry.

    Shapes race against each other: each is annealed a little, those that miss least stay and are
    annealed longer. When a cover is found, only shapes of fewer rows stay.

    Steps are spent more or less as many as given. Free places of the rows are −1.
    """
    if n_labels**r > MOST_TUPLES or not 2 <= r < k < n_labels:
        return None
    found = None
    first = FIRST_STEPS
    contest = shapes(n_labels, k, least, most - 1)
    while contest and steps > 0:
        racing, each = contest[: max(1, steps // (KEPT * first))], first
        while racing and steps > 0:
            missed = []
            for shape in racing:
                if shape.size < most and steps > 0:
                    seed += 1
                    rows, uncovered, spent = annealed_shape(shape, n_labels, k, r, each, seed)
                    steps -= spent
                    if uncovered == 0:
                        title = f"base blocks under a cyclic group of order {shape.order}"
                        found, most = (rows, title), shape.size
                    missed.append((uncovered, shape))
            missed.sort(key=lambda pair: pair[0])
            kept = len(racing) // KEPT
            racing = [shape for _, shape in missed if shape.size < most][:kept]
            each *= KEPT
        contest = [shape for shape in contest if shape.size < most]
        first *= 2
    _orbits.cache_clear()  # the tables of one race are of no use to the next
    return found


def annealed_shape(
    shape: Shape, n_labels: int, k: int, r: int, steps: int, seed: int
) -> tuple[Rows, int, int]:
    """Return rows of this shape, how many r-labelsets they miss, and the steps spent."""
    shifts = _shifts(n_labels, shape.order, shape.fixed)
    orbit, weight = _orbits(n_labels, shape.order, shape.fixed, r)
    subsets, touching = _positions(k, r)
    blocks = _random_blocks(shape, n_labels, k, np.random.default_rng(seed))
    stabilisers = np.array([s for s, _ in shape.base])
    hot, cold = HOT * shape.order, COLD * shape.order
    blocks, uncovered, spent = anneal_orbits(
        blocks, stabilisers, shifts, orbit, weight, subsets, touching, steps, hot, cold, seed
    )
    return developed_blocks(blocks, stabilisers, shifts), uncovered, spent


def developed_blocks(blocks: NDArray, stabilisers: NDArray, shifts: NDArray) -> Rows:
    """Return all translates of the base blocks, each once."""
    n = len(shifts)
    rows = [
        np.where(block >= 0, shifts[: n // s][:, block], -1)
        for block, s in zip(blocks, stabilisers, strict=True)
    ]
    return np.vstack(rows).astype(np.int32)


def _random_blocks(shape: Shape, n_labels: int, k: int, rng: np.random.Generator) -> Rows:
    n, moved = shape.order, n_labels - shape.fixed
    blocks = np.full((len(shape.base), k), -1, dtype=np.int32)
    for block, (s, parts) in zip(blocks, shape.base, strict=True):
        if s == 1:
            block[:] = rng.permutation(n_labels)[:k]
            continue
        step = n // s  # the stabiliser's orbits are classes modulo this
        cycle, start = np.divmod(rng.permutation(moved // s)[:parts], step)
        labels = (cycle * n + start)[:, None] + step * np.arange(s)
        fixed = moved + rng.permutation(shape.fixed)[: k - labels.size]
        block[: labels.size + len(fixed)] = np.concatenate([labels.ravel(), fixed])
    return blocks


@lru_cache(maxsize=256)
def _shifts(n_labels: int, n: int, fixed: int) -> NDArray[np.int32]:
    """Return what each element of Z_n makes of each label."""
    labels = np.arange(n_labels)
    moved = labels // n * n + (labels % n + np.arange(n)[:, None]) % n
    return np.where(labels < n_labels - fixed, moved, labels).astype(np.int32)


@lru_cache(maxsize=256)
def _orbits(n_labels: int, n: int, fixed: int, r: int) -> tuple[NDArray, NDArray]:
    """Return the orbit of each r-tuple, whatever its order, and how many r-labelsets are in it."""
    labelsets = np.array(list(combinations(range(n_labels), r))).T
    numbers = np.zeros((n_labels,) * r, dtype=np.int32)  # of the r-labelsets, by their labels
    numbers[tuple(labelsets)] = np.arange(labelsets.shape[1])
    moved = numbers[tuple(np.sort(_shifts(n_labels, n, fixed)[1][labelsets], axis=0))]
    graph = csr_array((np.ones(len(moved)), (np.arange(len(moved)), moved)), (len(moved),) * 2)
    orbit = connected_components(graph, directed=False)[1]
    for order in permutations(labelsets):
        numbers[order] = orbit
    return numbers.ravel(), np.bincount(orbit)


@lru_cache(maxsize=64)
def _positions(k: int, r: int) -> tuple[NDArray, NDArray]:
    """Return all r of k positions, and those of them with each position."""
    subsets = list(combinations(range(k), r))
    touching = [[subset for subset in subsets if j in subset] for j in range(k)]
    return np.array(subsets), np.array(touching)
