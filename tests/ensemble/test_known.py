"""Known labels of rows: they stay, and speak for and against the others."""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelcover import LabelCoverClassifier, RakelClassifier, RakelPlusPlusClassifier
from labelcover.covers import Cover
from labelcover.ensemble import ManyLabelPool
from labelcover.ensemble._known_labels import known_labels
from labelcover.ensemble._links import fit_links
from labelcover.learners import LabelForest, LeastSquaresClassifier

N_TRAIN = 400
NAMES = np.array(["rain", "wind", "sun", "snow", "fog"], dtype=object)


@pytest.fixture(scope="module")
def data():
    """Five labels: two nearly the same, two that exclude each other, one of its own."""
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 6))
    Y = (X[:, :5] + 1.2 * random.normal(size=(700, 5)) > 0.3).astype(int)
    Y[:, 1] = np.where(random.random(700) < 0.9, Y[:, 0], Y[:, 1])
    Y[:, 2] *= 1 - Y[:, 3]
    return X, pd.DataFrame(Y, columns=NAMES)


@pytest.fixture(scope="module")
def model(data):
    X, Y = data
    return LabelCoverClassifier(random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])


@pytest.fixture(scope="module")
def new(data):
    X, Y = data
    return X[N_TRAIN:], Y[N_TRAIN:].to_numpy()


def hidden(Y, share, seed=0):
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, Y, np.nan)


def loss(Y, P, cells):
    p = np.clip(P, 1e-12, 1 - 1e-12)
    return -np.log(np.where(Y == 1, p, 1 - p))[cells].mean()


@pytest.mark.parametrize("nothing", ["table", "tags", "frame"])
def test_nothing_known_is_no_argument_to_the_bit(model, new, nothing):
    X, Y = new
    known = {
        "table": np.full(Y.shape, np.nan),
        "tags": [[] for _ in Y],
        "frame": pd.DataFrame({"sun": [None] * len(Y)}),
    }[nothing]
    np.testing.assert_array_equal(model.predict_proba(X, known=known), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X, known=known), model.predict(X))
    np.testing.assert_array_equal(
        model.predict_top(X, 2, known=known).labels, model.predict_top(X, 2).labels
    )


@pytest.mark.parametrize("decide", [None, 2, "subset_accuracy", "example_f1", "hamming_loss"])
def test_known_labels_never_change(model, new, decide):
    X, Y = new
    known = 1 - hidden(Y, 0.5)  # not even where they contradict everything
    cells = ~np.isnan(known)
    np.testing.assert_array_equal(model.predict_proba(X, known=known)[cells], known[cells])
    predicted = model.predict(X, decide=decide, known=known)
    np.testing.assert_array_equal(predicted[cells], known[cells])


def test_known_labels_count_where_a_number_of_labels_is_asked_for(model, new):
    X, Y = new
    known = hidden(Y, 0.5)
    n_ones = np.nansum(known, axis=1)
    n_free = np.isnan(known).sum(axis=1)
    predicted = model.predict(X, decide=2, known=known).sum(axis=1)
    np.testing.assert_array_equal(predicted, np.clip(2, n_ones, n_ones + n_free))


def test_more_knowledge_makes_hidden_labels_more_certain(model, new):
    X, Y = new
    always_hidden = np.random.default_rng(5).random(Y.shape) < 0.2
    order = np.random.default_rng(6).random(Y.shape)
    losses = []
    for share in (0, 0.3, 0.6, 1):
        known = np.where((order < share) & ~always_hidden, Y, np.nan)
        losses.append(loss(Y, model.predict_proba(X, known=known), always_hidden))
    assert all(after < before + 0.01 for before, after in pairwise(losses))
    assert losses[-1] < 0.85 * losses[0]


def test_a_row_alone_is_answered_as_in_a_batch(model, new):
    X, Y = new
    known = hidden(Y, 0.4)
    together = model.predict_proba(X, known=known)
    alone = [model.predict_proba(X[[i]], known=known[[i]])[0] for i in range(40)]
    np.testing.assert_array_equal(np.array(alone), together[:40])


def test_permuting_labels_permutes_answers(data, new):
    """Up to chance: which labels are hidden in the fit is drawn in their order."""
    X, Y = data
    order = [3, 0, 4, 2, 1]
    known = hidden(new[1], 0.5)
    found = [
        LabelCoverClassifier(random_state=0)
        .fit(X[:N_TRAIN], Y[:N_TRAIN].iloc[:, labels])
        .predict_proba(new[0], known=known[:, labels])
        for labels in (range(5), order)
    ]
    assert np.abs(found[0][:, order] - found[1]).mean() < 0.02


