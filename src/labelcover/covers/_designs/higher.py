"""Rules for covers of any order r: circles, doubling, and covers put together from two halves."""

from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from labelcover.covers._designs import geometry
from labelcover.covers._designs.fields import prime_power
from labelcover.covers._designs.plans import (
    Plan,
    PlanIterator,
    Planner,
    Rows,
    fewest_rows,
    shortened,
)

# Above these the search over all splits costs more than it saves.
MOST_LABELS_TO_SPLIT, MOST_ORDER_TO_SPLIT = 40, 3
MOST_CIRCLE_POINTS = 130


def circles(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan the circles of a finite sphere, or the planes of AG(n, 2): every triple once."""
    if r != 3:
        return
    designs = []
    if k == 4:
        n = max(3, (n_labels - 1).bit_length())
        designs.append((2**n, f"planes of AG({n}, 2)", partial(geometry.binary_planes, n)))
    q = k - 1
    if prime_power(q):
        d = 2
        while q**d + 1 < n_labels:
            d += 1
        title = f"circles over GF({q**d})"
        designs.append((q**d + 1, title, partial(geometry.sphere_circles, q, d)))
    for points, title, blocks in designs:
        size = points * (points - 1) * (points - 2) // (k * (k - 1) * (k - 2))
        if size < limit and points <= MOST_CIRCLE_POINTS:
            yield Plan(
                size,
                title if points == n_labels else f"{title}, shortened",
                partial(_circle_rows, blocks, points, n_labels),
            )


def _circle_rows(blocks, points: int, n_labels: int) -> Rows:
    return shortened(blocks(), points, n_labels)


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


def two_halves(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan two halves of the labels, covered by how many of the r lie in the first.

    ``C(v+w, k, r) ≤ Σ_s C(v, l_s, s) · C(w, k−l_s, r−s)`` for any choice of the ``l_s``
    (Gordon, Kuperberg & Patashnik 1995): rows of the one half and rows of the other, joined.
    """
    if not 2 <= r <= MOST_ORDER_TO_SPLIT or not k < n_labels <= MOST_LABELS_TO_SPLIT:
        return
    for v in range(2, n_labels // 2 + 1):
        w = n_labels - v
        joints = []
        hopeful = 0
        for s in range(r + 1):
            if (s > v) or (r - s > w):
                continue
            # How many places of a row may go to the first half.
            choices = range(s, k - (r - s) + 1) if 0 < s < r else (0 if s == 0 else k,)
            bound, l = min(
                (fewest_rows(v, l, s) * fewest_rows(w, k - l, r - s), l) for l in choices
            )
            hopeful += bound
            joints.append((s, l))
        if hopeful >= limit:
            continue
        size = 0
        for s, l in joints:
            size += planner.smallest(v, l, s).size * planner.smallest(w, k - l, r - s).size
        if size < limit:
            limit = size
            yield Plan(
                size,
                f"covers of {v} and {w} labels joined",
                partial(_joined, planner, v, w, k, r, tuple(joints)),
            )


def multiplied(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan a cover of bundles of w labels: C(wv, wl, r) ≤ C(v, l, r)."""
    if n_labels <= k or r < 2:
        return
    candidates = []
    for w in range(2, k // r + 1):
        bundles, each = -(-n_labels // w), k // w
        candidates.append((fewest_rows(bundles, each, r), w, bundles, each))
    for hopeful, w, bundles, each in sorted(candidates):
        if hopeful >= limit:
            return
        part = planner.smallest(bundles, each, r)
        if part.size < limit:
            limit = part.size
            title = f"cover of {bundles} bundles of {w} labels"
            yield Plan(part.size, title, partial(_unbundled, part, w, n_labels, k))


def _unbundled(part: Plan, w: int, n_labels: int, k: int) -> Rows:
    rows = part.build()
    labels = rows[:, :, None] * w + np.arange(w)
    labels[rows < 0] = -1
    labels[labels >= n_labels] = -1
    table = labels.reshape(len(rows), -1)
    free = np.full((len(rows), k - table.shape[1]), -1)
    return np.column_stack([table, free]).astype(np.int32)


def _joined(planner: Planner, v: int, w: int, k: int, r: int, joints) -> Rows:
    tables = []
    for s, l in joints:
        first = planner.smallest(v, l, s).build()
        second = planner.smallest(w, k - l, r - s).build()
        second = np.where(second < 0, -1, second + v)
        i, j = np.divmod(np.arange(len(first) * len(second)), len(second))
        tables.append(np.column_stack([first[i], second[j]]))
    return np.vstack(tables).astype(np.int32)
