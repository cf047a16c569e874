"""Least squares members, solved together, are those that each would be alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

from labelcover import LabelCoverClassifier
from labelcover.covers import Cover, random_cover
from labelcover.ensemble._encoding import encode
from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._least_squares.least_squares_members import LeastSquaresMembers

VIEW_BLOCKS = "labelcover.ensemble._cover_view"


def problem(n=70, d=12, m=7, seed=0):
    X, Y = make_multilabel_classification(n, d, n_classes=m, n_labels=3, random_state=seed)
    Y = Y.astype(np.uint8)
    Y[:, 6] = Y[:, 0]
    cover = Cover([[0, 1, 2], [1, 2, 3], [3, 4, 5], [1, 2, 6], [2, 4, 5], [0, 3, 5]], m)
    return X, Y, cover


def member_classes(Y, cover):
    encoding, classes, _ = encode(Y, [cover])
    return classes.array()[encoding.problem]


def all_scores(members, X):
    return members.scores(members.prepare(X), slice(0, len(members.offsets) - 1))


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "auto"])
@pytest.mark.parametrize(("n", "d"), [(70, 12), (40, 60), (1100, 12)])
def test_fused_members_equal_one_classifier_each(fit_view, kernel, n, d, as_sparse):
    X, Y, cover = problem(n, d)
    X = sparse.csr_matrix(X) if as_sparse else X
    view = fit_view(LeastSquaresClassifier(kernel=kernel, random_state=0), X, Y, cover)
    members, starts = view.members, view.encoding.starts
    assert isinstance(members, LeastSquaresMembers)
    distributions = view.distributions(X)
    for j, classes in enumerate(member_classes(Y, cover)):
        alone = LeastSquaresClassifier(
            kernel="linear" if members.kernel.is_linear else "rbf",
            gamma=members.kernel.gammas or None,
            alpha=members.ridge,
            random_state=0,
        ).fit(X, classes)
        own = distributions[:, starts[j] : starts[j + 1]]
        np.testing.assert_allclose(own, alone.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("aggregate", ["mean", "votes", "weighted"])
def test_blocks_of_rows_and_members_change_nothing(fit_view, monkeypatch, aggregate):
    X, Y, cover = problem()
    learner = LeastSquaresClassifier(kernel="linear")
    options = {"aggregate": aggregate, "keep_left_out": True}
    whole = fit_view(learner, X, Y, cover, **options)
    together = whole.confidence(X)
    monkeypatch.setattr(f"{VIEW_BLOCKS}.LEFT_OUT_BLOCK", 1000)
    parts = fit_view(learner, X, Y, cover, **options)
    np.testing.assert_allclose(
        parts.members.inverse_temperature, whole.members.inverse_temperature, rtol=1e-9
    )
    np.testing.assert_allclose(parts.left_out[1], whole.left_out[1], atol=1e-10)
    monkeypatch.setattr(f"{VIEW_BLOCKS}.BLOCK_ROWS", 9)
    monkeypatch.setattr(f"{VIEW_BLOCKS}.BLOCK_NUMBERS", 100)
    np.testing.assert_allclose(whole.confidence(X), together, atol=1e-12)
    np.testing.assert_allclose(whole.confidence(X[3:4]), together[3:4], atol=1e-12)


def test_confidence_decodes_the_class_distributions(fit_view):
    X, Y, cover = problem()
    view = fit_view(LeastSquaresClassifier(kernel="linear"), X, Y, cover)
    distributions, starts = view.distributions(X), view.encoding.starts
    expected = np.zeros((len(X), 7))
    for j, labels in enumerate(cover.labelsets):
        own = slice(starts[j], starts[j + 1])
        expected[:, labels] += distributions[:, own] @ view.encoding.patterns[own]
    expected /= cover.label_counts
    np.testing.assert_allclose(view.confidence(X), expected, atol=1e-12)


def test_members_that_pose_the_same_problem_are_solved_once(fit_view):
    X, Y, _ = problem()
    Y[:, 4] = Y[:, 3]
    cover = Cover([[0, 3], [0, 4], [2, 3]], 7)
    view = fit_view(LeastSquaresClassifier(kernel="linear"), X, Y, cover)
    assert len(view.members.inverse_temperature) == 2


def test_left_out_confidence_equals_fitting_without_each_row(fit_view):
    X, Y, cover = problem(30)
    settings = {"kernel": "linear", "alpha": 0.3, "scale": False}
    view = fit_view(LeastSquaresClassifier(**settings), X, Y, cover, keep_left_out=True)
    encoding, beta = view.encoding, view.members.inverse_temperature
    rows, confidence = view.left_out
    np.testing.assert_array_equal(rows, np.arange(30))
    of_members = member_classes(Y, cover)
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        expected = np.zeros(7)
        for j, labels in enumerate(cover.labelsets):
            low, high = encoding.starts[j], encoding.starts[j + 1]
            classes = of_members[j]
            left = LeastSquaresClassifier(**settings).fit(X[rest], classes[rest])
            scores = np.zeros(high - low)
            found = np.unique(classes[rest])
            # Two classes share one difference of scores, so the scores themselves are asked for.
            scores[found] = all_scores(left.members_, X[i : i + 1])[0]
            weights = np.exp(beta[encoding.problem[j]] * (scores - scores.max()))
            expected[labels] += weights / weights.sum() @ encoding.patterns[low:high]
        np.testing.assert_allclose(confidence[i], expected / cover.label_counts, atol=1e-8)


def test_a_sample_of_rows_is_left_out_where_rows_and_classes_are_many(fit_view, monkeypatch):
    monkeypatch.setattr("labelcover.ensemble._plan.LEFT_OUT_NUMBERS", 10)
    view = fit_view(LeastSquaresClassifier(), *problem(600), keep_left_out=True)
    rows, confidence = view.left_out
    assert rows.shape == (512,)
    assert confidence.shape == (512, 7)


def test_the_softmax_keeps_the_ensemble_from_being_binary_relevance(fit_view):
    """Averages of linear maps are linear: without the softmax the labelsets would not matter."""
    X, Y, _ = problem(200, 12)
    model = LeastSquaresClassifier(kernel="linear", alpha=1.0)
    cover = random_cover(7, 3, size=20, random_state=0)
    ensemble = fit_view(model, X, Y, cover)
    single = fit_view(model, X, Y, Cover(np.arange(7)[:, None], 7))
    scores, encoding = all_scores(ensemble.members, X), ensemble.encoding
    linear = np.zeros((200, 7))
    for j, labels in enumerate(cover.labelsets):
        own = slice(encoding.starts[j], encoding.starts[j + 1])
        start = encoding.offsets[encoding.problem[j]]
        part = scores[:, start : start + own.stop - own.start]
        linear[:, labels] += part @ encoding.patterns[own]
    linear /= np.maximum(cover.label_counts, 1)
    alone = all_scores(single.members, X)[:, 1::2][:, single.encoding.problem]
    np.testing.assert_allclose(linear, alone, atol=1e-8)
    difference = np.abs(ensemble.confidence(X) - single.confidence(X))
    assert difference.max() > 0.05


@pytest.mark.parametrize(("n", "d"), [(70, 5), (70, 100)], ids=["primal", "dual"])
def test_weighted_members_are_weighted_models(member_distributions, n, d):
    X, Y, cover = problem(n)
    X = np.random.default_rng(0).normal(size=(n, d)) + X[:, :1]
    weights = np.random.default_rng(1).integers(0, 4, size=n) / 2
    learner = LeastSquaresClassifier(kernel="linear", alpha=0.3)
    model = LabelCoverClassifier(learner, cover=cover, threshold="loo")
    view = model.fit(X, Y, sample_weight=weights).view_
    kept = weights > 0
    found = member_distributions(view, X)
    # Rows without weight are left out before problems are posed.
    for j, classes in enumerate(member_classes(Y[kept], cover)):
        alone = clone(learner).fit(X[kept], classes, weights[kept])
        own = view.encoding.starts[j] + alone.classes_
        np.testing.assert_allclose(found[:, own], alone.predict_proba(X), atol=1e-8)
    assert model.n_threshold_rows_ == kept.sum()


def test_other_metadata_is_refused():
    X, Y, cover = problem()
    with pytest.raises(ValueError, match="groups must not be given"):
        LabelCoverClassifier(cover=cover).fit(X, Y, groups=np.ones(70))


def test_sparing_left_out_predictions_changes_no_member(fit_view):
    X, Y, cover = problem(600)
    full = fit_view(LeastSquaresClassifier(), X, Y, cover, keep_left_out=True)
    spared = fit_view(LeastSquaresClassifier(), X, Y, cover)
    np.testing.assert_allclose(
        full.members.inverse_temperature, spared.members.inverse_temperature, rtol=1e-10
    )
    np.testing.assert_allclose(full.distributions(X), spared.distributions(X))
    assert len(full.left_out[0]) == 600
    assert spared.left_out is None


def test_members_take_the_seed_of_the_ensemble_unless_they_have_one():
    X, Y, cover = problem(1100)

    def fitted(member_seed, seed):
        member = LeastSquaresClassifier(random_state=member_seed)
        model = LabelCoverClassifier(member, cover=cover, threshold=0.5, random_state=seed)
        return model.fit(X, Y).view_.members.inverse_temperature

    np.testing.assert_array_equal(fitted(None, 0), fitted(None, 0))
    assert not np.array_equal(fitted(None, 0), fitted(None, 1))
    np.testing.assert_array_equal(fitted(7, 0), fitted(7, 1))
