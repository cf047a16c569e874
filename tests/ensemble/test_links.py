"""What labels say of each other: over the labelsets that occur, and along the links of a cover."""

import numpy as np
import pytest
from scipy.special import expit

from labelcover.covers import Cover, linked_labels
from labelcover.ensemble import _links as links_module
from labelcover.ensemble._confidence_kernels import exponentials_below
from labelcover.ensemble._links import (
    MISMATCH,
    NEW_LABELSET,
    PSEUDO_COUNT,
    count_labelsets,
    fit_links,
)


class Posterior:
    """The marginals over labelsets, before labelsets that never occurred are allowed for."""

    def __init__(self, seen):
        self.seen, self.counts, self.expected = seen, seen.counts, seen.expected

    def marginals(self, P, known=None):
        return unmixed(self.seen.log_odds(P, known), P)


def unmixed(odds, P):
    return (expit(odds) - NEW_LABELSET * P) / (1 - NEW_LABELSET)


def fit_posterior(Y, rows, P):
    seen, left_out = count_labelsets(Y, rows, P, np.ones(len(Y)))
    odds = seen.log_odds(P, np.full(P.shape, -1, np.int8), left_out)
    return Posterior(seen), unmixed(odds, P)


def test_the_compiled_exponentials_equal_their_plain_twin():
    random = np.random.default_rng(0)
    scores, shift = -random.uniform(0, 300, (6, 9)), random.normal(size=9)
    scores[2, 3] = -np.inf
    scores[4] = -np.inf
    for below in (True, False):
        found = scores.copy()
        totals = exponentials_below(found, shift - 3, below)
        top = (scores + shift - 3).max(axis=1, keepdims=True) if below else 0.0
        top = np.where(np.isfinite(top), top, 0.0)
        expected = np.exp(scores + shift - 3 - top)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(totals, expected.sum(axis=1), rtol=1e-12)


def simulated(n=60, m=3, seed=0):
    random = np.random.default_rng(seed)
    P = random.uniform(0.05, 0.95, (n, m))
    Y = (random.random((n, m)) < P).astype(np.uint8)
    Y[:, -1] = Y[:, 0]
    return Y, P


def joint(p, labelset):
    return np.prod(np.where(np.array(labelset) == 1, p, 1 - p))


def counted(Y, P):
    """How often each labelset occurs, and how often independent labels would make it."""
    found = sorted({tuple(row) for row in Y.tolist()})
    counts = {s: sum(tuple(row) == s for row in Y.tolist()) for s in found}
    expected = {s: sum(joint(p, s) for p in P) for s in found}
    return counts, expected


def plain_marginals(counts, expected, p):
    weights = {
        s: joint(p, s) * (counts[s] + PSEUDO_COUNT) / (expected[s] + PSEUDO_COUNT)
        for s in counts
        if counts[s] > 0
    }
    total = sum(weights.values())
    return sum(np.array(s) * w for s, w in weights.items()) / total


@pytest.mark.parametrize("seed", range(3))
def test_marginals_of_new_rows_are_those_of_enumeration(seed):
    Y, P = simulated(seed=seed)
    posterior, _ = fit_posterior(Y, np.arange(60), P)
    counts, expected = counted(Y, P)
    new = np.random.default_rng(9).uniform(0.01, 0.99, (20, 3))
    plain = [plain_marginals(counts, expected, p) for p in new]
    np.testing.assert_allclose(posterior.marginals(new), plain, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_training_row_does_not_count_for_its_own_labelset(seed):
    Y, P = simulated(seed=seed)
    _, marginals = fit_posterior(Y, np.arange(60), P)
    counts, expected = counted(Y, P)
    for i, (row, p) in enumerate(zip(Y.tolist(), P, strict=True)):
        own = tuple(row)
        less = {**counts, own: counts[own] - 1}
        fewer = {**expected, own: expected[own] - joint(p, own)}
        np.testing.assert_allclose(marginals[i], plain_marginals(less, fewer, p), atol=1e-9)


def test_leaving_a_row_out_is_nearly_fitting_without_it():
    """Exact but for what the row adds to the expected counts of labelsets that it has not."""
    Y, P = simulated(300)
    _, marginals = fit_posterior(Y, np.arange(300), P)
    for i in range(0, 300, 20):
        rest = np.delete(np.arange(300), i)
        without, _ = fit_posterior(Y[rest], np.arange(299), P[rest])
        np.testing.assert_allclose(marginals[i], without.marginals(P[i : i + 1])[0], atol=0.02)


def test_leaving_a_row_out_is_fitting_without_it_where_it_expects_nothing_else():
    Y = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0]], dtype=np.uint8)
    # No other labelset that occurs is possible for row 4.
    P = np.array([[0.3, 0.2, 0.1]] * 4 + [[0.6, 1.0, 0.1]])
    _, marginals = fit_posterior(Y, np.arange(5), P)
    without, _ = fit_posterior(Y[:4], np.arange(4), P[:4])
    np.testing.assert_allclose(marginals[4], without.marginals(P[4:])[0], atol=1e-6)
    np.testing.assert_allclose(marginals[4], [1, 1, 0], atol=1e-6)


