"""What known labels say of candidates, against plain loops over labels."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from labelcover.covers import Cover, linked_labels
from labelcover.many_labels._candidate_links import (
    PSEUDO_COUNT,
    CandidateLinks,
    CellRegression,
    _log_lifts,
    fit_candidate_links,
)

COVER = Cover([[0, 1, 2], [2, 3, 4], [1, 5], [0, 6, 7]], n_labels=8)


def table(n=60, seed=0):
    random = np.random.default_rng(seed)
    return sparse.csr_array((random.random((n, 8)) < 0.4).astype(np.uint8))


def plain_lift(Y, j, k):
    both, expected = (Y[:, j] & Y[:, k]).sum(), Y[:, j].sum() * Y[:, k].sum() / len(Y)
    return np.log((both + PSEUDO_COUNT) / (expected + PSEUDO_COUNT))


def test_weights_are_log_lifts_of_linked_labels_and_leave_the_row_out():
    Y = table()
    together, own_pairs = (each.toarray() for each in _log_lifts(Y, COVER))
    linked, dense = linked_labels(COVER).toarray() > 0, Y.toarray()
    for j, k in np.ndindex(8, 8):
        expected = plain_lift(dense, j, k) if linked[j, k] else 0.0
        assert together[j, k] == pytest.approx(expected, abs=1e-12)
        rows = np.flatnonzero(dense[:, j] & dense[:, k])
        if linked[j, k] and len(rows):
            without = plain_lift(np.delete(dense, rows[0], axis=0), j, k)
            assert together[j, k] + own_pairs[j, k] == pytest.approx(without, abs=1e-12)


def test_candidates_given_known_labels_are_those_of_the_formula():
    random = np.random.default_rng(1)
    weights, _ = _log_lifts(table(), COVER)
    links = CandidateLinks(weights, CellRegression(np.array([0.9, 0.4, 1.1, -0.3]), 0.2))
    labels = np.array([random.permutation(8)[:4] for _ in range(30)], dtype=np.int32)
    labels[random.random(labels.shape) < 0.2] = -1
    P, others = random.uniform(0.05, 0.95, labels.shape), random.uniform(0.01, 0.1, 8)
    known = random.choice([-1, -1, 0, 1], size=(30, 8)).astype(np.int8)
    known[:5] = -1
    found, after = links.given(labels, P, known, others)
    dense, together = weights.toarray(), linked_labels(COVER).toarray() > 0
    for i in range(30):
        p = {j: P[i, c] for c, j in enumerate(labels[i].tolist()) if j >= 0}
        got = {j: after[i, c] for c, j in enumerate(found[i].tolist()) if j >= 0}
        surprise = [known[i, k] - p.get(k, 0.0) if known[i, k] >= 0 else 0.0 for k in range(8)]
        n_on = (known[i] == 1).sum()
        for j in range(8):
            said = sum(dense[k, j] * surprise[k] for k in range(8))
            if known[i, j] >= 0:
                assert got[j] == known[i, j]
            elif j in p or said != 0:
                start = p.get(j, others[j])
                odds = 0.9 * logit(start) + 0.4 * said + 1.1 * said / max(n_on, 1)
                odds += 0.2 - 0.3 * np.log1p(n_on)
                expected = expit(odds) if (known[i] >= 0).any() else start
                assert got[j] == pytest.approx(expected, rel=1e-9)
                assert j in p or together[j][known[i] >= 0].any()
            else:
                assert j not in got


@pytest.mark.parametrize("labels_of_rows", ["none", "all", "some"])
def test_fitted_links_leave_rows_without_known_labels_as_they_are(labels_of_rows):
    Y = table() if labels_of_rows == "some" else sparse.csr_array(np.ones((60, 8), np.uint8))
    Y = Y if labels_of_rows != "none" else sparse.csr_array((60, 8), dtype=np.uint8)
    random, rows = np.random.default_rng(2), np.arange(0, 60, 2)
    labels = np.tile(np.arange(8, dtype=np.int32), (30, 1))
    P, truth = random.uniform(0.1, 0.9, (30, 8)), Y[rows].toarray() > 0
    links = fit_candidate_links(Y, COVER, rows, labels, P, truth, np.ones(30), random)
    others = np.full(8, 0.01)
    found, after = links.given(labels, P, np.full((30, 8), -1, np.int8), others)
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_array_equal(after, P)
    _, after = links.given(labels, P, np.eye(30, 8, dtype=np.int8) * 2 - 1, others)
    assert np.isfinite(after).all()
