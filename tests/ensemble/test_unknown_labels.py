"""Labels of training rows that are not known, and weights of cells."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelcover import InlacClassifier, LabelCoverClassifier, RakelClassifier
from labelcover.learners import C45Classifier, LabelForest, LeastSquaresClassifier
from labelcover.learners._chunked_table import TableBlock
from labelcover.learners._least_squares.choosing import ridge_system
from labelcover.learners._least_squares.known_cells import KnownSystem, filled_targets
from labelcover.learners._least_squares.ridge_systems import PrimalSystem
from labelcover.learners._least_squares.scaled_features import Kernel
from labelcover.learners._problems import Problems
from labelcover.methods import BinaryRelevanceClassifier, EnsembleOfChainsClassifier
from labelcover.metrics import log_loss

TAKING = [
    LabelCoverClassifier(random_state=0),
    LabelCoverClassifier(LabelForest(), random_state=0),
    LabelCoverClassifier(LogisticRegression(), k=2, random_state=0),
    LabelCoverClassifier(C45Classifier(), k=2, random_state=0),
    RakelClassifier(random_state=0),
    InlacClassifier(k=2, random_state=0),
    BinaryRelevanceClassifier(threshold="auto", random_state=0),
]


def simulated(n=300, m=5, *, hidden=0.4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    Y = (X @ random.normal(size=(6, m)) + random.normal(size=(n, m)) > 0).astype(float)
    gaps = Y.copy()
    gaps[random.random(Y.shape) < hidden] = np.nan
    gaps[:, 0] = np.where(np.isnan(gaps).all(axis=1), Y[:, 0], gaps[:, 0])
    return X, Y, gaps


@pytest.mark.parametrize("estimator", TAKING, ids=repr)
def test_what_is_not_known_does_not_count_and_what_is_known_is_learned(estimator):
    X, Y, gaps = simulated()
    model = clone(estimator).fit(X[:200], gaps[:200])
    P = model.predict_proba(X[200:])
    assert ((P > 0.5) == Y[200:]).mean() > 0.72
    zeros = clone(estimator).fit(X[:200], np.nan_to_num(gaps[:200]))
    assert log_loss(Y[200:], P) < log_loss(Y[200:], zeros.predict_proba(X[200:]))
    assert 0 < model.score(X[200:], gaps[200:]) <= 1


@pytest.mark.parametrize("words", [False, True], ids=["dense", "sparse"])
def test_gaps_of_all_kinds_and_weights_of_zero_are_the_same(words):
    X, Y, gaps = simulated()
    if words:
        X = sparse.csr_array(np.where(X > 1, X, 0.0))
    known = ~np.isnan(gaps)
    model = LabelCoverClassifier(random_state=0)
    expected = clone(model).fit(X, gaps).predict_proba(X)
    frame = pd.DataFrame(gaps, columns=list("abcde"))
    objects = np.where(known, Y.astype(int), None)
    signs = np.where(known, 2 * Y - 1, np.nan)
    for other in (frame, frame.astype("Int64"), objects, objects.tolist(), signs):
        assert np.array_equal(clone(model).fit(X, other).predict_proba(X), expected)
    for how in ({"sample_weight": known.astype(float)}, {"looked_at": known.astype(int)}):
        assert np.array_equal(clone(model).fit(X, Y * known, **how).predict_proba(X), expected)


def test_weights_of_cells_that_are_those_of_rows_are_these():
    X, Y, _ = simulated()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(Y))
    model = LabelCoverClassifier(random_state=0)
    of_rows = clone(model).fit(X, Y, sample_weight=weights).predict_proba(X)
    of_cells = clone(model).fit(X, Y, sample_weight=np.tile(weights[:, None], (1, 5)))
    np.testing.assert_allclose(of_cells.predict_proba(X), of_rows, atol=1e-12)


def test_tags_are_known_as_far_as_they_were_looked_at():
    X, Y, gaps = simulated(m=3)
    names = np.array(["rain", "snow", "wind"])
    known = ~np.isnan(gaps)
    tags = [list(names[(row == 1)]) for row in np.where(known, Y, 0)]
    looked = [list(names[row]) for row in known]
    model = LabelCoverClassifier(random_state=0)
    expected = clone(model).fit(X, gaps).predict_proba(X)
    assert np.array_equal(clone(model).fit(X, tags, looked_at=looked).predict_proba(X), expected)
    frame = pd.DataFrame(known[:, ::-1].astype(int), columns=names[::-1])
    assert np.array_equal(clone(model).fit(X, tags, looked_at=frame).predict_proba(X), expected)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
def test_known_cells_are_solved_as_each_label_alone(seed, hidden, linear):
    random = np.random.default_rng(seed)
    n, m, ridge = 60, 4, float(10 ** random.uniform(-1, 1))
    X, weights = random.normal(size=(n, 5)), random.uniform(0.5, 2, n)
    Y = (random.random((n, m)) < 0.4).astype(np.uint8)
    cells = (random.random((n, m)) >= hidden) * random.uniform(0.5, 2, (n, m))
    targets = filled_targets(Y, cells, weights)
    if linear:
        system = PrimalSystem(TableBlock(X, weights), targets, weights=weights)
        K = X @ X.T
    else:
        kernel = Kernel((0.3,))
        shape = np.zeros((m, n), np.int32), 2 * np.arange(m + 1), np.zeros(5, np.int32)
        problems = Problems(*shape, weights, targets=targets)
        system = ridge_system(TableBlock(X, weights), kernel, problems)
        K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    known = KnownSystem(system, targets)
    solved = known.solve(known.pose(targets, np.arange(n)), ridge)
    features = X if linear else K
    found = (features - known.centre) @ solved.coefficients.T + solved.means
    for j in range(m):
        W = weights * cells[:, j]
        # Ridge regression in the kernel, with a constant that is not penalised.
        centred = K - np.outer(np.ones(n), weights @ K) / weights.sum()
        centred = centred - np.outer(centred @ weights, np.ones(n)) / weights.sum()
        top = np.hstack([np.diag(W) @ centred + ridge * np.eye(n), W[:, None]])
        system_j = np.vstack([top, np.append(W @ centred, W.sum())])
        solution = np.linalg.solve(system_j, np.append(W * Y[:, j], W @ Y[:, j]))
        own = centred @ solution[:n] + solution[n]
        np.testing.assert_allclose(found[:, j], own, atol=1e-7)
    assert solved.scores.shape == (m, n)


def test_left_out_scores_are_near_those_of_exact_leave_one_out():
    random = np.random.default_rng(0)
    n, ridge = 200, 5.0
    X = random.normal(size=(n, 30))
    Y = (X @ random.normal(size=(30, 3)) + random.normal(size=(n, 3)) > 0).astype(np.uint8)
    for hidden, near in ((0.0, 1e-9), (0.5, 0.06), (0.7, 0.2)):
        cells = (random.random(Y.shape) >= hidden).astype(float)
        targets = filled_targets(Y, cells, None)
        known = KnownSystem(PrimalSystem(TableBlock(X, None), targets), targets)
        found = known.solve(np.arange(n), ridge).scores.T
        for j in range(3):
            rows = np.flatnonzero(cells[:, j])
            A = np.column_stack([X[rows], np.ones(len(rows))])
            penalty = ridge * np.eye(31)
            penalty[-1, -1] = 0.0
            inverse = np.linalg.inv(A.T @ A + penalty)
            scores, shares = A @ inverse @ A.T @ Y[rows, j], (A @ inverse * A).sum(axis=1)
            exact = scores - shares / (1 - shares) * (Y[rows, j] - scores)
            difference = np.sqrt(np.mean((found[rows, j] - exact) ** 2)) / exact.std()
            assert difference < near


def test_labels_and_rows_of_which_little_is_known_are_named_and_never_certain():
    X, _, gaps = simulated()
    gaps[:, 0] = np.nan
    gaps[:, 1] = np.where(np.isnan(gaps[:, 1]), np.nan, 1)
    gaps[5] = np.nan
    names = ["nobody", "only", "c", "d", "e"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LabelCoverClassifier(random_state=0).fit(X, pd.DataFrame(gaps, columns=names))
        left_out = LabelCoverClassifier(random_state=0).left_out_proba(X, gaps)
    said = " ".join(str(each.message) for each in caught)
    assert "no known label in" in said
    assert "which are left out" in said
    assert "no known cell: they have the mean frequency of all labels: nobody." in said
    assert "no cell known to be 0: they have their frequency in every row: only." in said
    P = model.predict_proba(X)
    assert np.ptp(P[:, 0]) == 0
    assert 0.2 < P[0, 0] < 0.8
    assert np.ptp(P[:, 1]) < 1e-12
    assert P[0, 1] < 0.999
    assert left_out.shape == gaps.shape
    assert np.isfinite(left_out).all()
    assert np.isnan(model.left_out_predictions_.Y).any()


@pytest.mark.parametrize(
    "decide", ["micro_f1", "macro_f1", "example_f1", "hamming_loss", "subset_accuracy", 2]
)
@pytest.mark.parametrize("hidden", [0.3, 0.95])
def test_every_decision_is_fitted_on_what_is_known(decide, hidden):
    X, _, gaps = simulated(hidden=hidden)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = LabelCoverClassifier(decide=decide, random_state=0).fit(X, gaps).predict(X)
    assert set(np.unique(found)) <= {0, 1}


def test_unknown_labels_are_filled_in_by_models_without_the_row():
    X, Y, gaps = simulated()
    known = ~np.isnan(gaps)
    filled = LabelCoverClassifier(random_state=0).complete(X, gaps)
    assert np.array_equal(filled[known], gaps[known])
    assert ((filled > 0.5) == Y)[~known].mean() > 0.75
    frame = pd.DataFrame(gaps, columns=list("abcde"))
    model = LabelCoverClassifier(random_state=0).set_output(predict="pandas")
    assert list(model.complete(X, frame).columns) == list("abcde")
    assert np.array_equal(LabelCoverClassifier().complete(X, Y), Y)


def test_rows_like_a_row_are_told_with_the_labels_they_are_known_to_have():
    X, _Y, gaps = simulated()
    model = LabelCoverClassifier(random_state=0).fit(X, pd.DataFrame(gaps, columns=list("abcde")))
    for similar in model.similar_rows(X[:5], 3):
        for row, _, tags in similar:
            assert tags == [
                name for name, cell in zip("abcde", gaps[row], strict=True) if cell == 1
            ]


def test_weights_of_the_cells_of_one_label_are_taken():
    X, Y, gaps = simulated(m=1)
    known = ~np.isnan(gaps)
    model = LabelCoverClassifier(random_state=0)
    found = clone(model).fit(X, Y, sample_weight=known.astype(float)).predict_proba(X)
    assert np.array_equal(found, clone(model).fit(X, np.where(known, Y, np.nan)).predict_proba(X))


def test_who_does_not_take_gaps_says_so_before_anything_is_fitted():
    X, Y, gaps = simulated()
    with pytest.raises(ValueError, match=r"known for EnsembleOfChainsClassifier, got \d+ of 1500"):
        EnsembleOfChainsClassifier().fit(X, gaps)
    with pytest.raises(ValueError, match="Y must not hold NaN where it is sparse"):
        LabelCoverClassifier().fit(X, sparse.csr_array(gaps))
    with pytest.raises(ValueError, match=r'aggregate must be .* got "weighted"'):
        InlacClassifier(LeastSquaresClassifier(), aggregate="weighted").fit(X, gaps)
    with pytest.raises(ValueError, match=r'estimator must be "auto" or a Pool .* got C45Class'):
        LabelCoverClassifier(C45Classifier()).complete(X, gaps)
    every_other = Y.copy()
    every_other[::2, :2], every_other[1::2, 2:] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"labels are all known in some row.*choose a smaller k"):
        InlacClassifier(k=3, random_state=0).fit(X, every_other)
    weights = np.ones(Y.shape)
    weights[7, 2] = -1
    with pytest.raises(ValueError, match=r"got -1.0 in row 7 of label 2"):
        LabelCoverClassifier().fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"of shape \(300, 5\), got shape \(300, 3\)"):
        LabelCoverClassifier().fit(X, Y, sample_weight=np.ones((300, 3)))
    with pytest.raises(
        ValueError, match=r"looked_at must be a table with a row for each of the 300 rows"
    ):
        LabelCoverClassifier().fit(X, Y, looked_at=np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"but row \d+ has the label '\d', which was not looked"):
        LabelCoverClassifier().fit(X, Y, looked_at=np.zeros(Y.shape))
    tags = [["a", "b"], ["b"]] * 150
    with pytest.raises(
        ValueError, match=r"looked_at must hold labels of the model.* got 'c' in row 1"
    ):
        LabelCoverClassifier().fit(X, tags, looked_at=[["a", "b"], ["c"]] * 150)


def test_reasons_add_up_where_labels_are_unknown():
    X, _, gaps = simulated()
    for table in (X, sparse.csr_array(np.where(X > 1, X, 0.0))):
        model = LabelCoverClassifier(random_state=0).fit(table, gaps)
        odds = logit(model.predict_proba(table[:3]))
        for label in (0, 3):
            total = np.zeros(3)
            for reason in model.explain(table[:3], label):
                total[reason.row] += reason.contribution
            np.testing.assert_allclose(total, odds[:, label], atol=1e-6)
