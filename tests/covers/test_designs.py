"""Designs by algebra, checked with plain sets."""

import json
import runpy
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers._designs.constructions import (
    RULES,
    most_groups,
    one_factorisation,
    transversal_design,
    triple_cover,
)
from labelcover.covers._designs.cyclic_kernels import wilson_block
from labelcover.covers._designs.difference import developed, family_rows, wilson_family
from labelcover.covers._designs.geometry import (
    GaloisField,
    affine_lines,
    binary_planes,
    denniston_arc,
    hermitian_unital,
    prime_power,
    projective_lines,
    sphere_circles,
)
from labelcover.covers._designs.plans import Planner, shortened
from labelcover.covers.bounds import lower_bound


def assert_each_once(blocks, points, r=2):
    subsets = [c for block in blocks for c in combinations(sorted(map(int, block)), r)]
    assert len(subsets) == len(set(subsets)) == comb(points, r)
    assert set().union(*map(set, subsets)) == set(range(points))


def uncovered(rows, n_labels, r):
    covered = {c for row in rows for c in combinations(sorted(x for x in row if x >= 0), r)}
    return set(combinations(range(n_labels), r)) - covered


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27, 31])
def test_the_field_obeys_its_laws(q):
    field = GaloisField(q)
    a, b, c = np.meshgrid(*[np.arange(q)] * 3, indexing="ij")
    left = field.multiply(a, field.add(b, c))
    assert np.array_equal(left, field.add(field.multiply(a, b), field.multiply(a, c)))
    assert np.array_equal(field.subtract(field.add(a, b), b), a)
    assert (field.multiply(np.arange(1, q), field.power(np.arange(1, q), -1)) == 1).all()
    assert sorted(field.exponential(np.arange(q - 1))) == list(range(1, q))


@pytest.mark.parametrize("q", [6, 10, 12, 1])
def test_there_is_no_field_of_other_orders(q):
    assert prime_power(q) is None
    with pytest.raises(ValueError, match="prime power"):
        GaloisField(q)


@pytest.mark.parametrize(("n", "q"), [(2, 2), (2, 4), (2, 7), (2, 9), (3, 3), (4, 2)])
def test_two_points_are_on_one_line(n, q):
    assert_each_once(affine_lines(n, q), q**n)
    assert_each_once(projective_lines(n, q), (q ** (n + 1) - 1) // (q - 1))


@pytest.mark.parametrize("q", [2, 3, 4])
def test_two_points_of_a_unital_are_in_one_block(q):
    blocks = hermitian_unital(q)
    assert blocks.shape[1] == q + 1
    assert_each_once(blocks, q**3 + 1)


@pytest.mark.parametrize(("degree", "q"), [(2, 4), (4, 8), (4, 16), (8, 16)])
def test_a_line_meets_a_maximal_arc_in_all_or_nothing(degree, q):
    blocks = denniston_arc(degree, q)
    assert blocks.shape[1] == degree
    assert_each_once(blocks, (q + 1) * (degree - 1) + 1)


@pytest.mark.parametrize(("q", "n"), [(2, 3), (3, 2), (4, 2), (5, 2)])
def test_three_points_are_on_one_circle(q, n):
    assert_each_once(sphere_circles(q, n), q**n + 1, 3)


def test_three_points_are_in_one_binary_plane():
    assert_each_once(binary_planes(4), 16, 3)


@pytest.mark.parametrize(
    ("k", "q"), [(4, 13), (4, 25), (5, 41), (5, 101), (6, 31), (6, 151), (7, 169), (9, 73)]
)
def test_translates_of_a_difference_family_cover_each_pair_once(k, q):
    assert_each_once(developed(wilson_family(k, q), q), q)


@pytest.mark.parametrize(("k", "q"), [(6, 61), (7, 43), (5, 40), (5, 23)])
def test_a_family_that_does_not_exist_or_is_not_found_is_none(k, q):
    assert wilson_family(k, q) is None


@pytest.mark.parametrize(("k", "g"), [(3, 2), (5, 4), (8, 7), (6, 9), (4, 15), (8, 56)])
def test_a_transversal_block_joins_each_pair_of_groups_once(k, g):
    design = transversal_design(k, g)
    assert design.shape == (g * g, k)
    for i, j in combinations(range(k), 2):
        assert len(set(zip(design[:, i].tolist(), design[:, j].tolist(), strict=True))) == g * g


def test_too_many_groups_are_refused():
    assert most_groups(12) == 4
    with pytest.raises(ValueError, match="at most 4 for g=12"):
        transversal_design(5, 12)


@pytest.mark.parametrize("n_labels", [*range(3, 50), 100, 101, 102, 103, 104, 105])
def test_triples_are_optimal_and_balanced(n_labels):
    rows = triple_cover(n_labels)
    assert not uncovered(rows, n_labels, 2)
    assert len(rows) == lower_bound(n_labels, 3, 2)
    assert np.ptp(np.bincount(rows.ravel(), minlength=n_labels)) <= 1


def test_every_pair_meets_in_one_round():
    rounds = one_factorisation(10)
    assert all(len(set(pairs.ravel().tolist())) == 10 for pairs in rounds)
    assert_each_once(rounds.reshape(-1, 2), 10)


def test_points_are_taken_out_block_by_block():
    rows = shortened(projective_lines(2, 3), 13, 9)
    # The points of a line of PG(2, 3): the rest is AG(2, 3) and the line is gone.
    assert len(rows) == 12
    assert ((rows >= 0).sum(axis=1) == 3).all()
    assert not uncovered(rows, 9, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.integers(2, 9), st.integers(1, 3))
def test_every_plan_keeps_its_promise(n_labels, k, r):
    if not r <= k <= n_labels or (r == 3 and n_labels > 22):
        return
    for plan in Planner(RULES).plans(n_labels, k, r):
        rows = plan.build()
        assert len(rows) <= plan.size
        assert rows.shape[1] == k
        assert not uncovered(rows.tolist(), n_labels, r)


@pytest.mark.parametrize(
    ("n_labels", "k", "r", "size"),
    [(57, 8, 2, 57), (120, 8, 2, 255), (28, 4, 3, 819), (26, 6, 3, 130), (20, 4, 3, 285)],
)
def test_designs_are_found_where_they_exist(n_labels, k, r, size):
    assert Planner(RULES).plans(n_labels, k, r)[0].size == size


@pytest.mark.parametrize("m", range(37, 301))
def test_families_of_quadruples_are_optimal(m):
    rows = family_rows(m)
    if rows is None:
        assert m % 12 in (2, 5, 7, 10)
        assert m % 12 in (2, 5) or m < 103
        return
    hole = 22 if m % 12 in (7, 10) else 0
    covered = np.zeros((m, m), dtype=bool)
    for i, j in combinations(range(4), 2):
        held = rows[(rows[:, i] >= 0) & (rows[:, j] >= 0)]
        covered[held[:, i], held[:, j]] = covered[held[:, j], held[:, i]] = True
    expected = ~np.eye(m, dtype=bool)
    expected[m - hole :, m - hole :] = False
    assert np.array_equal(covered, expected)
    assert len(rows) + (lower_bound(22, 4) if hole else 0) == lower_bound(m, 4)
    counts = np.bincount(rows[rows >= 0], minlength=m)[: m - hole]
    assert np.ptp(counts) <= 1


def test_the_families_are_those_that_the_tool_finds(load_tool):
    tool = load_tool("find_quadruple_families")
    known = {m: found for m, *found in map(json.loads, tool.PATH.read_text().splitlines())}
    assert list(known) == [m for m in range(400) if tool.has_family(m)]
    for m in (37, 39, 42, 45, 47, 56):
        assert known[m] == list(tool.family(m))


def test_no_family_of_quadruples_is_given_where_there_is_none():
    assert [m for m in (20, 50, 53, 67, 94, 400) if family_rows(m) is not None] == []


@pytest.fixture(scope="module")
def difference_blocks():
    """The search of the tool that finds families of quadruples."""
    path = Path(__file__).resolve().parents[2] / "tools" / "find_quadruple_families.py"
    return runpy.run_path(str(path))["difference_blocks"]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_triples=st.integers(0, 2), n_quadruples=st.integers(1, 5))
