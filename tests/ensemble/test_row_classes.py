"""Problems of rows whose classes are not held: the same as those of `encode`."""

import numpy as np
import pytest

from labelcover.covers import Cover
from labelcover.ensemble import row_classes
from labelcover.ensemble.distinct_rows import distinct_rows
from labelcover.ensemble.encoding import encode
from labelcover.ensemble.label_products import label_products
from labelcover.ensemble.row_classes import encode_rows, targets_of_rows
from labelcover.learners.linear_targets import LinearTargets

COVERS = {
    "pairs and singles": [[[0, 1, 2], [1, 3, 4], [0, 4]], [[0], [1], [2], [3], [4]]],
    "singles": [[[0], [1], [2], [3], [4]]],
    "long": [[[0, 1, 2, 3, 4], [0, 1]]],
}


@pytest.mark.parametrize("name", COVERS)
@pytest.mark.parametrize("seed", range(3))
def test_problems_classes_and_targets_are_those_of_all_rows(name, seed, monkeypatch):
    monkeypatch.setattr(row_classes, "BLOCK_ROWS", 7)
    random = np.random.default_rng(seed)
    Y = (random.random((40, 5)) < 0.4).astype(np.uint8)
    Y[:, 3] = Y[:, 1]  # members that pose the same problem
    Y[:, 4] = seed == 1  # and one of a single class
    covers = [Cover(labelsets, 5) for labelsets in COVERS[name]]
    expected, classes, first = encode(distinct_rows(Y), covers)
    found, by_row, own_first = encode_rows(Y, covers)
    np.testing.assert_array_equal(own_first, first)
    assert by_row.shape == classes.shape
    np.testing.assert_array_equal(by_row[:, np.arange(40)], classes)
    np.testing.assert_array_equal(by_row[[0]][:, np.array([5, 3])], classes[[0]][:, [5, 3]])
    for one, other in zip(found, expected, strict=True):
        for part in ("starts", "patterns", "problem", "offsets"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    targets = targets_of_rows(by_row, found, own_first)
    whole = label_products(distinct_rows(Y), expected, first) or LinearTargets.of_classes(
        classes, expected[0].offsets
    )
    weights = random.uniform(1, 2, 40)
    np.testing.assert_allclose(targets.counts(weights), whole.counts(weights))
    np.testing.assert_array_equal(targets.combine.toarray(), whole.combine.toarray())
    np.testing.assert_array_equal(targets.constant, whole.constant)
    rows = np.array([3, 20, 8])
    some = np.arange(int(expected[0].offsets[2]))
    np.testing.assert_array_equal(
        targets.of_some(some).of_rows(rows).dense(), whole.of_some(some).of_rows(rows).dense()
    )


def test_all_classes_at_once_are_refused():
    Y = np.eye(3, dtype=np.uint8)
    _, by_row, _ = encode_rows(Y, [Cover([[0, 1, 2]], 3)])
    with pytest.raises(TypeError, match="never held at once"):
        np.asarray(by_row)
