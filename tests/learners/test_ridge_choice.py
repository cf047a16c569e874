"""Ridge systems by Cholesky factors, landmarks in blocks, and what least squares chooses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._chunked_table import TableBlock
from labelcover.learners._least_squares import choosing, ridge_systems
from labelcover.learners._least_squares.choosing import (
    RIDGES,
    Judge,
    ridge_system,
    some_problems,
)
from labelcover.learners._least_squares.scaled_features import Kernel, KernelMap, median_distance
from labelcover.learners._problems import LinearTargets, Problems

KERNELS = {"linear": Kernel(), "gaussian": Kernel((0.1,)), "mean": Kernel((0.02, 0.1, 0.5))}
KERNELS["mean of halved widths"] = Kernel((1.6, 0.4, 0.1))


def problems_of(n: int, d: int, n_problems: int = 4, seed: int = 0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    classes = (X @ random.normal(size=(d, n_problems)) + random.normal(size=(n, n_problems))).T
    classes = np.digitize(classes, [-0.5, 0.8]).astype(np.int32)
    offsets = 3 * np.arange(n_problems + 1)
    targets = LinearTargets.of_classes(classes, offsets)
    return X, Problems(classes, offsets, np.zeros(d, dtype=np.int32), targets=targets)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernel_values_are_those_of_the_formula(kernel):
    random = np.random.default_rng(0)
    X, Z = random.normal(size=(20, 5)), random.normal(size=(9, 5))
    distances = cdist(X, Z, "sqeuclidean")
    expected = X @ Z.T
    if not kernel.is_linear:
        expected = np.mean([np.exp(-gamma * distances) for gamma in kernel.gammas], axis=0)
    thin = KernelMap(kernel, sparse.csr_array(Z)).values(sparse.csr_array(X))
    np.testing.assert_allclose(thin, expected, atol=1e-12)
    for alone in (False, True):
        values = KernelMap(kernel, Z).values(X, alone=alone)
        np.testing.assert_allclose(values, expected, atol=1e-12)
        if not kernel.is_linear:
            itself = KernelMap(kernel, X).values(X, alone=alone)
            np.testing.assert_allclose(np.diag(itself), 1, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 50)])
def test_cholesky_factors_and_eigenvectors_agree(n, d, kernel, weighted):
    X, problems = problems_of(n, d)
    weights = np.random.default_rng(1).uniform(0.5, 2, n) if weighted else None
    system = ridge_system(TableBlock(X, weights), kernel, replace(problems, weights=weights))
    # More than a third of the rows, and less.
    for rows in (np.arange(n), np.arange(0, n, 5)):
        posed = system.pose(problems.targets, rows)
        for ridge in system.unit * np.array([1e-2, 1.0]):
            found = system.solve(posed, ridge)
            expected = system._by_eigenvectors(posed, ridge)
            for name in ("coefficients", "scores", "leverage"):
                np.testing.assert_allclose(
                    getattr(found, name), getattr(expected, name), atol=1e-9, err_msg=name
                )
            coarse = system.solve(posed, ridge, coarse=True)
            np.testing.assert_allclose(coarse.scores, found.scores, atol=1e-3)
            np.testing.assert_allclose(coarse.leverage, found.leverage, atol=1e-3)


def test_leverages_in_single_precision_are_those_in_double(monkeypatch):
    X, problems = problems_of(90, 20)
    targets, rows = problems.targets, np.arange(40)
    system = ridge_system(TableBlock(X, None), Kernel(), problems)
    posed = system.pose(targets, rows)
    exact = system.solve(posed, system.unit)
    monkeypatch.setattr(ridge_systems, "MANY_PRODUCTS", 0)
    quick = system.solve(posed, system.unit)
    assert not np.array_equal(quick.leverage, exact.leverage)
    np.testing.assert_allclose(quick.leverage, exact.leverage, atol=1e-5)
    np.testing.assert_array_equal(quick.scores, exact.scores)


@pytest.mark.parametrize("by_inverse", [False, True])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_sparse_rows_are_solved_as_dense_ones(weighted, by_inverse, monkeypatch):
    monkeypatch.setattr(ridge_systems, "INVERSE_COST", 0 if by_inverse else np.inf)
    monkeypatch.setattr(ridge_systems, "NONZERO_COST", 0)
    X, problems = problems_of(60, 12)
    X[np.random.default_rng(2).random(X.shape) < 0.8] = 0
    weights = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else None
    weighted_problems = replace(problems, weights=weights)
    systems = [
        ridge_system(TableBlock(table, weights), Kernel(), weighted_problems)
        for table in (X, sparse.csr_array(X))
    ]
    for rows in (np.arange(60)[::-1], np.arange(0, 60, 10)):
        for ridge in systems[0].unit * np.array([1e-2, 1.0]):
            expected, found = (
                system.solve(system.pose(problems.targets, rows), ridge) for system in systems
            )
            for name in ("coefficients", "scores", "leverage"):
                np.testing.assert_allclose(
                    getattr(found, name), getattr(expected, name), atol=1e-10, err_msg=name
                )
            by_vectors = systems[1]._by_eigenvectors(systems[1].pose(problems.targets, rows), ridge)
            np.testing.assert_allclose(by_vectors.leverage, expected.leverage, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_landmarks_in_blocks_are_landmarks_at_once(monkeypatch, weighted):
    X, problems = problems_of(90, 6)
    weights = np.random.default_rng(1).uniform(0.5, 2, 90) if weighted else None
    table, weighted_problems = TableBlock(X, weights), replace(problems, weights=weights)
    whole = ridge_system(table, KERNELS["mean"], weighted_problems, np.arange(20))
    monkeypatch.setattr(ridge_systems, "BLOCK_NUMBERS", 20 * 7)
    blocks = ridge_system(table, KERNELS["mean"], weighted_problems, np.arange(20))
    features = blocks.map.transform(X)
    w = np.ones(90) if weights is None else weights
    centred = features - np.average(features, axis=0, weights=weights)
    np.testing.assert_allclose(blocks.matrix, centred.T @ (centred * w[:, None]), atol=1e-8)
    np.testing.assert_allclose(blocks.matrix, whole.matrix, atol=1e-8)
    posed = blocks.pose(problems.targets, np.arange(5))
    expected = (problems.targets.dense() * w) @ centred
    np.testing.assert_allclose(posed.right_sides.T, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("start", [0, 6, 10])
def test_going_downhill_finds_the_best_of_all_ridges(seed, start):
    X, problems = problems_of(120, 10, seed=seed)
    system = ridge_system(TableBlock(X), KERNELS["mean"], problems)
    judge = Judge(problems, np.arange(120))
    posed = system.pose(problems.targets, judge.rows)
    scores = [judge.score(system, posed, ridge * system.unit)[0] for ridge in RIDGES]
    found = judge.best_ridge(system, start)
    assert found.number == np.argmin(scores)
    assert found.score == pytest.approx(min(scores))


def test_the_effective_dimension_is_the_trace_of_the_hat_matrix():
    X, problems = problems_of(80, 6)
    kernel = Kernel((0.5 / median_distance(X) ** 2,))
    system = ridge_system(TableBlock(X), kernel, problems)
    judge = Judge(problems, np.arange(80))
    posed = system.pose(problems.targets, judge.rows)
    values = np.linalg.eigvalsh(system.matrix)
    expected = (values / (values + 0.3)).sum() + 1  # and the intercept
    assert judge.score(system, posed, 0.3)[1] == pytest.approx(expected, rel=1e-4)


def test_landmarks_are_twice_as_many_where_many_dimensions_count(monkeypatch):
    monkeypatch.setattr(choosing, "QUICK_ROWS", 100)
    random = np.random.default_rng(0)
    few = random.normal(size=(800, 2))
    smooth = (few**2).sum(axis=1) > 1.4
    model = LeastSquaresClassifier(kernel="rbf", n_landmarks=200, random_state=0).fit(few, smooth)
    assert model.coef_.shape[1] == 200
    centres = random.normal(size=(60, 20))
    cluster = random.integers(60, size=800)
    many = centres[cluster] + 0.3 * random.normal(size=(800, 20))
    rough = random.random(60)[cluster] < 0.5
    model = LeastSquaresClassifier(kernel="rbf", n_landmarks=200, random_state=0).fit(many, rough)
    assert model.coef_.shape[1] == 400
    # 1.5 rows for each landmark are not approximated.
    model.fit(many[:590], rough[:590])
    assert model.coef_.shape[1] == 590


def test_some_problems_have_targets_of_their_own():
    _, problems = problems_of(50, 5, n_problems=200)
    seen = some_problems(problems, 0)
    assert 0 < len(seen) < 100
    one_hot = seen.targets.combine @ seen.targets.dense() + seen.targets.constant[:, None]
    for p, (low, high) in enumerate(zip(seen.offsets, seen.offsets[1:], strict=False)):
        np.testing.assert_array_equal(one_hot[low:high].argmax(axis=0), seen.classes[p])
