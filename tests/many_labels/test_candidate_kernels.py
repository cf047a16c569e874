"""Compiled loops over candidates."""

import numpy as np

from labelcover.many_labels._candidate_kernels import likeliest_means


def test_a_label_whose_sum_comes_back_to_zero_is_listed_once():
    """It was listed again each time, and written beyond the end of the list."""
    values, n_features = np.array([1.0, -1.0, 1.0, -1.0, 1.0], np.float32), 5
    table = values, np.arange(n_features, dtype=np.int32), np.array([0, n_features])
    posts = (
        np.ones(n_features, np.float32),
        np.zeros(n_features, np.int32),
        np.arange(n_features + 1),
    )
    nothing = (np.zeros(0, np.int32), np.zeros(0, np.int64)), np.zeros(0)
    found = likeliest_means(table, posts, np.array([5.0]), *nothing, 3, 100)
    assert found.tolist() == [[0, -1, -1]]
