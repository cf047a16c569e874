"""The constructions: rules that plan covers by the algebra of designs, or from smaller covers.

A rule yields plans, each of fewer rows than `limit`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from labelcover.covers._designs import geometry
from labelcover.covers._designs.difference import HOLE, family_blocks, family_rows
from labelcover.covers._designs.geometry import galois_field, prime_power, prime_powers
from labelcover.covers._designs.plans import Plan, Planner, Rows, fewest_rows, shortened

PlanIterator = Iterator[Plan]

# Designs of pairs that are larger by this factor than the lower bound are of no use, nor are
# those of triples on more points.
MOST_ABOVE, MOST_CIRCLE_POINTS = 1.5, 130
# How many points at infinity are tried beside the groups of a transversal design.
MOST_AT_INFINITY = 24
# Each label more is a plan on top of a plan; above this, other constructions serve better.
MOST_FOR_ONE_MORE = 150
# Above these the search over all splits costs more than it saves.
MOST_LABELS_TO_SPLIT, MOST_ORDER_TO_SPLIT = 40, 3


def single_row(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """All labels in one labelset, or for r=1 the labels dealt out."""
    if n_labels <= k or r == 1:
        size = -(-n_labels // k)
        rows = np.full(size * k, -1, dtype=np.int32)
        rows[:n_labels] = np.arange(n_labels)
        yield Plan(size, "each label once", lambda: rows.reshape(size, k))


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


def shortened_designs(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan a design that covers every pair once on enough points, some of them taken out."""
    if r != 2:
        return
    limit = min(limit, int(MOST_ABOVE * fewest_rows(n_labels, k, r)) + 1)
    for points, title, blocks in sorted(_designs(k, n_labels, limit), key=lambda each: each[0]):
        size = points * (points - 1) // (k * (k - 1))
        if size >= limit:
            return
        found = blocks()
        if found is not None:
            yield _shortened_plan(size, title, lambda found=found: found, points, n_labels)
            return


def _shortened_plan(size: int, title: str, blocks: Callable, points: int, n_labels: int) -> Plan:
    title += ", shortened" if points > n_labels else ""
    return Plan(size, title, lambda: shortened(blocks(), points, n_labels))


