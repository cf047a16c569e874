"""Logistic regressions of many problems, solved side by side."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcover.learners import LogisticClassifier
from labelcover.learners._least_squares.scaled_features import FeatureScaling
from labelcover.learners._logistic import logistic_members
from labelcover.learners._logistic.logistic_members import LogisticMembers, column_starts
from labelcover.learners._logistic.newton import Block, linear_scores
from labelcover.learners._problems import Problems


def words(n=150, d=40, share=0.15, seed=0):
    random = np.random.default_rng(seed)
    return sparse.csr_array(random.random((n, d)) * (random.random((n, d)) < share))


def classes_of(X, n_classes, seed=0):
    random = np.random.default_rng(seed)
    scores = X @ random.normal(size=(X.shape[1], n_classes)) * 4
    return np.argmax(scores + random.gumbel(size=scores.shape), axis=1).astype(np.int32)


def many_problems(X, n_classes=(2, 4, 2, 1, 3, 2), weights=None):
    classes = np.array([classes_of(X, k, seed) for seed, k in enumerate(n_classes)])
    offsets = np.concatenate([[0], np.cumsum(n_classes)])
    return Problems(classes, offsets, np.zeros(X.shape[1], np.int32), weights, np.arange(9))


def fit(X, problems, **options):
    """Return all distributions of the training rows, and those of rows left out."""
    problems = replace(problems, left_out_rows=np.arange(X.shape[0]))
    n_jobs = options.pop("n_jobs", None)
    learner = LogisticClassifier(**{"random_state": 0, **options})
    members = learner.fit_problems(X, problems, n_jobs=n_jobs)
    every = slice(0, len(problems))
    return members, members.distributions(members.prepare(X), every), members.left_out(every)


# The solution


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_coefficients_are_those_of_scikit_learn(n_classes, weighted, C):
    X = words()
    y = classes_of(X, n_classes)
    weights = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else None
    ours = LogisticClassifier(C=C, scale="none", tol=1e-9).fit(X, y, weights)
    weights = weights / weights.mean() if weighted else None
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape


def plain_loss(X, y, weights, ridge, W):
    """The objective of a problem with two classes, by the book."""
    scores = X @ W[:-1] + W[-1]
    loss = np.logaddexp(0, scores) - y * scores
    return weights @ loss + ridge / 2 * (W[:-1] ** 2).sum()


def test_no_direction_leads_down_from_the_solution():
    X, random = words().toarray(), np.random.default_rng(0)
    y, weights = classes_of(X, 2), random.uniform(0.5, 2, 150)
    W = np.zeros((41, 1))
    block = Block(sparse.csr_array(X), y[None], np.array([0, 1]), weights, 0.5)
    steps = block.solve(W, 1e-10)
    assert 0 < steps < 30
    least = plain_loss(X, y, weights, 0.5, W[:, 0])
    for _ in range(50):
        step = 1e-4 * random.normal(size=41)
        assert plain_loss(X, y, weights, 0.5, W[:, 0] + step) > least


def test_scores_distributions_and_losses_are_those_of_the_formulas():
    X, random = words(), np.random.default_rng(0)
    problems = many_problems(X)
    starts = column_starts(problems.offsets)[problems.offsets]
    assert starts.tolist() == [0, 1, 5, 6, 6, 9, 10]
    W, rows = random.normal(size=(41, 10)), np.array([3, 5, 140])
    scores = X.toarray() @ W[:-1] + W[-1]
    np.testing.assert_allclose(linear_scores(X[rows], W), scores[rows], rtol=1e-12)
    how = FeatureScaling("none"), np.arange(40), W, problems.offsets, 1.0, []
    found = LogisticMembers(problems.n_values, *how).distributions(scores, slice(0, 6))
    weights = random.uniform(1, 2, 150)
    losses = Block(X[rows], problems.classes[:, rows], starts, weights[rows], 1.0).losses(W)
    for p in range(len(problems)):
        own = scores[:, starts[p] : starts[p + 1]]
        if own.shape[1] == 1:
            own = np.column_stack([1 - expit(own), expit(own)])
        else:
            own = softmax(own, axis=1) if own.shape[1] else np.ones((150, 1))
        columns = found[:, problems.offsets[p] : problems.offsets[p + 1]]
        np.testing.assert_allclose(columns, own, rtol=1e-10)
        hit = own[rows, problems.classes[p, rows]]
        assert losses[p] == pytest.approx(-weights[rows] @ np.log(hit), abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_problems_together_are_those_alone(weighted):
    X = words()
    weights = np.random.default_rng(0).uniform(0.5, 2, 150) if weighted else None
    problems = many_problems(X, weights=weights)
    _, together, _ = fit(X, problems, C=2.0)
    for p, k in enumerate(problems.n_classes):
        own = problems.classes[p : p + 1]
        alone = Problems(own, np.array([0, k]), problems.n_values, weights, problems.seeds)
        columns = slice(problems.offsets[p], problems.offsets[p + 1])
        np.testing.assert_allclose(fit(X, alone, C=2.0)[1], together[:, columns], rtol=1e-12)


def test_jobs_do_not_change_anything():
    X = words()
    problems = many_problems(X, (2, 3) * 20)
    one, two = (fit(X, problems, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one[0].path == two[0].path
    np.testing.assert_array_equal(one[0].coefficients, two[0].coefficients)
    np.testing.assert_array_equal(one[2], two[2])


# Rows not seen, and C


def test_unseen_predictions_are_those_of_models_without_the_fold():
    X = words()
    problems = many_problems(X, (2, 3))
    members, seen, unseen = fit(X, problems, C=5.0, scale="none", tol=1e-8, n_folds=3)
    fold = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1)).permutation(150) % 3
    for k in range(3):
        rows = fold != k
        for p, columns in enumerate((slice(0, 2), slice(2, 5))):
            model = LogisticRegression(C=5.0, tol=1e-9, max_iter=10_000)
            model.fit(X[rows], problems.classes[p, rows])
            expected = model.predict_proba(X[~rows])
            np.testing.assert_allclose(unseen[~rows][:, columns], expected, atol=1e-4)
    assert np.abs(seen - unseen).max() > 0.1
    assert members.path == []


@pytest.mark.parametrize("tol", [0.01, 0.3])
def test_rows_left_out_have_not_been_seen_however_loose_the_tolerance(tol):
    X, random = words(d=400), np.random.default_rng(1)
    classes = random.integers(2, size=(20, X.shape[0])).astype(np.int32)
    noise = Problems(classes, 2 * np.arange(21), np.zeros(400, np.int32), None, np.arange(20))
    _, fitted, left_out = fit(X, noise, C=30.0, tol=tol, n_folds=3)
    truth = classes.T == 1
    assert (fitted[:, 1::2][truth] > 0.5).mean() > 0.9
    assert abs((left_out[:, 1::2][truth] > 0.5).mean() - 0.5) < 0.05


def test_C_is_the_best_on_rows_left_out():
    X = words(600, 60)
    members, _, _ = fit(X, many_problems(X, (2,) * 6))
    tried = dict(members.path)
    assert len(tried) >= 3
    assert min(tried, key=tried.get) == members.C
    random = np.random.default_rng(0)
    chance = Problems(
        random.integers(0, 2, (4, 600)).astype(np.int32),
        2 * np.arange(5),
        np.zeros(60, np.int32),
    )
    assert fit(X, chance)[0].C < 0.1 < members.C


def test_the_search_for_C_does_not_depend_on_the_unit_of_weights():
    X = words(300)
    light, heavy = (
        fit(X, many_problems(X, (2, 2), np.full(300, weight)))[0] for weight in (1.0, 50.0)
    )
    np.testing.assert_allclose(light.C, 50 * heavy.C)


def test_rows_are_divided_by_their_lengths():
    X = words()
    y = classes_of(X, 2)
    scaled = LogisticClassifier(C=1.0, tol=1e-6).fit(3 * X, y)
    plain = LogisticClassifier(C=1.0, tol=1e-6, scale="none").fit(normalize(X), y)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, atol=1e-8)


def test_dense_tables_are_read_like_sparse_ones():
    X = words()
    y = classes_of(X, 3)
    of_sparse, of_dense = (
        LogisticClassifier(random_state=0).fit(table, y) for table in (X, X.toarray())
    )
    np.testing.assert_allclose(of_sparse.coef_, of_dense.coef_, rtol=1e-9)
    assert clone(of_sparse).get_params()["C"] is None


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C must be a number above 0, got 0"),
        ({"C": np.inf}, "C must be a finite number above 0, got inf"),
        ({"scale": "columns"}, r"scale must be .*'rows'.*'none'.*got 'columns'"),
        ({"tol": -1}, "tol must be a number above 0, got -1"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1"),
    ],
)
def test_wrong_parameters_are_refused_before_fitting(options, message):
    with pytest.raises(ValueError, match=message):
        LogisticClassifier(**options).fit(words(), np.zeros(150))


def test_no_columns_are_an_error():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        LogisticClassifier().fit(sparse.csr_array((10, 0)), np.arange(10) % 2)


def test_rows_without_words_get_the_intercept():
    X = words()
    X = sparse.vstack([X, sparse.csr_array((20, 40))]).tocsr()
    model = LogisticClassifier(C=1.0).fit(X, np.append(classes_of(X[:150], 2), np.zeros(20)))
    none = model.predict_proba(sparse.csr_array((1, 40)))[0, 1]
    assert none == pytest.approx(expit(model.intercept_[0]))
    only_zeros = LogisticClassifier().fit(sparse.csr_array((30, 5)), np.arange(30) % 3 == 0)
    np.testing.assert_allclose(only_zeros.predict_proba(np.ones((1, 5)))[0, 1], 1 / 3, atol=0.02)


def test_a_class_that_a_fold_has_not_seen_stays_rare_there():
    X = words()
    once = np.zeros((1, 150), np.int32)
    once[0, 7] = 1
    problems = Problems(once, np.array([0, 2]), np.zeros(40, np.int32))
    _, seen, unseen = fit(X, problems, C=10.0)
    assert np.isfinite(seen).all()
    assert seen[7, 1] > 0.1
    assert unseen[7, 1] == pytest.approx(0.5 / 121, rel=0.1)


def test_a_hundred_thousand_columns_take_memory_for_those_that_occur():
    random = np.random.default_rng(0)
    X = sparse.random_array((50, 100_000), density=1e-4, rng=random, format="csr")
    problems = many_problems(X, (2,) * 40)
    tracemalloc.start()
    members, seen, unseen = fit(X, problems)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(members.kept) == len(np.unique(X.indices)) < 600
    assert np.isfinite(seen).all()
    assert np.isfinite(unseen).all()
    # A number for each column a few times, not one for each column and problem.
    assert peak < 10 * 100_000 * 8
    new = sparse.csr_array((np.ones(1), ([0], [members.kept[0] + 1])), shape=(1, 100_000))
    np.testing.assert_allclose(members.prepare(new)[0], members.coefficients[-1])


def test_problems_that_are_solved_side_by_side_share_one_table(monkeypatch):
    tables, fitted = [], logistic_members._fitted

    def seen(block, *rest, **how):
        tables.append(block.X)
        return fitted(block, *rest, **how)

    monkeypatch.setattr(logistic_members, "_fitted", seen)
    X = words()
    fit(X, many_problems(X, [2] * 70), C=1.0)
    assert len(tables) >= 3
    assert all(table is tables[0] for table in tables)


FOLDS = "the folds that choose C are drawn from rows: a row of weight 2 is not the row twice"
RELATIVE = "weights are divided by their mean, so that the penalty is that of fewer rows"
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
EXACT = {"C": 10.0, "scale": "none", "tol": 1e-12}


@parametrize_with_checks(
    [LogisticClassifier(), LogisticClassifier(**EXACT)],
    expected_failed_checks=lambda model: dict.fromkeys(
        EQUIVALENCE, FOLDS if model.C is None else RELATIVE
    ),
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
