"""Reasons add up to the score that they explain, whatever the table and the estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier

from labelcover import LabelCoverClassifier, RakelClassifier, RakelPlusPlusClassifier
from labelcover.datasets import load
from labelcover.ensemble import Pool
from labelcover.ensemble._explanation import Explanation
from labelcover.learners import LeastSquaresClassifier, LogisticClassifier
from labelcover.learners._forest.label_forest import LabelForest

TRAINING, NEW = 180, 25


@pytest.fixture(scope="module")
def data():
    return load("debtags")


@pytest.fixture(scope="module")
def mixed():
    """A table of a number, a nominal feature and a flag, and three labels that follow them."""
    random = np.random.default_rng(0)
    n = 200
    colour = random.choice(["red", "green", "blue"], n)
    size, flag = random.normal(5, 2, n), random.random(n) < 0.8
    X = pd.DataFrame(
        {"colour": pd.Categorical(colour), "size in cm": size, "flag": flag.astype(float)}
    )
    warm = (colour == "red") ^ (random.random(n) < 0.05)
    large = size > 6
    Y = pd.DataFrame({"warm": warm, "large": large, "both": warm & large}).astype(int)
    return X, Y


ESTIMATORS = {
    "pool": lambda: LabelCoverClassifier(random_state=0),
    "pool with a Gaussian kernel": lambda: LabelCoverClassifier(
        Pool(LeastSquaresClassifier(kernel="rbf")), random_state=0
    ),
    "pool with a linear kernel": lambda: LabelCoverClassifier(
        Pool(LeastSquaresClassifier(kernel="linear")), random_state=0
    ),
    "pool with trees for many labels": lambda: LabelCoverClassifier(
        Pool(forest=LabelForest(20, splits="means")), random_state=0
    ),
    "pool with logistic regressions": lambda: LabelCoverClassifier(
        Pool(logistic=LogisticClassifier()), random_state=0
    ),
    "pool of single labels": lambda: LabelCoverClassifier(k=1, r=1, random_state=0),
    "weighted pool": lambda: LabelCoverClassifier(aggregate="weighted", random_state=0),
    "forest": lambda: LabelCoverClassifier(LabelForest(20), random_state=0),
    "least squares": lambda: LabelCoverClassifier(LeastSquaresClassifier(), random_state=0),
    "RAKEL++": lambda: RakelPlusPlusClassifier(k=2, threshold=0.5, random_state=0),
}


def sums(explanation):
    found = dict.fromkeys(explanation.scores, 0.0)
    for reason in explanation:
        found[reason.row, reason.label] += reason.contribution
    return found


def assert_adds_up(model, X, explanation):
    """Contributions add up to the score, and the score is that of `predict_proba`."""
    assert explanation.scores
    P = np.asarray(model.predict_proba(X))
    names = [str(name) for name in model.label_names_in_]
    back = expit if explanation.scale == "log-odds" else lambda score: score
    for (row, label), total in sums(explanation).items():
        assert total == pytest.approx(explanation.scores[row, label], abs=1e-8)
        assert back(total) == pytest.approx(P[row, names.index(label)], abs=1e-8)


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_contributions_add_up_to_the_score(data, make, form):
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    X = sparse.csr_matrix(X) if form == "sparse" else X
    model = make().fit(X[:TRAINING], data.Y[:TRAINING, :8])
    new = X[TRAINING : TRAINING + NEW]
    assert_adds_up(model, new, model.explain(new, label=range(8), n_reasons=4))


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())
def test_contributions_add_up_for_a_frame_with_nominal_features(mixed, make):
    X, Y = mixed
    model = make().fit(X, Y)
    explanation = model.explain(X[:20], label=["warm", "both"], n_reasons=2)
    assert_adds_up(model, X[:20], explanation)
    assert {reason.label for reason in explanation} == {"warm", "both"}


def test_they_add_up_with_landmarks_a_weight_and_a_constant_label(data):
    X, Y = data.X[:400], data.Y[:400, :5].copy()
    Y[:, 2] = 0
    weights = np.random.default_rng(0).uniform(0.5, 2, 400)
    member = Pool(LeastSquaresClassifier(kernel="rbf", n_landmarks=50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labelcover.learners._least_squares.choosing.EXACT_ROWS", 100)
        model = LabelCoverClassifier(member, random_state=0).fit(X, Y, sample_weight=weights)
    explanation = model.explain(data.X[400:420], label=range(5))
    assert_adds_up(model, data.X[400:420], explanation)
    kernel = model.view_.views[0].members.features.map
    assert len(kernel.numbers) == 50
    rows = [r.what.split(",")[0] for r in explanation if r.part == "training row"]
    named = {what.split()[-1] for what in rows if not what.startswith("near ")}
    assert named
    assert named <= {str(number) for number in kernel.numbers}
    assert len(named) < len(rows)


def test_reasons_are_in_the_words_of_the_table(mixed):
    X, Y = mixed
    member = Pool(LeastSquaresClassifier(kernel="linear"))
    model = LabelCoverClassifier(member, random_state=0).fit(X, Y)
    row = X.index[(X["colour"] == "red") & (X["size in cm"] < 4)][0]
    why = model.explain(X.loc[[row]], label="warm", n_reasons=3)
    strongest = next(reason for reason in why if reason.part == "feature")
    assert strongest.what == "colour = red"
    assert strongest.contribution > 0
    against = model.explain(X.loc[[row]], label="large", n_reasons=3)
    strongest = next(reason for reason in against if reason.part == "feature")
    assert strongest.what.startswith("size in cm = ")
    assert strongest.contribution < 0


def test_labels_speak_for_labels_through_labelsets(data):
    member = Pool(LeastSquaresClassifier(kernel="linear"))
    model = LabelCoverClassifier(member, random_state=0).fit(data.X[:600], data.Y[:600, :6])
    assert model.view_.pool.weights[3, 0] > 0
    explanation = model.explain(data.X[600:640], label=3, n_reasons=500)
    parts = {"start", "feature", "label", "labelsets", "training row"}
    assert {reason.part for reason in explanation} == parts
    assert any(reason.what.startswith("near training row") for reason in explanation)
    told = {reason.what for reason in explanation if reason.part == "label"}
    assert told == {f"seen together with label{j}" for j in (0, 1, 2, 4, 5)}


def test_by_default_the_predicted_labels_are_explained(data):
    model = LabelCoverClassifier(random_state=0).fit(data.X[:TRAINING], data.Y[:TRAINING, :8])
    new = data.X[TRAINING : TRAINING + NEW]
    predicted = np.argwhere(model.predict(new) == 1)
    explanation = model.explain(new, feature_names=data.feature_names)
    assert list(explanation.scores) == sorted((int(i), f"label{j}") for i, j in predicted)
    frame = explanation.to_frame()
    assert list(frame.columns) == ["row", "label", "part", "what", "contribution"]
    assert len(frame) == len(explanation)
    words = explanation.in_words(2)
    assert all(text.count(";") == 1 for text in words.values())
    assert any(data.feature_names[f] in "".join(words.values()) for f in range(data.X.shape[1]))


def test_nothing_to_explain_is_no_reason(data):
    model = LabelCoverClassifier(threshold=1.0, random_state=0)
    model.fit(data.X[:TRAINING], data.Y[:TRAINING, :8])
    explanation = model.explain(data.X[:3])
    assert isinstance(explanation, Explanation)
    assert len(explanation) == 0


def test_rows_in_blocks_are_the_same_rows(data, monkeypatch):
    model = LabelCoverClassifier(random_state=0).fit(data.X[:TRAINING], data.Y[:TRAINING, :4])
    new = data.X[TRAINING : TRAINING + 40]
    whole = model.explain(new, label=[0, 1])
    monkeypatch.setattr("labelcover.ensemble._explanation.BLOCK_NUMBERS", 1)
    assert [r[:4] for r in model.explain(new, label=[0, 1])] == [r[:4] for r in whole]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"label": "none such"}, "label must be a name of label0, .*got 'none such'"),
        ({"label": 8}, "a number from 0 to 7, .*got 8"),
        ({"label": 1.5}, "label must be a name of .*got 1.5"),
        ({"label": np.True_}, "label must be a name of .*got np.True_"),
        ({"label": b"rain"}, "label must be a name of .*got b'rain'"),
        ({"label_names": ["a"] * 8}, "label_names must be different names, got 'a' twice"),
        ({"label_names": "abcdefgh"}, "label_names must name the 8 labels, got 'abcdefgh'"),
        ({"n_reasons": 0}, "n_reasons must be an integer of at least 1, got 0"),
        ({"feature_names": ["a"]}, "feature_names must name the .* features, got 1 names"),
    ],
)
def test_wrong_arguments_are_named(data, arguments, said):
    model = LabelCoverClassifier(LabelForest(5), random_state=0)
    model.fit(data.X[:TRAINING], data.Y[:TRAINING, :8])
    with pytest.raises(ValueError, match=said):
        model.explain(data.X[:2], **arguments)


@pytest.mark.parametrize(
    "model",
    [
        RakelClassifier(size=4, random_state=0),
        LabelCoverClassifier(
            RandomForestClassifier(5), cover="disjoint", threshold=0.5, random_state=0
        ),
    ],
    ids=["votes", "any classifier"],
)
def test_what_is_no_sum_is_refused(data, model):
    model.fit(data.X[:60], data.Y[:60, :6])
    with pytest.raises(ValueError, match="explain cannot split the confidences of"):
        model.explain(data.X[:2])