def test_base_blocks_have_the_differences_wanted(difference_blocks, seed, n_triples, n_quadruples):
    """The differences of random blocks are wanted: then there are blocks that have them."""
    n, rng = 51, np.random.default_rng(seed)
    wanted = np.zeros(n, dtype=np.int64)

    def count(block):
        return Counter(min(a - b, n - a + b) for b, a in combinations(sorted(map(int, block)), 2))

    total = Counter()
    for i in range(n_triples + n_quadruples):
        block = rng.permutation(n)[: 3 if i < n_triples else 4]
        while i < n_triples and len(set(block % 3)) < 3:
            block = rng.permutation(n)[:3]
        total += count(block)
    for d, times in total.items():
        wanted[d] = wanted[n - d] = times
    order = 1 + rng.permutation(n - 1)
    n_blocks = n_triples + n_quadruples
    blocks, found, nodes = difference_blocks(wanted, n_triples, n_blocks, order, 20_000)
    assert nodes <= 20_000
    if found:
        assert sum((count(block[block >= 0]) for block in blocks), Counter()) == total
        assert all(len(set(block[:3] % 3)) == 3 for block in blocks[:n_triples])
        assert ((blocks < 0).sum(axis=1) == (np.arange(n_blocks) < n_triples)).all()
    if n_triples == 0 and n_quadruples == 1:
        assert found


def first_block_by_recursion(k, q, logarithm):
    """The plain twin of `wilson_block` over a prime field."""
    e = k * (k - 1) // 2

    def extended(block):
        if len(block) == k:
            return block
        for x in range(block[-1] + 1, q):
            more = [*block, x]
            cosets = [logarithm[b - a] % e for a, b in combinations(more, 2)]
            if len(set(cosets)) == len(cosets):
                found = extended(more)
                if found:
                    return found
        return None

    return extended([0, 1])


@pytest.mark.parametrize(("k", "q"), [(3, 7), (3, 13), (4, 37), (4, 61), (5, 41), (5, 61)])
def test_the_block_whose_differences_are_in_different_cosets_is_the_first(k, q):
    field = GaloisField(q)
    logarithm = field.logarithm(np.arange(q))
    block = wilson_block(k, np.empty((0, 0), dtype=np.int64), logarithm, 10**6)
    twin = first_block_by_recursion(k, q, logarithm.tolist())
    assert block.tolist() == (twin or [0] * k)
