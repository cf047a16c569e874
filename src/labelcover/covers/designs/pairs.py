"""Rules for covers of pairs (r=2) by the algebra of designs."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs import geometry
from labelcover.covers.designs.difference import developed, wilson_family
from labelcover.covers.designs.fields import prime_power
from labelcover.covers.designs.plans import Plan, PlanIterator, Planner, Rows, fewest_rows
from labelcover.covers.designs.shortening import shortened
from labelcover.covers.designs.transversal import most_groups, transversal_design
from labelcover.covers.designs.triples import triple_cover


def all_pairs(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Labelsets of two labels: all of them."""
    if r == k == 2:
        pairs = np.array(np.triu_indices(n_labels, 1), dtype=np.int32).T
        yield Plan(len(pairs), "all pairs", lambda: pairs)


def triples(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Labelsets of three labels: `triple_cover`, which is optimal."""
    if r == 2 and k == 3 and n_labels > 3:
        size = fewest_rows(n_labels, 3, 2)
        yield Plan(size, "triples by hill-climbing", lambda: triple_cover(n_labels))


# Designs that are larger by this factor than the lower bound are of no use.
MOST_ABOVE = 1.5


def shortened_designs(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan a design that covers every pair once on enough points, some of them taken out."""
    if r != 2:
        return
    limit = min(limit, int(MOST_ABOVE * fewest_rows(n_labels, k, r)) + 1)
    candidates = sorted(_designs(k, n_labels, limit), key=lambda design: design[0])
    for points, title, blocks in candidates:
        size = points * (points - 1) // (k * (k - 1))
        if size >= limit:
            return
        found = blocks()
        if found is not None:
            limit = size
            yield Plan(
                size,
                title if points == n_labels else f"{title}, shortened",
                partial(shortened, found, points, n_labels),
            )


def _designs(k: int, least: int, limit: int):
    """Designs of blocks of k points, at least `least` of them: (points, title, blocks)."""
    most = least
    while most * (most - 1) // (k * (k - 1)) < limit and most < 4 * least + 4 * k * k:
        most += 1
    if prime_power(k):
        n = 2
        while k**n <= most:
            if k**n >= least:
                yield k**n, f"affine geometry AG({n}, {k})", partial(geometry.affine_lines, n, k)
            n += 1
    if prime_power(k - 1):
        q, n = k - 1, 2
        while (q ** (n + 1) - 1) // (q - 1) <= most:
            points = (q ** (n + 1) - 1) // (q - 1)
            if points >= least:
                title = f"projective geometry PG({n}, {q})"
                yield points, title, partial(geometry.projective_lines, n, q)
            n += 1
        if least <= q**3 + 1 <= most and q * q <= 64:
            yield q**3 + 1, f"Hermitian unital of order {q}", partial(geometry.hermitian_unital, q)
    if prime_power(k) and k % 2 == 0:
        q = 2 * k
        while (q + 1) * (k - 1) + 1 <= most and q <= 128:
            if (q + 1) * (k - 1) + 1 >= least:
                title = f"maximal arc of degree {k} in AG(2, {q})"
                yield (q + 1) * (k - 1) + 1, title, partial(geometry.denniston_arc, k, q)
            q *= 2
    step = k * (k - 1)
    for q in range((least + step - 2) // step * step + 1, most + 1, step):
        if prime_power(q):
            yield q, f"difference family over GF({q})", partial(_family_blocks, k, q)


def _family_blocks(k: int, q: int) -> NDArray[np.int64] | None:
    family = wilson_family(k, q)
    return None if family is None else developed(np.array(family), q)


# How many points at infinity are tried beside the groups of a transversal design.
MOST_AT_INFINITY = 24


def filled_transversals(
    planner: Planner, n_labels: int, k: int, r: int, limit: int
) -> PlanIterator:
    """Plan a transversal design TD(k, g), some points taken out, its groups covered in turn.

    Pairs from different groups lie in one of the g² blocks. Each group, together with the same
    w points at infinity, gets a cover of its own.
    """
    if r != 2 or n_labels <= k:
        return
    candidates = []
    for g in range(max(2, k - 1), n_labels // k + 12 + n_labels // (4 * k)):
        if g * g >= limit or most_groups(g) < k:
            continue
        for w in range(MOST_AT_INFINITY + 1):
            inside = n_labels - w
            if inside < k or inside > k * g:
                continue
            sizes = _even(inside, k)
            hopeful = g * g + sum(fewest_rows(s + w, k, 2) for s in sizes if s + w > 1)
            if hopeful < limit:
                candidates.append((hopeful, g, w, sizes))
    for hopeful, g, w, sizes in sorted(candidates):
        if hopeful >= limit:
            return
        size = g * g
        for s in sizes:
            size += planner.smallest(s + w, k, 2).size
            if size >= limit:
                break
        if size < limit:
            limit = size
            title = f"transversal design TD({k}, {g}), groups filled"
            yield Plan(
                size,
                title,
                partial(_filled_transversal, planner, k, g, w, sizes),
            )


def _even(total: int, parts: int) -> tuple[int, ...]:
    return tuple(total // parts + (i < total % parts) for i in range(parts))


def _filled_transversal(planner: Planner, k: int, g: int, w: int, sizes: tuple[int, ...]) -> Rows:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inside = int(starts[-1])
    design = transversal_design(k, g)
    rows = [np.where(design < np.array(sizes), design + starts[:-1], -1)]
    infinity = np.arange(inside, inside + w)
    for start, size in zip(starts[:-1], sizes, strict=True):
        part = planner.smallest(size + w, k, 2).build()
        rows.append(_placed(part, np.arange(start, start + size), infinity))
    table = np.vstack(rows).astype(np.int32)
    return table[(table >= 0).sum(axis=1) > 1]


def _placed(part: Rows, group: NDArray, infinity: NDArray) -> NDArray:
    """Rename the labels of a cover; points of its first row go to infinity as far as it has any.

    The groups then share that row's pairs, and all but one of them may spare it.
    """
    n = len(group) + len(infinity)
    first = [x for x in part[0] if x >= 0]
    order = first + [x for x in range(n) if x not in set(first)]
    name = np.empty(n + 1, dtype=np.int64)
    name[order] = np.concatenate([infinity, group])
    name[n] = -1
    return name[part]


# Each label more is a plan on top of a plan; above this, other constructions serve better.
MOST_FOR_ONE_MORE = 150


def one_point_more(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """C(m, k, r) ≤ C(m−1, k, r) + C(m−1, k−1, r−1): the last label joins a smaller cover."""
    if n_labels <= k or not 2 <= r <= 3:
        return
    hopeful = fewest_rows(n_labels - 1, k, r) + fewest_rows(n_labels - 1, k - 1, r - 1)
    # Of covers by quadruples, those that cover every pair once make an optimal one.
    single = k == 4 and n_labels % 12 in (2, 5)
    if hopeful >= limit or (n_labels > MOST_FOR_ONE_MORE and r == 2 and not single):
        return
    without = planner.smallest(n_labels - 1, k, r)
    beside = planner.smallest(n_labels - 1, k - 1, r - 1)

    def build() -> Rows:
        rows = beside.build()
        joined = np.column_stack([rows, np.full(len(rows), n_labels - 1, dtype=np.int32)])
        return np.vstack([without.build(), joined])

    yield Plan(without.size + beside.size, "a smaller cover and one label more", build)


def single_row(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """All labels in one labelset, or for r=1 the labels dealt out."""
    if n_labels <= k or r == 1:
        size = -(-n_labels // k)
        rows = np.full(size * k, -1, dtype=np.int32)
        rows[:n_labels] = np.arange(n_labels)
        yield Plan(size, "each label once", lambda: rows.reshape(size, k))
