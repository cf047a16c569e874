"""Reasons add up to the score that they explain, whatever the table and the estimator."""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.ensemble import RandomForestClassifier

from labelcover import LabelCoverClassifier, RakelClassifier, RakelPlusPlusClassifier
from labelcover.datasets import load
from labelcover.ensemble import Pool, speaking_features
from labelcover.ensemble._explanation import Explanation
from labelcover.ensemble._shares import probability_slopes
from labelcover.learners import LeastSquaresClassifier, LogisticClassifier
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.learners._least_squares import softmax_members
from labelcover.learners._least_squares.gaussian_part_kernels import add_gaussian_parts
from labelcover.learners._least_squares.softmax_members import LinearSwaps, leaving_length
from labelcover.methods import (
    BinaryRelevanceClassifier,
    EnsembleOfChainsClassifier,
    HomerClassifier,
    LabelPowersetClassifier,
    LeadClassifier,
    ProbabilisticChainClassifier,
    StackedBinaryRelevanceClassifier,
)

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
    "forest": lambda: LabelCoverClassifier(LabelForest(20), random_state=0),
    "least squares": lambda: LabelCoverClassifier(LeastSquaresClassifier(), random_state=0),
    "RAKEL++": lambda: RakelPlusPlusClassifier(k=2, threshold=0.5, random_state=0),
}


def sums(explanation):
    found = dict.fromkeys(explanation.scores, 0.0)
    for reason in explanation:
        found[reason.row, reason.label] += reason.contribution
    return found


def pairs(explanation):
    found = {key: [] for key in explanation.scores}
    for reason in explanation:
        found[reason.row, reason.label].append(reason)
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
    assert_adds_up(model, data.X[400:420], model.explain(data.X[400:420], label=range(5)))
    assert len(model.view_.views[0].members.map.rows) == 50


@pytest.mark.parametrize("seed", range(30))
def test_they_add_up_where_labels_are_well_separated(seed):
    """A spike that fixed nodes of a quadrature missed: a score of .90 for a probability of 0."""
    X = np.random.default_rng(seed).normal(size=(20, 2))
    Y = (X > 0).astype(int)
    for model in (BinaryRelevanceClassifier(), LabelPowersetClassifier(), LabelCoverClassifier()):
        model.fit(X, Y)
        assert_adds_up(model, X, model.explain(X, label=[0, 1]))


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_parts_of_every_view_add_up_to_its_confidence(data, make, form):
    """The pool would leave what does not add up to the label itself."""
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    X = sparse.csr_matrix(X) if form == "sparse" else X
    model = make().fit(X[:TRAINING], data.Y[:TRAINING, :8])
    new = model._coding.read(model, X[TRAINING : TRAINING + NEW])
    rows = np.arange(0, NEW, 3)
    for view in getattr(model.view_, "views", [model.view_]):
        tables = view.confidences(new)
        for shares, table in zip(view.shares(new), tables, strict=True):
            np.testing.assert_allclose(shares.confidence, table, atol=1e-12)
            weights = np.random.default_rng(0).normal(size=(len(rows), 8))
            found = shares.combined(rows, weights).sum(axis=1)
            for label in range(8):
                parts = shares.of_label(label, rows)
                np.testing.assert_allclose(parts.total(), table[rows, label], atol=1e-9)
                np.testing.assert_allclose(parts.start, shares.starts[label], atol=1e-9)
            expected = (weights * (table[rows] - shares.starts)).sum(axis=1)
            np.testing.assert_allclose(np.asarray(found).ravel(), expected, atol=1e-8)


def test_what_other_labels_say_is_passed_through_to_columns(data):
    """Only little is left to the label itself, and known labels speak for themselves."""
    model = LabelCoverClassifier(random_state=0).fit(data.X[:600], data.Y[:600, :6])
    new, rows = model._coding.read(model, data.X[600:640]), np.arange(40)
    (shares,) = model.view_.shares(new)
    whole = left = 0.0
    for label in range(6):
        parts = shares.of_label(label, rows)
        assert parts.labels[:, np.arange(6) != label].any() == 0
        whole += np.abs(parts.total() - parts.start).mean()
        left += np.abs(parts.labels[:, label]).mean()
    assert 0 < left < 0.1 * whole
    known = np.full((40, 6), -1, dtype=np.int8)
    known[:, 1] = data.Y[600:640, 1]
    (shares,) = model.view_.shares(new, known)
    parts = shares.of_label(0, rows)
    np.testing.assert_allclose(expit(parts.total()), model.view_.confidences(new, known)[0][:, 0])
    assert parts.labels[:, 1].any()
    assert not parts.labels[:, 2:].any()


