"""A label table may hold another pair of values than 0 and 1, one for the whole table."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import cross_val_predict

from labelcover import LabelCoverClassifier, RakelClassifier, metrics
from labelcover._label_values import as_booleans, label_pair, label_rows
from labelcover.ensemble import ManyLabelPool, OutOfFoldScores
from labelcover.learners import LabelForest
from labelcover.methods import LabelPowersetClassifier

PAIRS = {
    "minus": np.array([-1, 1]),
    "one-two": np.array([1, 2]),
    "floats": np.array([-1.0, 1.0]),
    "zero-two": np.array([0, 2]),
    "strings": np.array(["no", "yes"]),
}
MODELS = [
    RakelClassifier(k=2, random_state=0),
    LabelPowersetClassifier(random_state=0),
    LabelCoverClassifier(LabelForest(n_trees=5), random_state=0),
]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    return X, (X[:, :3] + 0.3 * random.normal(size=(60, 3)) > 0).astype(int)


@pytest.fixture(params=PAIRS.values(), ids=PAIRS)
def pair(request):
    return request.param


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_pair_is_predicted_as_zeros_and_ones_are(data, pair, model):
    X, Y = data
    plain, other = pickle.loads(pickle.dumps(model)).fit(X, Y), model.fit(X, pair[Y])
    again = pickle.loads(pickle.dumps(other))
    assert other.classes_.tolist() == [pair.tolist()] * 3
    predicted = again.predict(X)
    assert predicted.dtype == pair.dtype
    np.testing.assert_array_equal(predicted, pair[plain.predict(X)])
    np.testing.assert_array_equal(other.predict_proba(X), plain.predict_proba(X))
    assert other.predict_tags(X) == plain.predict_tags(X)
    assert other.score(X, pair[Y]) == plain.score(X, Y)
    assert metrics.micro_f1(pair[Y], predicted) == metrics.micro_f1(Y, plain.predict(X))


def test_frames_hold_pairs_too(data):
    X, Y = data
    frame = pd.DataFrame(np.array(["no", "yes"])[Y], columns=["a", "b", "c"])
    model = RakelClassifier(k=2, random_state=0).fit(X, frame).set_output(predict="pandas")
    predicted = model.predict(X)
    assert list(predicted.columns) == ["a", "b", "c"]
    assert set(np.unique(predicted)) == {"no", "yes"}
    expected = [[name for name in "abc" if row[name] == "yes"] for _, row in predicted.iterrows()]
    assert model.predict_tags(X) == expected
    assert model.score(X, frame) > 0.5


def test_explanations_are_of_the_labels_that_are_predicted(data):
    X, Y = data
    plain, other = (
        LabelCoverClassifier(LabelForest(n_trees=5), random_state=0).fit(X, table).explain(X[:9])
        for table in (Y, Y + 1)
    )
    assert list(plain) == list(other)


def test_lists_of_strings_are_tags(data):
    X, Y = data
    model = RakelClassifier(k=2, random_state=0).fit(X, np.array(["no", "yes"])[Y].tolist())
    assert model.label_names_in_.tolist() == ["no", "yes"]
    assert model.classes_.tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(("pair", "is_sparse"), [((0, 3), True), ((1, 2), False), ((-1, 1), False)])
@pytest.mark.parametrize("estimator", [LabelForest(n_trees=5), ManyLabelPool()])
def test_predictions_are_sparse_where_one_value_is_zero(data, pair, is_sparse, estimator):
    X, Y = data
    X = sparse.csr_array(np.maximum(X, 0))
    given = sparse.csr_array(np.array(pair)[Y])
    predicted = LabelCoverClassifier(estimator, random_state=0).fit(X, given).predict(X)
    plain = LabelCoverClassifier(estimator, random_state=0).fit(X, sparse.csr_array(Y)).predict(X)
    assert sparse.issparse(predicted) == is_sparse
    dense = predicted.toarray() if is_sparse else predicted
    np.testing.assert_array_equal(dense, np.array(pair)[plain.toarray()])


def test_the_pair_is_told_and_zeros_and_ones_are_not(data, capsys):
    X, Y = data
    RakelClassifier(k=2, random_state=0, verbose=True).fit(X, 2 * Y - 1)
    shown = capsys.readouterr()
    assert "labels are -1 and 1: 1 counts as having the label" in shown.out + shown.err
    RakelClassifier(k=2, random_state=0, verbose=True).fit(X, Y)
    shown = capsys.readouterr()
    assert "counts as" not in shown.out + shown.err


def test_scikit_learn_cross_validates_pairs(data):
    X, Y = data
    found = cross_val_predict(RakelClassifier(k=2, random_state=0), X, 2 * Y - 1, cv=3)
    plain = cross_val_predict(RakelClassifier(k=2, random_state=0), X, Y, cv=3)
    np.testing.assert_array_equal(found, 2 * plain - 1)


def test_out_of_fold_scores_take_pairs(data):
    X, Y = data
    scores, plain = (
        OutOfFoldScores(RakelClassifier(k=2, random_state=0), random_state=0).fit_transform(
            X, table
        )
        for table in (2 * Y - 1, Y)
    )
    np.testing.assert_array_equal(scores, plain)


@pytest.mark.parametrize(
    "values", [[0, 1, 2], [-1, 0, 1], [0.0, 0.5], [2], [-1], ["a", "b", "c"], ["a"]]
)
def test_anything_but_one_pair_is_refused(data, values):
    X, Y = data
    table = np.array(values)[np.arange(Y.size).reshape(Y.shape) % len(values)]
    with pytest.raises(ValueError, match="Y must hold only 0 and 1, got"):
        RakelClassifier(k=2).fit(X, table)


def test_a_score_of_other_values_names_the_pair(data):
    X, Y = data
    model = RakelClassifier(k=2, random_state=0).fit(X, Y + 1)
    with pytest.raises(ValueError, match="Y must hold only 1 and 2, got 0"):
        model.score(X, Y)


def test_measures_find_the_pair_in_both_tables():
    Y, none = np.array([[-1, 1], [1, 1]]), np.full((2, 2), -1)
    assert metrics.hamming_loss(Y, none) == 0.75
    assert metrics.hamming_loss(none, 2 * np.eye(2, dtype=int) - 1) == 0.5
    with pytest.raises(ValueError, match="must hold only 0 and 1, got"):
        metrics.hamming_loss(Y, np.array([[0, 1], [1, 1]]))
    rows = sparse.csr_array(np.array([[0, 2], [2, 2]]))
    assert metrics.micro_f1(rows, rows) == 1


def test_zeros_of_a_sparse_table_are_never_the_label():
    with pytest.raises(ValueError, match="must hold only 0 and 1, got -1"):
        label_rows(sparse.csr_array([[-1, 0]]), pair=label_pair(sparse.csr_array([[-1, 0]])))


@given(
    st.lists(st.integers(-3, 3), min_size=2, max_size=2, unique=True).map(sorted),
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_booleans_of_a_pair_are_those_it_was_made_of(pair, rows):
    table = np.array(rows)
    values = np.array(pair)[table.astype(int)]
    if table.all() or not table.any():
        assert label_pair(values).tolist() == [0, 1]
        return
    found = label_pair(values)
    assert found.tolist() == pair
    np.testing.assert_array_equal(as_booleans(values, pair=found), table)
    np.testing.assert_array_equal(label_rows(values, pair=found).toarray(), table)