def test_a_labelset_that_only_the_row_itself_has_does_not_occur():
    Y = np.array([[1, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=np.uint8)
    P = np.full((3, 3), 0.9)
    _, marginals = fit_posterior(Y, np.arange(3), P)
    np.testing.assert_allclose(marginals[0], 0, atol=1e-9)
    assert (marginals[1:] > 0).all()


def test_the_only_row_keeps_its_probabilities():
    P = np.array([[0.2, 0.7]])
    _, marginals = fit_posterior(np.array([[0, 1]], dtype=np.uint8), np.arange(1), P)
    np.testing.assert_allclose(marginals, P)


def test_blocks_of_rows_change_nothing(monkeypatch):
    Y, P = simulated()
    posterior, left_out = fit_posterior(Y, np.arange(60), P)
    whole = posterior.marginals(P)
    monkeypatch.setattr(links_module, "BLOCK_NUMBERS", 30)
    parts, of_parts = fit_posterior(Y, np.arange(60), P)
    np.testing.assert_allclose(parts.expected, posterior.expected)
    np.testing.assert_allclose(of_parts, left_out)
    np.testing.assert_allclose(parts.marginals(P), whole)


def test_some_of_the_rows_stand_for_all():
    Y, P = simulated(200)
    rows = np.arange(0, 200, 2)
    whole, _ = fit_posterior(Y, np.arange(200), P)
    part, marginals = fit_posterior(Y, rows, P[rows])
    assert marginals.shape == (100, 3)
    np.testing.assert_array_equal(part.counts, whole.counts)
    np.testing.assert_allclose(part.expected.sum(), whole.expected.sum(), rtol=0.1)


def test_rare_labelsets_are_dropped_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(links_module, "MOST_LABELSETS", 2)
    Y, P = simulated(100, 4)
    posterior, marginals = fit_posterior(Y, np.arange(100), P)
    found, counts = np.unique(Y, axis=0, return_counts=True)
    assert sorted(posterior.counts) == sorted(counts)[-2:]
    assert len(found) > 2
    assert np.isfinite(marginals).all()


@pytest.mark.parametrize("sure", [0.0, 1e-300, 1e-12])
def test_certain_probabilities_give_no_nan(sure):
    Y, _ = simulated(20)
    P = np.where(Y == 1, sure, 1 - sure)
    posterior, marginals = fit_posterior(Y, np.arange(20), P)
    for found in (marginals, posterior.marginals(P), posterior.marginals(1 - P)):
        assert np.isfinite(found).all()
        assert ((found >= -1e-12) & (found <= 1 + 1e-12)).all()


@pytest.mark.parametrize("seed", range(3))
def test_known_labels_make_labelsets_that_differ_unlikely(seed):
    Y, P = simulated(seed=seed)
    posterior, _ = fit_posterior(Y, np.arange(60), P)
    counts, expected = counted(Y, P)
    known = np.array([[1, -1, -1], [-1, 0, 1], [0, 1, 0]], dtype=np.int8)
    new = np.random.default_rng(9).uniform(0.01, 0.99, (3, 3))
    told = np.where(known < 0, new, expit(MISMATCH * (2.0 * known - 1)))
    plain = [plain_marginals(counts, expected, p) for p in told]
    np.testing.assert_allclose(posterior.marginals(new, known), plain, atol=1e-9)


def test_labels_are_linked_if_a_labelset_holds_both():
    together = linked_labels(Cover([[0, 1, 2], [2, 3]], 5)).toarray() > 0
    pairs = {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert {(j, k) for j, k in np.argwhere(together).tolist() if j < k} == pairs
    np.testing.assert_array_equal(together, together.T)


FREQUENCY = np.full(4, 0.5)


def dependent_labels(n=500, seed=0):
    """Labels 0 and 1 are nearly the same, 2 excludes 0, 3 has nothing to do with them."""
    random = np.random.default_rng(seed)
    P = random.uniform(0.2, 0.8, (n, 4))
    Y = (random.random((n, 4)) < P).astype(np.uint8)
    Y[:, 1] = np.where(random.random(n) < 0.95, Y[:, 0], Y[:, 1])
    Y[:, 2] &= 1 - Y[:, 0]
    return Y, P


def test_known_labels_speak_for_and_against_others():
    Y, P = dependent_labels()
    links, _ = fit_links(Y, np.arange(500), P, Cover([[0, 1, 2], [0, 1, 3]], 4), FREQUENCY)
    row = np.full((1, 4), 0.5)

    def odds(*known):
        return links.log_odds(row, np.array([known], dtype=np.int8))[0]

    nothing = links.log_odds(row)[0]
    with_it, without_it = odds(1, -1, -1, -1), odds(0, -1, -1, -1)
    assert with_it[1] > nothing[1] + 1 > without_it[1] + 2
    assert with_it[2] < nothing[2] < without_it[2]
    assert abs(with_it[3] - nothing[3]) < 0.5
    np.testing.assert_array_equal(odds(-1, -1, -1, -1), nothing)


def test_labels_without_links_have_no_weights():
    Y, P = dependent_labels()
    links, _ = fit_links(Y, np.arange(500), P, Cover([[0], [1], [2], [3]], 4), FREQUENCY)
    assert links.weights.nnz == 0


def test_weights_of_rows_are_as_good_as_copies():
    Y, P = dependent_labels(200)
    weights = np.where(np.arange(200) < 50, 2.0, 1.0)
    twice = np.concatenate([np.arange(200), np.arange(50)])
    cover = Cover([[0, 1, 2]], 4)
    links, _ = fit_links(Y, np.arange(200), P, cover, FREQUENCY, weights)
    copied, _ = fit_links(Y[twice], np.arange(250), P[twice], cover, FREQUENCY)
    np.testing.assert_allclose(links.seen.counts, copied.seen.counts * 200 / 250)


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_a_row_that_contradicts_every_labelset_has_finite_odds(sure):
    Y, P = dependent_labels(100)
    Y[:, 2] = 0
    links, _ = fit_links(Y, np.arange(100), P, Cover([[0, 1, 2], [0, 1, 3]], 4), FREQUENCY)
    known = np.array([[1, 0, 1, -1], [1, 1, 1, 1]], dtype=np.int8)
    assert np.isfinite(links.log_odds(np.full((2, 4), sure), known)).all()


def test_the_same_seed_hides_the_same_labels():
    Y, P = dependent_labels(150)
    cover = Cover([[0, 1, 2]], 4)
    one, other = (fit_links(Y, np.arange(150), P, cover, FREQUENCY, seed=3)[0] for _ in range(2))
    np.testing.assert_array_equal(one.weights.toarray(), other.weights.toarray())


def half_unknown(Y):
    return (np.random.default_rng(1).random(Y.shape) < 0.5).astype(float)


def test_unknown_labels_are_drawn_as_the_known_ones_of_a_row_have_it():
    """Two labelsets occur; drawn by the probabilities alone, a third of the rows would have one."""
    first = np.random.default_rng(0).random((400, 1)) < 0.5
    Y = np.where(first, [1, 1, 0, 0], [0, 0, 1, 1]).astype(np.uint8)
    P, cells = np.full(Y.shape, 0.5), half_unknown(Y)
    cover = Cover([[0, 1, 2], [0, 1, 3], [1, 2, 3]], 4)
    links, _ = fit_links(Y, np.arange(400), P, cover, np.full(4, 0.5), cells=cells)
    true = np.isin(links.seen.labelsets @ (8, 4, 2, 1), (0b1100, 0b0011))
    assert links.seen.counts[true].sum() > 0.9 * 400


def test_a_label_never_known_to_be_absent_says_nothing():
    Y, P = dependent_labels(300)
    cells = half_unknown(Y)
    cells[:, 0] *= Y[:, 0]
    P[:, 0] = 0.97
    links, _ = fit_links(Y, np.arange(300), P, Cover([[0, 1, 2]], 4), FREQUENCY, cells=cells)
    told = np.full((300, 4), -1, np.int8)
    told[:, 0] = 0
    assert set(links.seen.labelsets[:, 0]) == {1}
    alone = links.seen.log_odds(P, np.full((300, 4), -1, np.int8))[:, 1:]
    np.testing.assert_allclose(links.seen.log_odds(P, told)[:, 1:], alone, rtol=1e-9)