def test_permuting_labels_permutes_what_fitted_links_say():
    random = np.random.default_rng(0)
    P = random.uniform(0.1, 0.9, (200, 4))
    Y = (random.random((200, 4)) < P).astype(np.uint8)
    Y[:, 1] = Y[:, 0]
    links, _ = fit_links(Y, np.arange(200), P, Cover([[0, 1, 2], [1, 2, 3]], 4), np.full(4, 0.5))
    order = np.array([2, 0, 3, 1])
    other = type(links)(
        type(links.seen)(links.seen.labelsets[:, order], links.seen.counts, links.seen.expected),
        links.start[order],
        links.changes,
        sparse.csr_array(links.weights[order][:, order]),
    )
    known = random.integers(-1, 2, (50, 4)).astype(np.int8)
    np.testing.assert_allclose(
        links.log_odds(P[:50], known)[:, order],
        other.log_odds(P[:50, order], known[:, order]),
        atol=1e-9,
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_knowledge_gives_probabilities(model, new, data):
    cells = st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=5, max_size=5)
    known = np.array(data.draw(st.lists(cells, min_size=1, max_size=4)))
    P = model.predict_proba(new[0][: len(known)], known=known)
    assert ((P >= 0) & (P <= 1)).all()
    free = np.isnan(known)
    assert ((P[free] > 0) & (P[free] < 1)).all()


def test_tags_are_known_ones_and_the_rest_is_unknown(model, new):
    X, _ = new
    table = np.full((2, 5), np.nan)
    table[0, 1] = table[1, 2] = 1
    expected = model.predict_proba(X[:2], known=table)
    for known in (
        [["wind"], ["sun"]],
        pd.Series(["wind", "sun"]),
        sparse.csr_array(np.nan_to_num(table)),
        pd.DataFrame({"sun": [None, 1], "wind": [1, None]}),
    ):
        np.testing.assert_array_equal(model.predict_proba(X[:2], known=known), expected)
    assert all("wind" in tags for tags in model.predict_tags(X[:5], known=[["wind"]] * 5))
    top = model.predict_top(X[:2], 2, known=[["wind"], ["sun"]])
    assert top.labels[:, 0].tolist() == [1, 2]
    assert (top.confidence[:, 0] == 1).all()


def test_other_pairs_of_values_are_known_as_such(data):
    X, Y = data
    words = np.where(Y == 1, "yes", "no")
    model = LabelCoverClassifier(random_state=0).fit(X[:N_TRAIN], words[:N_TRAIN])
    known = np.full((3, 5), None, dtype=object)
    known[:, 0] = "yes"
    assert (model.predict_proba(X[:3], known=known)[:, 0] == 1).all()
    assert (model.predict(X[:3], known=known)[:, 0] == "yes").all()
    with pytest.raises(ValueError, match="known must hold 'no', 'yes' and NaN"):
        known_labels([[1, None, None, None, None]], NAMES, np.array(["no", "yes"]), 1)


def test_reasons_name_the_labels_that_are_set(model, new):
    X, _ = new
    known = np.full((3, 5), np.nan)
    known[:, 0], known[2, 0] = 1, 0
    why = model.explain(X[:3], label=["wind", "rain"], known=known, n_reasons=20)
    assert {reason.label for reason in why} == {"wind"}  # what is known is not explained
    told = {(reason.row, reason.what) for reason in why if reason.part == "label"}
    assert {(0, "rain is set"), (2, "rain is not set")} <= told
    P = model.predict_proba(X[:3], known=known)
    for i in range(3):
        total = sum(reason.contribution for reason in why if reason.row == i)
        assert expit(total) == pytest.approx(P[i, 1], abs=1e-8)


def test_known_is_routed(data, new):
    X, Y = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = LabelCoverClassifier(random_state=0).set_predict_proba_request(known=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X[:N_TRAIN], Y[:N_TRAIN])
        known = hidden(new[1], 0.5)
        P = pipeline.predict_proba(new[0], known=known)
    cells = ~np.isnan(known)
    np.testing.assert_array_equal(P[cells], known[cells])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            np.zeros((3, 4)),
            r"row for each of the 3 rows .* 5 labels, .*got shape \(3, 4\)",
        ),
        (np.zeros((2, 5)), r"got shape \(2, 5\)"),
        (np.full((3, 5), 2.0), r"0, 1 and NaN .*got 2.0 in row 0 of label 'rain'"),
        ([["rain"], ["hail"], []], r"labels of the model, .*got 'hail' in row 1"),
        ([["rain"]], "as many rows as X, 3, got 1"),
        (pd.DataFrame({"hail": [1, 0, 1]}), r"columns that are labels .*got 'hail'"),
        (pd.DataFrame([[1, 0]] * 3, columns=["sun", "sun"]), "got 'sun' twice"),
        (np.array([[1, 0, 0.5, 1, 1]] * 3), r"got 0.5 in row 0 of label 'sun'"),
    ],
)
def test_what_cannot_be_known_is_told_by_row_and_label(model, new, bad, message):
    with pytest.raises(ValueError, match="known must .*" + message):
        model.predict_proba(new[0][:3], known=bad)


