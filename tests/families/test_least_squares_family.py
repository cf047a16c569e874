import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

from labelcover.covers import Cover, random_cover
from labelcover.families import LeastSquaresFamily, encode, family_of
from labelcover.learners import LeastSquaresClassifier


def problem(n=70, d=12, m=7, seed=0):
    X, Y = make_multilabel_classification(n, d, n_classes=m, n_labels=3, random_state=seed)
    Y = Y.astype(np.uint8)
    Y[:, 6] = Y[:, 0]
    cover = Cover([[0, 1, 2], [1, 2, 3], [3, 4, 5], [1, 2, 6], [2, 4, 5], [0, 3, 5]], m)
    return X, Y, encode(Y, cover)


def fitted(estimator, X, encoding):
    return family_of(estimator).fit(X, encoding, seeds=np.arange(len(encoding.cover)))


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "auto"])
@pytest.mark.parametrize(("n", "d"), [(70, 12), (40, 60), (1100, 12)])
def test_fused_members_equal_one_classifier_each(kernel, n, d, as_sparse):
    X, _, encoding = problem(n, d)
    X = sparse.csr_matrix(X) if as_sparse else X
    family = fitted(LeastSquaresClassifier(kernel=kernel), X, encoding)
    assert isinstance(family, LeastSquaresFamily)
    probabilities = family.class_probabilities(X)
    for j in range(len(encoding.cover)):
        alone = LeastSquaresClassifier(
            kernel=family.kernel_, gamma=family.gamma_ or None, alpha=family.alpha_
        ).fit(X, encoding.codes[j])
        own = probabilities[:, encoding.offsets[j] : encoding.offsets[j + 1]]
        np.testing.assert_allclose(own, alone.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("votes", [False, True])
def test_blocks_of_rows_and_members_change_nothing(monkeypatch, votes):
    X, _, encoding = problem()
    whole = fitted(LeastSquaresClassifier(kernel="linear"), X, encoding)
    monkeypatch.setattr("labelcover.families.least_squares.BLOCK_ROWS", 9)
    monkeypatch.setattr("labelcover.families.least_squares.BLOCK_NUMBERS", 100)
    monkeypatch.setattr("labelcover.learners.class_ridge.BLOCK_NUMBERS", 1000)
    parts = fitted(LeastSquaresClassifier(kernel="linear"), X, encoding)
    np.testing.assert_allclose(parts.sharpness_, whole.sharpness_, rtol=1e-9)
    np.testing.assert_allclose(
        parts.leave_one_out_confidence()[1], whole.leave_one_out_confidence()[1], atol=1e-10
    )
    monkeypatch.undo()
    together = whole.confidence(X, votes=votes)
    monkeypatch.setattr("labelcover.families.least_squares.BLOCK_ROWS", 9)
    monkeypatch.setattr("labelcover.families.least_squares.BLOCK_NUMBERS", 100)
    np.testing.assert_allclose(whole.confidence(X, votes=votes), together, atol=1e-12)
    np.testing.assert_allclose(whole.confidence(X[3:4], votes=votes), together[3:4], atol=1e-12)


def test_confidence_decodes_the_class_probabilities():
    X, _, encoding = problem()
    family = fitted(LeastSquaresClassifier(kernel="linear"), X, encoding)
    probabilities, offsets = family.class_probabilities(X), encoding.offsets
    expected = np.zeros((len(X), 7))
    for j, labels in enumerate(encoding.cover.labelsets):
        own = slice(offsets[j], offsets[j + 1])
        expected[:, labels] += probabilities[:, own] @ encoding.patterns[own]
    expected /= encoding.cover.label_counts
    np.testing.assert_allclose(family.confidence(X), expected, atol=1e-12)


def test_members_that_pose_the_same_problem_are_solved_once():
    X, Y, _ = problem()
    Y[:, 4] = Y[:, 3]
    cover = Cover([[0, 3], [0, 4], [2, 3]], 7)
    family = fitted(LeastSquaresClassifier(kernel="linear"), X, encode(Y, cover))
    assert len(family.sharpness_) == 2


def test_leave_one_out_confidence_equals_fitting_without_each_row():
    X, _, encoding = problem(30)
    settings = {"kernel": "linear", "alpha": 0.3, "scale": False}
    family = fitted(LeastSquaresClassifier(**settings), X, encoding)
    rows, confidence = family.leave_one_out_confidence()
    np.testing.assert_array_equal(rows, np.arange(30))
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        expected = np.zeros(7)
        for j, labels in enumerate(encoding.cover.labelsets):
            low, high = encoding.offsets[j], encoding.offsets[j + 1]
            codes = encoding.codes[j]
            left = LeastSquaresClassifier(**settings).fit(X[rest], codes[rest])
            scores = np.zeros(high - low)
            found = np.unique(codes[rest])
            # Two classes share one difference of scores, so the scores themselves are asked for.
            scores[found] = left._scores(X[i : i + 1])[0]
            weights = np.exp(family.sharpness_[family.problem_[j]] * (scores - scores.max()))
            expected[labels] += weights / weights.sum() @ encoding.patterns[low:high]
        np.testing.assert_allclose(confidence[i], expected / encoding.cover.label_counts, atol=1e-8)


def test_a_sample_of_rows_is_left_out_where_rows_and_classes_are_many(monkeypatch):
    monkeypatch.setattr("labelcover.learners.class_ridge.LEAVE_OUT_NUMBERS", 10)
    monkeypatch.setattr("labelcover.learners.class_ridge.TEMPERATURE_ROWS", 25)
    X, _, encoding = problem()
    rows, confidence = fitted(LeastSquaresClassifier(), X, encoding).leave_one_out_confidence()
    assert rows.shape == (25,)
    assert confidence.shape == (25, 7)


def test_the_softmax_keeps_the_ensemble_from_being_binary_relevance():
    """Averages of linear maps are linear: without the softmax the labelsets would not matter."""
    X, Y, _ = problem(200, 12)
    model = LeastSquaresClassifier(kernel="linear", alpha=1.0)
    cover = random_cover(7, 3, size=20, random_state=0)
    ensemble = fitted(model, X, encode(Y, cover))
    single = fitted(model, X, encode(Y, Cover(np.arange(7)[:, None], 7)))
    scores = ensemble.features_.transform(X) @ ensemble.coef_.T + ensemble.intercept_
    offsets = ensemble.encoding_.offsets
    linear = np.zeros((200, 7))
    for j, labels in enumerate(cover.labelsets):
        own = slice(offsets[j], offsets[j + 1])
        start = ensemble.offsets_[ensemble.problem_[j]]
        part = scores[:, start : start + offsets[j + 1] - offsets[j]]
        linear[:, labels] += part @ ensemble.encoding_.patterns[own]
    linear /= np.maximum(cover.label_counts, 1)
    alone = (single.features_.transform(X) @ single.coef_.T + single.intercept_)[:, 1::2]
    alone = alone[:, single.problem_]
    np.testing.assert_allclose(linear, alone, atol=1e-8)
    difference = np.abs(ensemble.confidence(X) - single.confidence(X))
    assert difference.max() > 0.05


@pytest.mark.parametrize(("n", "d"), [(70, 5), (70, 100)], ids=["primal", "dual"])
def test_weighted_members_are_weighted_models(n, d):
    X, _, encoding = problem(n)
    X = np.random.default_rng(0).normal(size=(n, d)) + X[:, :1]
    weights = np.random.default_rng(1).integers(0, 4, size=n) / 2
    learner = LeastSquaresClassifier(kernel="linear", alpha=0.3)
    ensemble = family_of(learner).fit(
        X, encoding, seeds=np.arange(6), fit_params={"sample_weight": weights}
    )
    found = ensemble.class_probabilities(X)
    kept = weights > 0
    for j, codes in enumerate(encoding.codes):
        alone = clone(learner).fit(X[kept], codes[kept], weights[kept])
        own = encoding.offsets[j] + alone.classes_
        np.testing.assert_allclose(found[:, own], alone.predict_proba(X), atol=1e-8)
    assert kept[ensemble.leave_one_out_confidence()[0]].all()


def test_other_metadata_is_refused():
    X, _, encoding = problem()
    with pytest.raises(TypeError, match="takes sample_weight only, got groups"):
        family_of(LeastSquaresClassifier()).fit(
            X, encoding, seeds=np.arange(6), fit_params={"groups": np.ones(70)}
        )


def test_sparing_leave_one_out_predictions_changes_no_member():
    X, _, encoding = problem(600)
    full = fitted(LeastSquaresClassifier(), X, encoding)
    spared = family_of(LeastSquaresClassifier())
    spared.wants_leave_one_out = False
    spared.fit(X, encoding, seeds=np.arange(6))
    np.testing.assert_allclose(full.sharpness_, spared.sharpness_, rtol=1e-10)
    np.testing.assert_allclose(full.class_probabilities(X), spared.class_probabilities(X))
    assert len(full.leave_one_out_confidence()[0]) == 600
    with pytest.raises(ValueError, match="wants_leave_one_out must be true"):
        spared.leave_one_out_confidence()
