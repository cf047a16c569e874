"""Covers whose labelsets differ in size, from the estimators to the report."""

import pickle
import warnings
from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelcover import LabelCoverClassifier, RakelClassifier, RakelPlusPlusClassifier
from labelcover.covers import Cover
from labelcover.dependence import adapt_cover, label_dependence
from labelcover.experiments._fingerprints import method_fingerprint
from labelcover.experiments._report.page_parts import cover_picture
from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.models import load_model, save_model

ROWS = [[0, 1, 2], [3, 4], [5], [0, 3, 4, 5]]


@pytest.fixture(scope="module")
def problem():
    return make_multilabel_classification(80, 8, n_classes=6, n_labels=3, random_state=2)


@pytest.mark.parametrize(
    "member",
    [
        LogisticRegression(max_iter=200),
        DecisionTreeClassifier(random_state=0),
        C45Classifier(),
        LeastSquaresClassifier(alpha=1.0, kernel="linear"),
    ],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("votes", [False, True], ids=["confidences", "votes"])
def test_the_ensemble_averages_what_each_labelset_says_alone(problem, member, votes):
    X, Y = problem
    kind = RakelClassifier if votes else RakelPlusPlusClassifier

    def confidence(rows):
        model = kind(clone(member), cover=rows, threshold=0.5, random_state=0)
        with warnings.catch_warnings():
            # A single labelset leaves labels out.
            warnings.simplefilter("ignore", UserWarning)
            return model.fit(X[:50], Y[:50]).decision_function(X[50:]) + 0.5

    expected = np.zeros((30, 6))
    for row in ROWS:
        expected[:, row] += confidence([row])[:, row]
    expected /= Cover(ROWS, 6).label_counts
    np.testing.assert_allclose(confidence(ROWS), expected, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"adapt": True},
        {"estimator": LabelForest(10)},
        {"estimator": DecisionTreeClassifier(), "threshold": "cv"},
        {"estimator": LeastSquaresClassifier(), "decide": "subset_accuracy"},
    ],
    ids=["default", "adapt", "forest", "cross-validated", "least squares"],
)
def test_the_general_estimator_takes_labelsets_of_any_sizes(problem, options):
    X, Y = problem
    model = LabelCoverClassifier(cover=ROWS, random_state=0).set_params(**options).fit(X, Y)
    assert sorted(model.cover_.labelset_sizes.tolist()) == [1, 2, 3, 4]
    expected = model.predict_proba(X)
    assert model.predict(X).shape == Y.shape
    for copy in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, Y)):
        assert copy.cover_ == model.cover_
        np.testing.assert_array_equal(copy.predict_proba(X), expected)


def test_what_was_chosen_is_told_in_words(problem, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    X, Y = problem
    LabelCoverClassifier(LeastSquaresClassifier(), cover=ROWS, verbose=True).fit(X, Y)
    assert "4 labelsets of 1 to 4 labels" in capsys.readouterr().err


def test_a_model_with_such_a_cover_is_saved(problem, tmp_path):
    X, Y = problem
    model = LabelCoverClassifier(LeastSquaresClassifier(), cover=Cover(ROWS, 6)).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert loaded.cover_ == loaded.cover == model.cover_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_many_members_of_different_sizes_are_tuned_on_a_part_of_them(problem):
    X, Y = problem
    rows = [list(s) for k in (1, 2, 3, 4, 5) for s in combinations(range(6), k)] * 2
    for kind in (LabelCoverClassifier, RakelPlusPlusClassifier):
        model = kind(DecisionTreeClassifier(max_depth=2), cover=rows, threshold="cv")
        model.set_params(random_state=0).fit(X, Y)
        assert len(model.cover_) == 124
        assert 0 < model.threshold_ < 1


def test_dependent_labelsets_inside_are_found(problem):
    _, Y = problem
    for rows in (ROWS, [[0], [1, 2]], [[0, 1, 2, 3], [4]]):
        cover = Cover(rows, 6)
        for r in (2, 3):
            dependence = label_dependence(Y, r)
            inside = [
                any(set(s) <= set(row) for row in rows) for s in dependence.labelsets.tolist()
            ]
            assert dependence.covered(cover).tolist() == inside


def test_permuting_labelsets_of_different_sizes_finds_the_best(problem):
    _, Y = problem
    dependence = label_dependence(Y, 2)
    cover = Cover([[0, 1, 2], [3, 4], [5]], 6)
    best = max(dependence.merit(cover.permute(p)) for p in permutations(range(6)))
    assert adapt_cover(cover, dependence, random_state=0).merit == pytest.approx(best)


def test_fingerprints_tell_such_covers_apart():
    covers = [Cover(ROWS, 6), Cover(ROWS[::-1], 6), Cover(ROWS, 7), Cover(ROWS[:3], 6)]
    prints = {method_fingerprint(LabelCoverClassifier(cover=cover)) for cover in covers}
    assert len(prints) == 4
    again = method_fingerprint(LabelCoverClassifier(cover=Cover(ROWS, 6, method="by hand")))
    assert again in prints


def test_the_picture_of_the_report_shows_the_labels_that_are_there():
    figure = cover_picture(Cover(ROWS, 6), list("abcdef"))
    (squares,) = figure.axes[0].collections
    assert len(squares.get_paths()) == 10
