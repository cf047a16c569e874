import numpy as np
import pytest

from labelcover.covers import Cover


def test_table_3_misses_the_pairs_that_the_paper_names(table_3):
    cover = Cover.from_matrix(table_3)
    assert (cover.n_labels, cover.k, len(cover)) == (19, 8, 11)
    assert cover.uncovered(2)[0].tolist() == [0, 1]  # λ1 with λ2
    member = table_3.astype(int)
    together = member.T @ member
    assert cover.uncovered(2).tolist() == np.argwhere(np.triu(together == 0)).tolist()


def test_table_3_has_the_distance_of_its_name(table_3):
    differ = (table_3[:, None] != table_3[None]).sum(axis=2)
    assert differ[np.triu_indices(11, 1)].min() == 10


def test_table_2_has_one_constant_row(table_2):
    with pytest.raises(ValueError, match="row 0 holds none"):
        Cover.from_matrix(table_2)
    cover = Cover.from_matrix(table_2[1:])
    assert (len(cover), cover.k, cover.has_one_size, cover.coverage(2)) == (7, 4, True, 1)
