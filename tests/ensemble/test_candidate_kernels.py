"""Compiled loops over candidates, against plain twins."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from labelcover.covers import Cover
from labelcover.ensemble.candidate_kernels import merge_others, true_candidates
from labelcover.ensemble.labelset_lifts import PSEUDO_COUNT, fit_lifts


def candidates_of(random, n, m, most):
    """Return distinct candidates of each row, some rows with fewer than `most`."""
    found = np.array([random.permutation(m)[:most] for _ in range(n)], dtype=np.int32)
    found[random.random((n, most)) < 0.2] = -1
    return np.array([sorted(row, key=lambda j: j < 0) for row in found], dtype=np.int32)


def test_candidates_are_true_where_the_table_says_so():
    random = np.random.default_rng(0)
    Y = sparse.csr_array((random.random((40, 12)) < 0.3).astype(np.uint8))
    candidates = candidates_of(random, 40, 12, 5)
    found = true_candidates(candidates, Y.indices, Y.indptr)
    dense = np.column_stack([Y.toarray(), np.zeros(40)])
    np.testing.assert_array_equal(found, np.take_along_axis(dense, candidates, axis=1) > 0)


def test_merged_labels_are_the_greatest_of_the_whole_table():
    random = np.random.default_rng(1)
    labels = candidates_of(random, 30, 12, 5)
    confidence = np.where(labels >= 0, -np.sort(-random.random((30, 5)), axis=1), 0)
    others = random.random(12) / 2
    table = np.tile(others, (30, 1))
    rows, places = np.nonzero(labels >= 0)
    table[rows, labels[rows, places]] = confidence[rows, places]
    order = np.argsort(-others, kind="stable")
    for most in (1, 4, 12):
        found, values = merge_others(labels, confidence, others, order, most)
        np.testing.assert_array_equal(values, -np.sort(-table, axis=1)[:, :most])
        np.testing.assert_array_equal(np.take_along_axis(table, found, axis=1), values)


def plain_patterns(labelset, p):
    """Yield every pattern of a labelset with its probability for independent labels."""
    for bits in product((0, 1), repeat=len(labelset)):
        yield bits, np.prod([p[j] if b else 1 - p[j] for b, j in zip(bits, labelset, strict=True)])


def plain_changes(cover, rows, left_out):
    """Return the changes of the log-odds of all candidates; `rows` are (p, true labels, weight)."""
    labelsets = [[j for j in labelset if j >= 0] for labelset in cover.labelsets.tolist()]
    observed, expected = {}, {}
    for p, true, weight in rows:
        for number, labelset in enumerate(labelsets):
            if sum(j in p for j in labelset) >= 2:
                full = {j: p.get(j, 0.0) for j in labelset}
                own = number, tuple(int(j in true and j in p) for j in labelset)
                observed[own] = observed.get(own, 0) + weight
                for bits, chance in plain_patterns(labelset, full):
                    expected[number, bits] = expected.get((number, bits), 0) + weight * chance
    found = []
    for p, true, weight in rows:
        changes = {j: [] for j in p}
        for number, labelset in enumerate(labelsets):
            if sum(j in p for j in labelset) < 2:
                continue
            full = {j: p.get(j, 0.0) for j in labelset}
            own = tuple(int(j in true and j in p) for j in labelset)
            chances = {}
            for bits, chance in plain_patterns(labelset, full):
                seen, thought = observed.get((number, bits), 0), expected[number, bits]
                if left_out:
                    seen -= weight * (bits == own)
                    thought -= weight * chance
                chances[bits] = chance * (seen + PSEUDO_COUNT) / (thought + PSEUDO_COUNT)
            for place, j in enumerate(labelset):
                if j in p:
                    share = sum(c for bits, c in chances.items() if bits[place])
                    odds = share / (sum(chances.values()) - share)
                    changes[j].append(np.log(odds) - np.log(p[j] / (1 - p[j])))
        found.append({j: np.mean(own) if own else 0.0 for j, own in changes.items()})
    return found


@pytest.mark.parametrize("left_out", [False, True])
def test_labelsets_change_log_odds_by_the_patterns_that_occur(left_out):
    random = np.random.default_rng(2)
    cover = Cover([[0, 1, 2], [2, 3, 4], [1, 5], [0, 6, 7]], n_labels=8)
    candidates = candidates_of(random, 50, 8, 5)
    P = random.uniform(0.05, 0.95, candidates.shape)
    truth = (random.random(candidates.shape) < P) & (candidates >= 0)
    weights = random.uniform(0.5, 2, 50)
    lifts = fit_lifts(cover, candidates, P, truth, weights)
    found = lifts.changes(candidates, P, (truth, weights) if left_out else None)
    rows = []
    for i in range(50):
        own = candidates[i] >= 0
        p = dict(zip(candidates[i][own].tolist(), P[i][own].tolist(), strict=True))
        rows.append((p, set(candidates[i][truth[i]].tolist()), weights[i]))
    expected = plain_changes(cover, rows, left_out)
    for i in range(50):
        for c, j in enumerate(candidates[i].tolist()):
            assert found[i, c] == pytest.approx(expected[i][j] if j >= 0 else 0.0, abs=1e-9)
