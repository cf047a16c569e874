"""LAPACK's routines on triangles, called without Python's lock."""

import threading
import time

import numpy as np
import pytest

from labelcover.learners import threads
from labelcover.learners.least_squares.triangles import (
    cholesky_factor,
    invert_both,
    invert_lower,
    solve_both,
    solve_lower,
)

KINDS = [(np.float32, 1e-4), (np.float64, 1e-11)]


def system(n, dtype, seed=0):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(2 * n, n))
    matrix = np.asfortranarray(rows.T @ rows / n, dtype=dtype)
    return matrix, np.asfortranarray(random.normal(size=(n, 3)), dtype=dtype)


@pytest.mark.parametrize(("dtype", "close"), KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 150])
def test_routines_are_those_of_numpy(n, dtype, close):
    matrix, columns = system(n, dtype)
    want = np.linalg.cholesky(matrix.astype(np.float64))
    factor = matrix.copy(order="F")
    assert cholesky_factor(factor)
    np.testing.assert_allclose(np.tril(factor), want, atol=close)
    both, lower = columns.copy(order="F"), columns.copy(order="F")
    solve_both(factor, both)
    solve_lower(factor, lower)
    np.testing.assert_allclose(both, np.linalg.solve(matrix, columns), atol=20 * close)
    np.testing.assert_allclose(lower, np.linalg.solve(want, columns), atol=20 * close)
    inverse, half = factor.copy(order="F"), factor.copy(order="F")
    invert_both(inverse)
    invert_lower(half)
    np.testing.assert_allclose(np.tril(inverse), np.tril(np.linalg.inv(matrix)), atol=20 * close)
    np.testing.assert_allclose(np.tril(half), np.linalg.inv(want), atol=20 * close)
    assert both.dtype == lower.dtype == inverse.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_indefinite_matrix_is_told(dtype):
    assert not cholesky_factor(np.asfortranarray(-np.eye(3), dtype=dtype))


def test_other_threads_go_on_meanwhile():
    matrix, _ = system(1_200, np.float64)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    counting = threading.Thread(target=count)
    counting.start()
    cholesky_factor(matrix.copy(order="F"))
    before = counted[0]
    inverse = matrix.copy(order="F")
    cholesky_factor(inverse)
    invert_both(inverse)
    meanwhile = counted[0] - before
    stop.set()
    counting.join()
    assert meanwhile > 100


@pytest.mark.parametrize("n_threads", [1, 2])
def test_functions_at_once_return_in_order(n_threads, monkeypatch):
    monkeypatch.setattr(threads, "get_num_threads", lambda: n_threads)
    assert threads.at_once(lambda: 1, lambda: 2, lambda: 3) == [1, 2, 3]
    with pytest.raises(ZeroDivisionError):
        threads.at_once(lambda: 1, lambda: 1 // 0)
