"""The permutation search against trying everything."""

from copy import deepcopy
from itertools import combinations, permutations

import numpy as np
import pytest

from labelcover.covers import Cover
from labelcover.dependence import _permutation as search
from labelcover.dependence import adapt_cover, annealing_iterations, label_dependence
from labelcover.dependence._dependence_kernels import anneal, covered_now, rank_table, swap_changes


def random_labels(seed, m, n=300):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 3)) @ random.normal(size=(3, m)) * random.choice([0.5, 1, 2])
    return (hidden + random.normal(size=(n, m)) > 0.5 + 0.5 * random.normal(size=m)).astype(int)


def random_pair_cover(seed, m, k):
    random = np.random.default_rng(seed)
    missing = set(combinations(range(m), 2))
    rows = []
    while missing:
        row = np.sort(random.permutation(m)[:k]).tolist()
        new = missing & set(combinations(row, 2))
        if new:
            rows.append(row)
            missing -= new
    return Cover(rows, m)


def best_of_all_permutations(cover, dependence):
    """Greatest merit over all m! placements of the labels."""
    m, r = cover.n_labels, dependence.r
    together = np.zeros((m,) * r, dtype=bool)
    for row in cover.labelsets:
        for columns in permutations(row, r):
            together[columns] = True
    columns = np.array(list(permutations(range(m))))
    merit = np.zeros(len(columns))
    for labels, weight in zip(dependence.labelsets, dependence.weights, strict=True):
        merit += weight * together[tuple(columns[:, label] for label in labels)]
    return merit.max()


def test_at_least_95_of_100_searches_reach_the_optimum_for_up_to_8_labels():
    reached = 0
    for case in range(100):
        m = 5 + case % 4
        k = 3 + case // 4 % (m - 4)
        cover = random_pair_cover(case, m, k)
        dependence = label_dependence(random_labels(case, m), 3)
        adapted = adapt_cover(cover, dependence, random_state=case)
        optimum = best_of_all_permutations(cover, dependence)
        assert adapted.merit <= optimum * (1 + 1e-12)
        reached += adapted.merit >= optimum * (1 - 1e-9)
    assert reached >= 95


def problem_of(seed, m=20, k=5, r=3):
    cover = random_pair_cover(seed, m, k)
    dependence = label_dependence(random_labels(seed, m), r)
    return cover, dependence, search._problem(cover, dependence)


@pytest.mark.parametrize("r", [2, 3, 4])
def test_incremental_merit_is_the_recomputed_merit_after_thousands_of_swaps(r):
    cover, dependence, problem = problem_of(r, r=r)
    # Pairs are all covered, so that their merit must not move at all.
    random = np.random.RandomState(0)
    swaps = search._random_swaps(np.arange(20), 20, 5000, random)
    hot = np.full(5000, 1e300)
    best_column, best, column, merit = anneal(
        problem, np.arange(20), swaps, random.random_sample(5000), hot
    )
    last = cover.permute(np.argsort(column))
    assert merit == pytest.approx(dependence.merit(last), rel=1e-9)
    assert best == pytest.approx(dependence.merit(cover.permute(np.argsort(best_column))), rel=1e-9)
    assert best >= merit * (1 - 1e-9)


def test_the_change_of_a_swap_is_the_difference_of_merits():
    cover, dependence, problem = problem_of(4)
    column = np.random.default_rng(0).permutation(20)
    swaps = np.array(list(combinations(range(20), 2)))
    changes = swap_changes(problem, column, swaps)
    before = dependence.merit(cover.permute(np.argsort(column)))
    for (x, y), change in zip(swaps, changes, strict=True):
        swapped = column.copy()
        swapped[[x, y]] = swapped[[y, x]]
        after = dependence.merit(cover.permute(np.argsort(swapped)))
        assert change == pytest.approx(after - before, abs=1e-9 * dependence.weights.sum())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_table_of_ranks_holds_each_once(dtype):
    ranks = np.random.default_rng(0).integers(10_000, size=500).astype(dtype)
    table = rank_table(ranks)
    assert table.dtype == dtype
    assert sorted(table[table >= 0].tolist()) == sorted(set(ranks.tolist()))


@pytest.mark.parametrize("r", [2, 3, 4])
def test_labelsets_are_covered_if_their_columns_lie_in_one_row(r):
    cover, dependence, problem = problem_of(r, k=6, r=r)
    column = np.random.default_rng(r).permutation(20)
    found = covered_now(problem, column)
    rows = [set(row) for row in cover.labelsets.tolist()]
    expected = [any(set(column[labels]) <= row for row in rows) for labels in dependence.labelsets]
    assert found.tolist() == expected


def annealed_in_numpy(cover, dependence, column, swaps, draws, temperatures):
    """The plain twin of the compiled loop: every merit is computed anew."""

    def merit_of(columns):
        return dependence.merit(cover.permute(np.argsort(columns)))

    column = column.copy()
    merit = merit_of(column)
    best, best_column = merit, column.copy()
    for (x, y), draw, temperature in zip(swaps, draws, temperatures, strict=True):
        candidate = column.copy()
        candidate[[x, y]] = candidate[[y, x]]
        after = merit_of(candidate)
        if after >= merit or draw < np.exp((after - merit) / temperature):
            column, merit = candidate, after
            if merit > best:
                best, best_column = merit, column.copy()
    return best_column, best, column, merit