def test_a_label_that_never_occurred_may_be_known(data):
    X, Y = data
    never = Y.assign(hail=0)
    model = LabelCoverClassifier(random_state=0).fit(X[:N_TRAIN], never[:N_TRAIN])
    known = [["hail"], ["hail", "rain", "sun", "snow", "fog"]]
    P = model.predict_proba(X[:2], known=known)
    assert np.isfinite(P).all()
    assert (P[:, 5] == 1).all()


@pytest.mark.parametrize(
    "estimator", [LeastSquaresClassifier(), LabelForest(5)], ids=["members", "forest"]
)
def test_what_has_no_links_refuses_what_is_known(data, estimator):
    X, Y = data
    model = LabelCoverClassifier(estimator, random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])
    with pytest.raises(ValueError, match="known must be None unless the links"):
        model.predict_proba(X[:2], known=Y[:2])


def test_methods_of_the_paper_take_nothing_known(data):
    X, Y = data
    model = RakelClassifier(random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])
    summed = RakelPlusPlusClassifier(random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])
    for ask in (model.predict_proba, partial(model.predict_top, n_top=2), summed.explain):
        with pytest.raises(ValueError, match="known must be None unless the links"):
            ask(X[:2], known=Y[:2])


@pytest.fixture(scope="module")
def candidate_model():
    """Return a model of candidates, and rows whose labels 0 and 1, 2 and 3, … go together."""
    random = np.random.default_rng(0)
    Y = np.repeat(random.random((500, 20)) < 0.1, 2, axis=1)
    Y = sparse.csr_array(Y & (random.random(Y.shape) < 0.9))
    X = sparse.csr_array(Y @ random.random((40, 60)) + random.normal(0, 2, (500, 60)))
    model = LabelCoverClassifier(ManyLabelPool(n_candidates=10), random_state=0)
    return model.fit(X[:400], Y[:400]), X[400:], Y[400:].toarray()


def test_known_labels_of_very_many_stay_and_speak_for_their_partners(candidate_model):
    model, X, Y = candidate_model
    known = np.full(Y.shape, np.nan)
    known[:, ::2] = Y[:, ::2]
    P = model.predict_proba(X, known=known)
    np.testing.assert_array_equal(P[:, ::2], Y[:, ::2])
    before = model.predict_proba(X)[:, 1::2]
    assert average_precision_score(Y[:, 1::2].ravel(), before.ravel()) < 0.5
    assert average_precision_score(Y[:, 1::2].ravel(), P[:, 1::2].ravel()) > 0.7
    for decide in ("micro_f1", "hamming_loss", 3):
        chosen = model.predict(X, decide=decide, known=known).toarray()
        assert (chosen[:, ::2] >= Y[:, ::2]).all() or decide == 3
    assert (model.predict(X, known=known)[:, ::2].toarray() == Y[:, ::2]).all()
    top = model.predict_top(X, 40, known=known)
    np.testing.assert_array_equal(np.take_along_axis(P, top.labels, axis=1), top.confidence)


def test_rows_of_very_many_labels_of_which_nothing_is_known_stay_as_they_are(candidate_model):
    model, X, Y = candidate_model
    known = np.full(Y.shape, np.nan)
    known[0] = Y[0]
    P = model.predict_proba(X, known=known)
    np.testing.assert_array_equal(P[0], Y[0])
    np.testing.assert_array_equal(P[1:], model.predict_proba(X)[1:])
    known[1, :4] = [1, 0, 1, 0]
    alone = model.predict_proba(X[1:2], known=known[1:2])
    np.testing.assert_allclose(model.predict_proba(X, known=known)[1], alone[0], rtol=1e-12)


def test_tags_that_are_known_bring_in_what_they_are_linked_to(candidate_model):
    model, X, _ = candidate_model
    names, evens = model.label_names_in_.tolist(), np.arange(0, 40, 2)
    nothing = sparse.csr_array((20, X.shape[1]))  # rows of which the features tell nothing
    top = model.predict_top(nothing, 2, known=[[names[label]] for label in evens])
    np.testing.assert_array_equal(top.labels[:, 0], evens)
    assert (top.confidence[:, 0] == 1).all()
    assert (top.labels[:, 1] == evens + 1).mean() >= 0.7
