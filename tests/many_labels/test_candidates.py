"""Candidates of rows: which are true, the likeliest of all labels, and labelsets that hold them."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from labelcover.covers import Cover
from labelcover.many_labels import Candidates
from labelcover.many_labels import _candidates as candidates
from labelcover.many_labels._candidate_probabilities import PSEUDO_COUNT, fit_lifts
from labelcover.many_labels._candidates import true_candidates


def candidates_of(random, n, m, most):
    """Return distinct candidates of each row, some rows with fewer than `most`."""
    found = np.array([random.permutation(m)[:most] for _ in range(n)], dtype=np.int32)
    found[random.random((n, most)) < 0.2] = -1
    return np.array([sorted(row, key=lambda j: j < 0) for row in found], dtype=np.int32)


@pytest.mark.parametrize("cells", [12, 10**6])
def test_candidates_are_true_where_the_table_says_so(cells, monkeypatch):
    monkeypatch.setattr(candidates, "BLOCK_CELLS", cells)
    random = np.random.default_rng(0)
    Y = sparse.csr_array((random.random((40, 12)) < 0.3).astype(np.uint8))
    labels = candidates_of(random, 40, 12, 5)
    dense = np.column_stack([Y.toarray(), np.zeros(40)])
    expected = np.take_along_axis(dense, labels, axis=1) > 0
    np.testing.assert_array_equal(true_candidates(labels, Y), expected)
    assert not true_candidates(labels, sparse.csr_array((40, 12))).any()


@pytest.mark.parametrize("cells", [12, 10**6])
def test_top_labels_are_the_greatest_of_the_whole_table(cells, monkeypatch):
    monkeypatch.setattr(candidates, "BLOCK_CELLS", cells)
    random = np.random.default_rng(1)
    labels = candidates_of(random, 30, 12, 5)
    confidence = np.where(labels >= 0, -np.sort(-random.random((30, 5)), axis=1), 0)
    found = Candidates(labels, confidence, random.random(12) / 2)
    table = found.dense()
    for most in (1, 4, 12):
        top = found.top(most)
        np.testing.assert_array_equal(top.confidence, -np.sort(-table, axis=1)[:, :most])
        np.testing.assert_array_equal(np.take_along_axis(table, top.labels, axis=1), top.confidence)
        assert all(len(set(row)) == most for row in top.labels.tolist())


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
    own_labels = candidates_of(random, 50, 8, 5)
    P = random.uniform(0.05, 0.95, own_labels.shape)
    truth = (random.random(own_labels.shape) < P) & (own_labels >= 0)
    weights = random.uniform(0.5, 2, 50)
    lifts = fit_lifts(cover, own_labels, P, truth, weights)
    found = lifts.changes(own_labels, P, (truth, weights) if left_out else None)
    rows = []
    for i in range(50):
        own = own_labels[i] >= 0
        p = dict(zip(own_labels[i][own].tolist(), P[i][own].tolist(), strict=True))
        rows.append((p, set(own_labels[i][truth[i]].tolist()), weights[i]))
    expected = plain_changes(cover, rows, left_out)
    for i in range(50):
        for c, j in enumerate(own_labels[i].tolist()):
            assert found[i, c] == pytest.approx(expected[i][j] if j >= 0 else 0.0, abs=1e-9)