def test_the_compiled_search_walks_as_its_numpy_twin():
    cover, dependence, problem = problem_of(1, m=12, k=4)
    random = np.random.RandomState(3)
    swaps = search._random_swaps(np.arange(12), 12, 400, random)
    draws = random.random_sample(400)
    temperatures = dependence.weights.mean() * 0.99 ** np.arange(400)
    arguments = {"swaps": swaps, "draws": draws, "temperatures": temperatures}
    before = deepcopy(problem)
    got = anneal(problem, np.arange(12), **arguments)
    for array, as_before in zip(problem, before, strict=True):
        np.testing.assert_array_equal(array, as_before)
    want = annealed_in_numpy(cover, dependence, np.arange(12), **arguments)
    np.testing.assert_array_equal(got[2], want[2])
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == pytest.approx(want[1])
    assert got[3] == pytest.approx(want[3])


def test_an_adapted_cover_is_the_permuted_cover_and_never_worse():
    for seed in range(10):
        cover = random_pair_cover(seed, 10, 4)
        dependence = label_dependence(random_labels(seed, 10), 3)
        adapted = adapt_cover(cover, dependence, n_iterations=5, n_restarts=1, random_state=seed)
        assert adapted.cover == cover.permute(adapted.permutation)
        assert adapted.merit == dependence.merit(adapted.cover)
        assert adapted.merit_before == dependence.merit(cover)
        assert adapted.merit_before <= adapted.merit <= adapted.total
        assert adapted.cover.coverage(2) == 1.0
        assert adapted.cover.imbalance == cover.imbalance


def temperatures_of(monkeypatch, **parameters):
    """Return the temperatures of the first search."""
    seen = []

    def spy(*arguments):
        seen.append(arguments[-1])
        return anneal(*arguments)

    monkeypatch.setattr(search, "anneal", spy)
    cover = random_pair_cover(0, 10, 4)
    dependence = label_dependence(random_labels(0, 10), 3)
    adapt_cover(cover, dependence, n_restarts=1, random_state=0, **parameters)
    (temperatures,) = seen
    return temperatures


@pytest.mark.parametrize("decay", [0.85, 0.5, 0.99])
def test_the_temperature_falls_by_the_factor_asked_for(monkeypatch, decay):
    options = {"decay": decay, "first_temperature": 40.0, "n_iterations": 3000}
    temperatures = temperatures_of(monkeypatch, **options)
    assert len(temperatures) == 3000
    assert temperatures[0] == 40.0
    falls = temperatures[1:] / temperatures[:-1]
    np.testing.assert_allclose(falls[falls < 1], decay)
    assert 40e-3 <= temperatures[-1] <= 40e-3 / decay**2


def test_the_first_temperature_is_the_mean_change_of_a_swap(monkeypatch):
    by_default = temperatures_of(monkeypatch)
    assert by_default[0] > 0
    given = temperatures_of(monkeypatch, first_temperature=float(by_default[0]))
    np.testing.assert_array_equal(by_default, given)


def test_small_integers_of_numpy_are_numbers_of_iterations():
    cover = random_pair_cover(0, 10, 4)
    dependence = label_dependence(random_labels(0, 10), 3)
    one, other = (
        adapt_cover(cover, dependence, n_iterations=n, n_restarts=r, random_state=0)
        for n, r in [(250, 2), (np.uint8(250), np.uint8(2))]
    )
    assert one.cover == other.cover


def test_same_seed_same_permutation():
    cover = random_pair_cover(0, 15, 4)
    dependence = label_dependence(random_labels(0, 15), 3)
    one, two = (adapt_cover(cover, dependence, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.permutation, two.permutation)


@pytest.mark.parametrize(
    "Y",
    [np.zeros((10, 6)), np.ones((10, 6)), np.tile([1, 1, 1, 0, 0, 0], (9, 1)), np.eye(3, 6)],
    ids=["no label", "all labels", "a single labelset", "fewer rows than labels"],
)
def test_without_dependence_a_cover_stays_a_cover(Y):
    cover = Cover([[0, 1, 2], [3, 4, 5]], n_labels=6)
    adapted = adapt_cover(cover, label_dependence(Y, 3), random_state=0)
    assert adapted.merit == pytest.approx(0.0)
    assert adapted.cover == cover.permute(adapted.permutation)


def test_an_order_above_k_has_nothing_to_permute():
    cover = Cover([[0, 1], [2, 3]], n_labels=4)
    adapted = adapt_cover(cover, label_dependence(np.ones((9, 4)), 3), random_state=0)
    assert adapted.cover == cover


@pytest.mark.parametrize(("m", "size"), [(2, 1), (6, 7), (53, 200), (983, 32276)])
def test_iterations_follow_the_formula_of_section_4_4(m, size):
    expected = max(1368 * np.log(m) + 12 * np.log(size) - 2179, 2000)
    assert annealing_iterations(m, size) == int(expected)


def test_bad_arguments_are_named():
    cover = Cover([[0, 1, 2]], n_labels=3)
    dependence = label_dependence(np.ones((9, 3)), 3)
    with pytest.raises(ValueError, match="n_restarts"):
        adapt_cover(cover, dependence, n_restarts=0)
    with pytest.raises(ValueError, match="n_iterations"):
        adapt_cover(cover, dependence, n_iterations=0)
    with pytest.raises(ValueError, match="decay must be a number above 0 and below 1, got 1"):
        adapt_cover(cover, dependence, decay=1)
    with pytest.raises(ValueError, match="first_temperature must be a number above 0, got 0"):
        adapt_cover(cover, dependence, first_temperature=0)
    with pytest.raises(ValueError, match="random_state must be an integer between 0"):
        adapt_cover(cover, dependence, random_state=-1)
    with pytest.raises(ValueError, match="3 labels"):
        adapt_cover(Cover([[0, 1]], n_labels=2), dependence)
