"""Candidates of rows: which are true, and the likeliest of all labels."""

import numpy as np
import pytest
from scipy import sparse

from labelcover.many_labels import Candidates
from labelcover.many_labels import _candidates as candidates
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
