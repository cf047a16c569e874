import numpy as np
import pytest

from labelcover.covers import Cover
from labelcover.covers.codes import A_19_10_8, HADAMARD_8, rows_of_weight


def test_table_3_misses_the_pairs_that_the_paper_names():
    cover = Cover.from_matrix(A_19_10_8)
    assert (cover.n_labels, cover.k, len(cover)) == (19, 8, 11)
    assert cover.uncovered(2)[0].tolist() == [0, 1]  # λ1 with λ2
    member = A_19_10_8.astype(int)
    together = member.T @ member
    assert cover.uncovered(2).tolist() == np.argwhere(np.triu(together == 0)).tolist()


def test_table_3_has_the_distance_of_its_name():
    differ = (A_19_10_8[:, None] != A_19_10_8[None]).sum(axis=2)
    assert differ[np.triu_indices(11, 1)].min() == 10


def test_table_2_has_one_constant_row():
    with pytest.raises(ValueError, match="row 0 holds none"):
        Cover.from_matrix(HADAMARD_8)
    assert Cover.from_matrix(HADAMARD_8[1:]) == rows_of_weight(HADAMARD_8, 4)


def test_an_orthogonal_array_gives_its_rows_of_one_weight():
    everything = np.array([[i >> j & 1 for j in range(4)] for i in range(16)])
    cover = rows_of_weight(everything, 2)
    assert len(cover) == 6
    assert cover.coverage(2) == 1


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="k=3: no row of the matrix holds so many ones"):
        rows_of_weight(HADAMARD_8, 3)