def _designs(k: int, least: int, limit: int) -> list[tuple[int, str, Callable]]:
    """Return designs of blocks of k points, at least `least` of them: (points, title, blocks)."""
    most = least
    while most * (most - 1) // (k * (k - 1)) < limit and most < 4 * least + 4 * k * k:
        most += 1
    found: list[tuple[int, str, Callable]] = []
    q = k - 1
    for n in range(2, most.bit_length() + 1):
        if prime_power(k):
            lines = partial(geometry.affine_lines, n, k)
            found.append((k**n, f"affine geometry AG({n}, {k})", lines))
        if prime_power(q):
            lines = partial(geometry.projective_lines, n, q)
            points = (q ** (n + 1) - 1) // (q - 1)
            found.append((points, f"projective geometry PG({n}, {q})", lines))
    if prime_power(q) and q * q <= 64:
        lines = partial(geometry.hermitian_unital, q)
        found.append((q**3 + 1, f"Hermitian unital of order {q}", lines))
    for q in (4, 8, 16, 32, 64, 128):
        if prime_power(k) and k % 2 == 0 and q > k:
            title = f"maximal arc of degree {k} in AG(2, {q})"
            found.append(((q + 1) * (k - 1) + 1, title, partial(geometry.denniston_arc, k, q)))
    step = k * (k - 1)
    for q in range((least + step - 2) // step * step + 1, most + 1, step):
        if prime_power(q):
            title = f"difference family over GF({q})"
            found.append((q, title, partial(family_blocks, k, q)))
    return [design for design in found if least <= design[0] <= most]


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
            if k <= inside <= k * g:
                sizes = tuple(inside // k + (i < inside % k) for i in range(k))
                hopeful = g * g + sum(fewest_rows(s + w, k, 2) for s in sizes if s + w > 1)
                candidates.append((hopeful, g, w, sizes))
    for hopeful, g, w, sizes in sorted(candidates):
        if hopeful >= limit:
            return
        parts = [planner.smallest(s + w, k, 2) for s in sizes]
        size = g * g + sum(part.size for part in parts)
        if size < limit:
            limit = size
            title = f"transversal design TD({k}, {g}), groups filled"
            yield Plan(size, title, partial(_filled_transversal, k, g, w, sizes, parts))


def _filled_transversal(k: int, g: int, w: int, sizes: tuple[int, ...], parts: list[Plan]) -> Rows:
    ends = np.cumsum(sizes)
    starts = ends - sizes
    design = transversal_design(k, g)
    rows = [np.where(design < np.array(sizes), design + starts, -1)]
    infinity = np.arange(ends[-1], ends[-1] + w)
    for part, start, end in zip(parts, starts, ends, strict=True):
        rows.append(_placed(part.build(), np.arange(start, end), infinity))
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


def circles(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan the circles of a finite sphere, or the planes of AG(n, 2): every triple once."""
    if r != 3:
        return
    designs: list[tuple[int, str, Callable]] = []
    if k == 4:
        n = max(3, (n_labels - 1).bit_length())
        designs.append((2**n, f"planes of AG({n}, 2)", partial(geometry.binary_planes, n)))
    q, d = k - 1, 2
    if prime_power(q):
        while q**d + 1 < n_labels:
            d += 1
        circles = partial(geometry.sphere_circles, q, d)
        designs.append((q**d + 1, f"circles over GF({q**d})", circles))
    for points, title, blocks in designs:
        size = points * (points - 1) * (points - 2) // (k * (k - 1) * (k - 2))
        if size < limit and points <= MOST_CIRCLE_POINTS:
            yield _shortened_plan(size, title, blocks, points, n_labels)


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


def multiplied(planner: Planner, n_labels: int, k: int, r: int, limit: int) -> PlanIterator:
    """Plan a cover of bundles of w labels: C(wv, wl, r) ≤ C(v, l, r)."""
    if n_labels <= k or r < 2:
        return
    shapes = [(-(-n_labels // w), k // w, w) for w in range(2, k // r + 1)]
    for hopeful, w, bundles, each in sorted((fewest_rows(b, l, r), w, b, l) for b, l, w in shapes):
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
        for s in range(max(0, r - w), min(r, v) + 1):
            # How many places of a row may go to the first half.
            choices = range(s, k - (r - s) + 1) if 0 < s < r else (0 if s == 0 else k,)
            bounds = [fewest_rows(v, l, s) * fewest_rows(w, k - l, r - s) for l in choices]
            joints.append((min(bounds), s, choices[int(np.argmin(bounds))]))
        if sum(hopeful for hopeful, _, _ in joints) >= limit:
            continue
        parts = [
            (planner.smallest(v, l, s), planner.smallest(w, k - l, r - s)) for _, s, l in joints
        ]
        size = sum(first.size * second.size for first, second in parts)
        if size < limit:
            limit = size
            yield Plan(size, f"covers of {v} and {w} labels joined", partial(_joined, parts, v))


def _joined(parts: list[tuple[Plan, Plan]], v: int) -> Rows:
    tables = []
    for one, other in parts:
        first, second = one.build(), other.build()
        second = np.where(second < 0, -1, second + v)
        i, j = np.divmod(np.arange(len(first) * len(second)), len(second))
        tables.append(np.column_stack([first[i], second[j]]))
    return np.vstack(tables).astype(np.int32)


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


#: The constructions, in the order in which a `Planner` tries them: those that settle it first.
RULES = (
    single_row,
    all_pairs,
    triples,
    shortened_designs,
    filled_transversals,
    circles,
    doubled_quadruples,
    multiplied,
    two_halves,
    quadruple_families,
    one_point_more,
)