def shapley_values(f, x, origin):
    """By the definition, over all orders: `f` of rows that have columns of `x` or `origin`."""
    d, found = len(x), 0.0
    for order in permutations(range(d)):
        rows = np.tile(origin, (d + 1, 1))
        for step, column in enumerate(order):
            rows[step + 1 :, column] = x[column]
        found = found + np.diff(f(rows))[np.argsort(order)]
    return found / factorial(d)


@pytest.mark.parametrize("gammas", [(0.3,), (4.0, 1.0, 0.25)])
def test_parts_of_a_gaussian_kernel_are_shapley_values(gammas):
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 0]
    Y = (X[:, :2] @ [1, 0.1] > 0.5)[:, None].astype(int)
    member = LeastSquaresClassifier(kernel="rbf", gamma=gammas)
    members = BinaryRelevanceClassifier(member).fit(X, Y).view_.members
    rows, new = np.arange(5), random.normal(size=(5, 4)) * [1, 10, 0.1, 3]
    new[4] *= 100
    paths, every = members.paths(new), np.arange(5)
    scale = members.scaling
    found = paths.parts(rows, [(0, np.tile([0.0, 1.0], (5, 1)))])
    expected = [
        shapley_values(lambda own: members.paths(own).scores(0, every)[:, 1], each, scale.shift)
        for each in new
    ]
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())
    way = paths.scores(0, rows)[:, 1] - paths.start(0)[1]
    np.testing.assert_allclose(found.sum(axis=1), way, atol=1e-9)


def plain_gaussian_parts(moved, centres, gamma, weights):
    """As `add_gaussian_parts`, by very many steps of t."""
    found = np.zeros(moved.shape)
    for i, row in enumerate(moved):
        for z, centre in enumerate(centres):
            factors = np.exp(-gamma * ((row - centre) ** 2 - centre**2))
            for t in (np.arange(4000) + 0.5) / 4000:
                mixed = 1 - t + t * factors
                kernel = np.exp(-gamma * centre @ centre) * mixed.prod()
                found[i] += weights[i, z] * kernel * (factors - 1) / mixed / 4000
    return found


@pytest.mark.parametrize("gamma", [0.01, 0.5, 3.0])
def test_parts_of_gaussians_are_those_of_a_plain_integral(gamma):
    random = np.random.default_rng(1)
    moved, centres = random.normal(size=(3, 6)), random.normal(size=(4, 6))
    weights, found = random.normal(size=(3, 4)), np.zeros((3, 6))
    gammas = np.array([gamma, gamma / 4])
    add_gaussian_parts(moved, centres, (centres**2).sum(axis=1), gammas, weights, found)
    expected = sum(plain_gaussian_parts(moved, centres, own, weights) for own in gammas)
    np.testing.assert_allclose(found, expected, atol=0.01 * np.abs(expected).max())
    before = found.copy()
    add_gaussian_parts(moved, centres, (centres**2).sum(axis=1), gammas, 0 * weights, found)
    np.testing.assert_array_equal(found, before)  # what has no weight adds nothing


def test_a_word_adds_what_length_it_leaves_to_the_others():
    random = np.random.default_rng(2)
    words, weights = np.array([True] * 5 + [False]), random.normal(size=6)
    X = np.array([[1, 1, 0, 1, 1, 0.5], [0, 0, 1, 0, 0, -2], [0, 0, 0, 0, 0, 1.0]])

    def divided(rows):
        lengths = np.sqrt((rows[:, :5] ** 2).sum(axis=1, keepdims=True))
        return np.where(words, rows / np.where(lengths > 0, lengths, 1), rows)

    expected = [shapley_values(lambda own: divided(own) @ weights, row, np.zeros(6)) for row in X]
    form = sparse.csr_array
    found = leaving_length(form(divided(X) * weights), form(divided(X)), words)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)
    uneven = divided(X * random.uniform(1, 3, size=6))
    found = leaving_length(form(uneven * weights), form(uneven), words)
    np.testing.assert_allclose(np.asarray(found.sum(axis=1)).ravel(), uneven @ weights)


