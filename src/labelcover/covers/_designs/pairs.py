"""Rules for covers of pairs (r=2) by the algebra of designs."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from labelcover.covers._designs import geometry
from labelcover.covers._designs.difference import developed, wilson_family
from labelcover.covers._designs.fields import galois_field, prime_power, prime_powers
from labelcover.covers._designs.plans import (
    Plan,
    PlanIterator,
    Planner,
    Rows,
    fewest_rows,
    shortened,
)


def all_pairs(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Labelsets of two labels: all of them."""
    if r == k == 2:
        pairs = np.array(np.triu_indices(n_labels, 1), dtype=np.int32).T
        yield Plan(len(pairs), "all pairs", lambda: pairs)


def triples(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Labelsets of three labels: `triple_cover`, which is optimal."""
    if r == 2 and k == 3 and n_labels > 3:
        size = fewest_rows(n_labels, 3, 2)
        yield Plan(size, "Steiner triples", lambda: triple_cover(n_labels))


def triple_cover(n_labels: int) -> Rows:
    """Return an optimal cover of all pairs of `n_labels` ≥ 3 labels by triples.

    For ``m ≡ 1, 3 (mod 6)`` it is a Steiner system, for ``m ≡ 2, 4`` one of m − 1 labels and
    the last label with pairs of the others. For ``m ≡ 5`` the pairs of five labels are left out
    of a system and get a cover of their own; for ``m ≡ 0`` so are those of six, all but these
    paired with the last. The sizes are Fort & Hedlund's (1958), the constructions those of
    Lindner & Rodger (2009), "Design Theory", Chapters 1 and 4. Every label lies in
    ``⌈(m−1)/2⌉`` triples or one more, so the imbalance is at most 1.
    """
    m, residue = n_labels, n_labels % 6
    if residue in (1, 3):
        rows = [_steiner_triples(m)]
    elif residue in (2, 4):
        pairs = np.append(np.arange(m - 1), 0).reshape(-1, 2)
        rows = [_steiner_triples(m - 1), np.column_stack([pairs, np.full(len(pairs), m - 1)])]
    else:
        others, five = _triples_around_five(m - (residue == 0))
        if residue == 5:
            inner = np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4], [2, 3, 4]])
            rows = [others, five[inner]]
        else:
            inner = np.array([[0, 1, 2], [0, 1, 3], [2, 3, 4], [2, 3, 5], [4, 5, 0], [4, 5, 1]])
            pairs = np.setdiff1d(np.arange(m - 1), five).reshape(-1, 2)
            paired = np.column_stack([pairs, np.full(len(pairs), m - 1)])
            rows = [others, np.append(five, m - 1)[inner], paired]
    # Labels are renamed from the last to the first: as parts of covers of triples, these turned
    # out to leave more to free than those of the other order.
    return (m - 1 - np.vstack(rows)).astype(np.int32)


def _steiner_triples(m: int) -> NDArray:
    """Return triples that hold every pair of ``m ≡ 1, 3 (mod 6)`` labels once (Bose, Skolem).

    The labels are three copies of a commutative quasigroup, for ``m ≡ 1`` and one label more.
    """
    n = m // 6
    q = m // 3
    x, y = np.triu_indices(q, 1)
    total = (x + y) % q
    product = (n + 1) * total % q if m % 6 == 3 else total // 2 + n * (total % 2)
    whole = np.arange(q if m % 6 == 3 else n)  # where the product of x and x is x
    rows = [whole[:, None] + q * np.arange(3)]
    for here, there in ((0, q), (q, 2 * q), (2 * q, 0)):
        rows.append(np.column_stack([x + here, y + here, product + there]))
        if m % 6 == 1:
            rows.append(np.column_stack([whole + n + here, whole + there, np.full(n, m - 1)]))
    return np.vstack(rows)


def _triples_around_five(m: int) -> tuple[NDArray, NDArray]:
    """Return triples that hold once every pair of ``m ≡ 5 (mod 6)`` labels but those of five.

    The labels are two, and three copies of an idempotent commutative quasigroup; its product is
    turned by a cycle from the third copy to the first.
    """
    n = m // 6
    q = 2 * n + 1
    x, y = np.triu_indices(q, 1)
    product = (n + 1) * (x + y) % q
    after = np.concatenate([[0], np.roll(np.arange(1, q), -1)])
    one, two, three = 2, 2 + q, 2 + 2 * q  # where the copies begin
    rows = [
        np.column_stack([x + one, y + one, product + two]),
        np.column_stack([x + two, y + two, product + three]),
        np.column_stack([x + three, y + three, after[product] + one]),
    ]
    odd = np.arange(1, q, 2)
    even, before = after[odd], np.argsort(after)[odd]
    for label, a, b in [
        (0, odd + one, odd + two), (0, odd + three, even + one), (0, even + two, even + three),
        (1, odd + two, odd + three), (1, even + one, even + two), (1, odd + one, before + three),
    ]:  # fmt: skip
        rows.append(np.column_stack([np.full(n, label), a, b]))
    return np.vstack(rows), np.array([0, 1, one, two, three])


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
        for n in range(2, most.bit_length() + 1):
            if least <= k**n <= most:
                yield k**n, f"affine geometry AG({n}, {k})", partial(geometry.affine_lines, n, k)
    if prime_power(k - 1):
        q = k - 1
        for n in range(2, most.bit_length() + 1):
            points = (q ** (n + 1) - 1) // (q - 1)
            if least <= points <= most:
                title = f"projective geometry PG({n}, {q})"
                yield points, title, partial(geometry.projective_lines, n, q)
        if least <= q**3 + 1 <= most and q * q <= 64:
            yield q**3 + 1, f"Hermitian unital of order {q}", partial(geometry.hermitian_unital, q)
    if prime_power(k) and k % 2 == 0:
        for q in (4, 8, 16, 32, 64, 128):
            points = (q + 1) * (k - 1) + 1
            if q > k and least <= points <= most:
                title = f"maximal arc of degree {k} in AG(2, {q})"
                yield points, title, partial(geometry.denniston_arc, k, q)
    step = k * (k - 1)
    for q in range((least + step - 2) // step * step + 1, most + 1, step):
        if prime_power(q):
            yield q, f"difference family over GF({q})", partial(_family_blocks, k, q)


def _family_blocks(k: int, q: int) -> NDArray[np.int64] | None:
    family = wilson_family(k, q)
    return None if family is None else developed(family, q)


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
            sizes = tuple(inside // k + (i < inside % k) for i in range(k))
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
            yield Plan(size, title, partial(_filled_transversal, planner, k, g, w, sizes))


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


def most_groups(g: int) -> int:
    """Return the largest k for which `transversal_design` can make a TD(k, g).

    One more than the smallest prime power in the factorisation of `g` (MacNeish 1922).
    """
    return min(p**e for p, e in prime_powers(g)) + 1


def transversal_design(k: int, g: int) -> NDArray[np.int64]:
    """Return TD(k, g) as ``(g², k)``: which of its g points each block takes from each group.

    For a prime power block ``(a, b)`` takes ``a·x + b`` from the group of the field's element x
    and ``a`` from one group more (Bose 1938); a product of prime powers is made component by
    component (MacNeish 1922).
    """
    if k > most_groups(g):
        raise ValueError(f"k must be at most {most_groups(g)} for g={g}, got {k}.")
    design = np.zeros((1, k), dtype=np.int64)
    for p, e in prime_powers(g):
        q = p**e
        field = galois_field(q)
        a, b = np.divmod(np.arange(q * q), q)
        columns = [field.add(field.multiply(a, x), b) for x in range(min(k, q))]
        factor = np.column_stack([*columns, a])[:, :k]
        design = (design[:, None, :] * q + factor[None, :, :]).reshape(-1, k)
    return design


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
