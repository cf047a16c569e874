"""Sums of columns over chunks make the scaling of the whole table."""

import numpy as np
import pytest
from scipy import sparse

from labelcover.learners._least_squares.scaled_features import ColumnSums, FeatureScaling


def tables():
    random = np.random.default_rng(0)
    numbers = random.normal(size=(60, 5)) * [1, 1e-3, 1e6, 0, 1] + [0, 5, 1e9, 3, 0]
    words = (random.random((60, 5)) < [0.1, 0.9, 0.5, 0.2, 1.0]).astype(np.float64)
    words[:30, 2], words[30:, 2] = 0, 1  # as many ones as zeros
    counts = np.where(random.random((60, 5)) < 0.3, random.integers(1, 9, (60, 5)), 0.0)
    return {
        "numbers": numbers,
        "words": words,
        "both": np.hstack([numbers, words]),
        "counts": counts,
    }


@pytest.mark.parametrize("scale", ["standard", "rows", "none"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", list(tables()))
def test_sums_of_chunks_scale_like_the_whole_table(name, is_weighted, kind, scale):
    X = tables()[name]
    X = sparse.csr_matrix(X) if kind == "sparse" else X
    weights = np.random.default_rng(1).uniform(0.5, 3, 60) if is_weighted else None
    total = None
    for rows in (slice(0, 1), slice(1, 26), slice(26, 60)):
        part = ColumnSums.of_table(X[rows], None if weights is None else weights[rows])
        total = part if total is None else total + part
    whole = FeatureScaling(scale).set(ColumnSums.of_table(X, weights))
    found, expected = (each.transform(X) for each in (FeatureScaling(scale).set(total), whole))
    if kind == "sparse":
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    if scale == "standard":
        dense = tables()[name]
        numbers = dense[:, ~whole.rare.binary]
        assert total.has_sparse_numbers == (2 * np.count_nonzero(numbers) < numbers.size)
        lengths = np.linalg.norm(dense, axis=1)
        lengths = lengths[lengths > 0]
        assert total.rows_have_one_length == (np.ptp(lengths) <= 1e-5 * lengths.max())


@pytest.mark.parametrize("is_weighted", [False, True])
def test_standard_numbers_have_mean_0_and_deviation_1_over_the_root_of_columns(is_weighted):
    X = tables()["numbers"]
    weights = np.random.default_rng(1).uniform(0.5, 3, 60) if is_weighted else None
    scaled = FeatureScaling("standard").set(ColumnSums.of_table(X, weights)).transform(X)
    mean = np.average(scaled, axis=0, weights=weights)
    squares = np.average((scaled - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(mean, 0, atol=1e-6)
    np.testing.assert_allclose(squares, [0.2, 0.2, 0.2, 0, 0.2], rtol=1e-6)