def test_log_odds_of_words_are_followed_where_they_bend(monkeypatch):
    """Of two words and a number, whose six orders are all drawn, in rows of length one."""
    monkeypatch.setattr(softmax_members, "MOST_STEPS", 18)
    random = np.random.default_rng(2)
    words, weights, least = np.array([True, True, False]), np.array([9.0, -4.0, 3.0]), 0.01
    X = random.choice([0.0, 1.0], (20, 3)) * random.uniform(-2, 2, (20, 3))
    X[:, :2] = X[:, :2] != 0  # of words that count the same the linear parts are exact

    def divided(rows):
        lengths = np.sqrt((rows[:, :2] ** 2).sum(axis=1, keepdims=True))
        return np.where(words, rows / np.where(lengths > 0, lengths, 1), rows)

    def odds(rows):
        return logit((expit(divided(rows) @ weights - 2) + least) / (1 + 2 * least))

    swaps, rows, by = LinearSwaps(divided(X), words), np.arange(20), random.normal(size=20)
    bends = swaps.bends(rows, weights, -2.0, by, least).toarray()
    np.testing.assert_allclose(bends.sum(axis=1), 0, atol=1e-12)
    way, change = divided(X) @ weights, odds(X) - odds(0 * X)
    slopes = by * change / np.where(way != 0, way, 1)
    found = bends + swaps.parts(rows, slopes[:, None], weights[None]).toarray()
    expected = [by[i] * shapley_values(odds, X[i], np.zeros(3)) for i in rows]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    for i in rows:
        own = swaps.bends(rows[[i]], weights, -2.0, by[[i]], least)
        np.testing.assert_array_equal(own.toarray()[0], bends[i])


@pytest.mark.parametrize("steep", [1, 100, 1e4, 1e7])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_probabilities_are_followed_however_steep_scores_are(steep, n_classes):
    random = np.random.default_rng(n_classes)
    start, end = random.normal(size=n_classes) * steep, random.normal(size=(40, n_classes)) * steep
    end[:3] = start  # no way at all
    own = np.arange(n_classes) % 2
    slopes = probability_slopes(start, end, own)
    change = softmax(end, axis=1) @ own - softmax(start) @ own
    np.testing.assert_allclose(
        (slopes * (end - start)).sum(axis=1), change, atol=max(1e-8, 1e-13 * steep)
    )


def test_reasons_are_in_the_words_of_the_table(mixed):
    X, Y = mixed
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    row = X.index[(X["colour"] == "red") & (X["size in cm"] < 4)][0]
    why = model.explain(X.loc[[row]], label="warm", n_reasons=3)
    strongest = next(reason for reason in why if reason.part == "feature")
    assert strongest.what == "colour = red"
    assert strongest.contribution > 0
    against = model.explain(X.loc[[row]], label="large", n_reasons=3)
    strongest = next(reason for reason in against if reason.part == "feature")
    assert strongest.what.startswith("size in cm = ")
    assert strongest.contribution < 0


def test_what_speaks_for_a_predicted_label_comes_first_then_what_speaks_against(data):
    model = LabelCoverClassifier(random_state=0).fit(data.X[:600], data.Y[:600])
    new = data.X[600:640]
    predicted = np.asarray(model.predict(new)) == 1
    why = model.explain(new, label=range(24), n_reasons=3)
    texts = why.in_words(3)
    for key, own in pairs(why).items():
        sign = 1 if predicted[key[0], int(key[1].removeprefix("label"))] else -1
        assert own[0].part == "start"
        told = [each for each in own[1:] if each.part != "rest"]
        signs = [sign * np.sign(each.contribution) for each in told]
        assert signs == sorted(signs, reverse=True)
        assert signs.count(1) <= 3
        assert signs.count(-1) <= 3
        sizes = [abs(each.contribution) for each in told]
        assert sizes[: signs.count(1)] == sorted(sizes[: signs.count(1)], reverse=True)
        assert all(size >= 0.005 for size in sizes)
        text = texts[key]
        assert "0.00)" not in text
        assert " smaller one" in text
        way = abs(why.scores[key] - own[0].contribution)
        assert all(size <= 2 * max(way, 1) + 1e-9 for size in sizes)


def test_reasons_that_cancel_are_told_together():
    random = np.random.default_rng(0)
    one = random.normal(size=200)
    X = pd.DataFrame({"one": one, "other": one + random.normal(size=200) * 0.01})
    Y = ((X["one"] - X["other"]) * 100 > 0).to_numpy()[:, None].astype(int)
    member = LeastSquaresClassifier(kernel="linear", alpha=1e-6)
    model = BinaryRelevanceClassifier(member, threshold=0.5).fit(X, Y)
    far = X[np.abs(X["one"]) > 1.5]
    why = model.explain(far, label=0)
    assert_adds_up(model, far, why)
    told = [reason for reason in why if reason.part == "feature"]
    assert told
    assert all(abs(reason.contribution) < 2.1 for reason in told)
    assert any(reason.what.endswith(" together") for reason in told)


