import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.tree import DecisionTreeClassifier

from labelcover import RakelClassifier
from labelcover.covers import Cover

LABELSETS = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 3, 4], [0, 1, 4], [1, 3, 4]]


def algorithm_2(members, labelsets, X, n_labels, wins):
    """The classification phase of RAKEL, as printed: members are (model, patterns)."""
    result = np.zeros((len(X), n_labels), dtype=int)
    for i, x in enumerate(X):
        total, votes = np.zeros(n_labels), np.zeros(n_labels)
        for (model, patterns), labels in zip(members, labelsets, strict=True):
            for label, value in zip(labels, patterns[model.predict(x[None])[0]], strict=True):
                total[label] += value
                votes[label] += 1
        result[i] = wins(total / np.maximum(votes, 1))
    return result


@pytest.mark.parametrize("ties", ["positive", "negative"])
def test_predictions_are_the_votes_of_algorithm_2(ties):
    X, Y = make_multilabel_classification(120, 8, n_classes=5, random_state=3)
    train, test = slice(0, 80), slice(80, 120)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    members = []
    for labels in LABELSETS:
        patterns, codes = np.unique(Y[train][:, labels], axis=0, return_inverse=True)
        members.append((clone(tree).fit(X[train], codes.ravel()), patterns))
    wins = {"positive": lambda mean: mean >= 0.5, "negative": lambda mean: mean > 0.5}[ties]
    expected = algorithm_2(members, LABELSETS, X[test], 5, wins)
    model = RakelClassifier(tree, cover=Cover(LABELSETS, 5), ties=ties).fit(X[train], Y[train])
    np.testing.assert_array_equal(model.predict(X[test]), expected)


def test_ties_matter_in_that_problem():
    X, Y = make_multilabel_classification(120, 8, n_classes=5, random_state=3)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = RakelClassifier(tree, cover=LABELSETS).fit(X[:80], Y[:80])
    assert (model.predict_proba(X[80:]) == 0.5).any()


def test_an_unknown_way_to_break_ties_is_refused():
    X, Y = make_multilabel_classification(20, n_classes=5, random_state=0)
    with pytest.raises(
        ValueError, match="ties must be one of 'auto', 'positive', 'negative', got 'up'"
    ):
        RakelClassifier(ties="up", cover=LABELSETS).fit(X, Y)


@pytest.mark.parametrize("threshold", ["cv", "loo", "auto", "best"])
def test_a_threshold_is_never_tuned_but_given(threshold):
    X, Y = make_multilabel_classification(20, n_classes=5, random_state=0)
    with pytest.raises(ValueError, match=f"threshold must be .*between 0 and 1.*got '{threshold}'"):
        RakelClassifier(threshold=threshold, cover=LABELSETS).fit(X, Y)