def test_an_explanation_shows_itself(data):
    model = LabelCoverClassifier(random_state=0).fit(data.X[:TRAINING], data.Y[:TRAINING, :8])
    names = ["<b>&", *(f"label{j}" for j in range(1, 8))]
    why = model.explain(data.X[:30], label=[0, 1], label_names=names)
    assert repr(why).startswith("<Explanation of 60 labels of 30 rows: ")
    shown = why._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>" not in shown
    assert "repeating-linear-gradient" in shown  # against is hatched, not only of another colour
    assert "and 40 more" in shown


def test_similar_rows_are_told_with_their_labels(data, mixed):
    model = LabelCoverClassifier(random_state=0)
    weights = np.ones(300)
    weights[:5] = 0
    model.fit(data.X[:300], data.Y[:300], sample_weight=weights)
    for i, (first, *others) in enumerate(model.similar_rows(data.X[40:50], 3)):
        assert first.row == 40 + i  # in the table that was given, rows of weight 0 included
        assert first.similarity == pytest.approx(1, abs=1e-5)
        assert first.tags == [f"label{j}" for j in np.flatnonzero(data.Y[40 + i])]
        assert all(other.similarity <= first.similarity + 1e-6 for other in others)
    X, Y = mixed
    dense = LabelCoverClassifier(random_state=0).fit(X, Y)
    found = dense.similar_rows(X[:20], 2)
    assert sum(any(each.row == i for each in own) for i, own in enumerate(found)) > 12
    with pytest.raises(ValueError, match="similar_rows needs a forest or neighbours"):
        RakelPlusPlusClassifier(threshold=0.5).fit(X, Y).similar_rows(X[:2])


def test_what_speaks_for_a_label_is_what_it_follows(mixed):
    X, Y = mixed
    for make in ESTIMATORS.values():
        model = make().fit(X, Y)
        (warm, cold), (large, small) = speaking_features(model, [0, 1])
        assert warm[0][0] == "colour = red"
        assert large[0][0] == "size in cm"
        assert all(by < 0 for _, by in cold + small)
        assert not any(name == "flag" for name, _ in warm + large)
    assert speaking_features(RakelClassifier().fit(X, Y), [0]) is None


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
    assert all(1 <= text.count(";") <= 4 for text in words.values())
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
    monkeypatch.setattr("labelcover.ensemble._telling.BLOCK_ROWS", 1)
    monkeypatch.setattr("labelcover.ensemble._telling.BLOCK_NUMBERS", 1)
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
    ("model", "why"),
    [
        (RakelClassifier(size=4, random_state=0), "votes of members are no sums"),
        (
            LabelCoverClassifier(
                RandomForestClassifier(5), cover="disjoint", threshold=0.5, random_state=0
            ),
            r"RandomForestClassifier\(.*\) has no scores that are sums",
        ),
        (HomerClassifier(), "each label is reached through a tree of models"),
        (EnsembleOfChainsClassifier(n_chains=2), "each label of a chain is predicted from those"),
        (ProbabilisticChainClassifier(), "each label of a chain is predicted from those"),
        (LeadClassifier(), "each label is predicted from others"),
        (StackedBinaryRelevanceClassifier(), "each label is predicted from others"),
    ],
    ids=["votes", "any classifier", "HOMER", "ECC", "PCC", "LEAD", "2BR"],
)
def test_what_is_no_sum_is_refused_with_the_reason(data, model, why):
    model.fit(data.X[:60], data.Y[:60, :6])
    with pytest.raises(ValueError, match=f"(?s)explain is for .*{type(model).__name__}.*: {why}"):
        model.explain(data.X[:2])


def test_labels_in_no_labelset_have_no_reasons(data):
    model = LabelCoverClassifier(LeastSquaresClassifier(), cover=[[0, 1], [1, 2]], threshold=0.5)
    with pytest.warns(UserWarning, match="label3"):
        model.fit(data.X[:60], data.Y[:60, :4])
    why = model.explain(data.X[:2], label=3)
    assert [reason.part for reason in why] == ["start"] * 2
    assert set(why.in_words().values()) == {"nothing that counts"}


def test_a_row_of_missing_cells_is_explained_by_what_is_there(mixed):
    X, Y = mixed
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    row = X[:1].copy()
    row["colour"] = pd.Categorical([None], X["colour"].cat.categories)
    why = model.explain(row, label="large", n_reasons=2)
    assert_adds_up(model, row, why)
    assert next(r for r in why if r.part == "feature").what.startswith("size in cm = ")
