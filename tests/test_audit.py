"""Labels that were flipped are found, by features and by the other labels of the row."""

import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from labelcover import LabelCoverClassifier
from labelcover.audit import explain_suspects, label_errors, suspicion, suspicious_labels
from labelcover.audit._suspects import ALL_PAIRS
from labelcover.datasets import load
from labelcover.ensemble import Pool
from labelcover.ensemble._links import LINK_PENALTY
from labelcover.ensemble._plan import LEFT_OUT_TREES
from labelcover.learners import LabelForest, LeastSquaresClassifier


@pytest.fixture(scope="module")
def flipped():
    """500 rows of debtags, of whose cells 2 % are flipped, and which."""
    data = load("debtags")
    Y = data.Y[:500].copy()
    wrong = np.zeros(Y.shape, dtype=bool)
    cells = np.random.default_rng(0).choice(Y.size, Y.size // 50, replace=False)
    wrong.ravel()[cells] = True
    Y[wrong] = 1 - Y[wrong]
    return data.X[:500], Y, wrong, data.label_names


@pytest.fixture(scope="module")
def suspects(flipped):
    X, Y, _, names = flipped
    return suspicious_labels(X, Y, label_names=names)


def precision(wrong, score):
    return average_precision_score(wrong.ravel(), score.ravel())


def test_flipped_cells_come_first(flipped, suspects):
    _, Y, wrong, _ = flipped
    alone = np.where(Y == 1, 1 - suspects.features, suspects.features)
    found = precision(wrong, suspects.suspicion)
    assert found > 0.45 > 20 * wrong.mean()
    assert found > precision(wrong, alone), "the other labels of the row help"


def test_wrong_and_missing_labels_are_one_list_by_suspicion(flipped, suspects):
    _, Y, _, names = flipped
    every = suspects.ranked()
    assert [s.suspicion for s in every] == sorted((s.suspicion for s in every), reverse=True)
    wrong, missing = suspects.ranked("wrong"), suspects.ranked("missing")
    assert wrong
    assert missing
    assert [s for s in every if s.kind == "wrong"] == wrong
    assert [s for s in every if s.kind == "missing"] == missing
    for part, value in ((wrong, 1), (missing, 0)):
        assert {Y[s.row, names.index(s.label)] for s in part} == {value}
    assert suspects.ranked(most=3) == every[:3]
    assert len(suspects.ranked("wrong", above=0)) == Y.sum()
    assert len(suspects.ranked(above=0.5)) == (suspects.suspicion > 0.5).sum()
    assert list(suspects.to_frame("wrong")["row"]) == [s.row for s in wrong]


def test_the_list_has_as_many_cells_as_look_wrong(flipped, suspects):
    _, _, wrong, names = flipped
    number = suspects.n_wrong
    assert 0.5 < number.estimate / wrong.sum() < 2
    assert number.low < number.estimate < number.high
    listed = suspects.ranked()
    assert len(listed) == round(number.estimate)
    right = sum(wrong[s.row, names.index(s.label)] for s in listed)
    assert right > 0.4 * len(listed)
    lines = suspects.by_label()
    assert sum(line.wrong + line.missing for line in lines) == pytest.approx(number.estimate)
    assert {line.label for line in lines} == set(names)
    for line in lines:
        assert line.low <= line.wrong + line.missing <= line.high


@pytest.mark.parametrize("share", [0.5, 0.2, 0.04])
def test_no_coin_flip_looks_wrong(share):
    random = np.random.default_rng(3)
    X = random.normal(size=(400, 5))
    found = suspicious_labels(X, (random.random((400, 6)) < share).astype(int))
    assert found.n_wrong == (0, 0, 0)
    assert found.ranked() == []
    assert "No label can be judged" in found.in_words()


def test_coin_flips_beside_labels_with_errors_are_not_suspected():
    random = np.random.default_rng(4)
    X = random.normal(size=(600, 5))
    Y = (X[:, :3] > 0) ^ (random.random((600, 3)) < 0.02)
    coins = random.random((600, 3)) < [0.5, 0.2, 0.05]
    found = suspicious_labels(X, np.column_stack([Y, coins]).astype(int))
    assert {s.label for s in found.ranked()} == {"label0", "label1", "label2"}
    assert 18 < found.n_wrong.estimate < 72
    judged = {line.label: line.judged for line in found.by_label()}
    assert [judged[f"label{j}"] for j in range(6)] == [True] * 3 + [False] * 3
    assert "Judged are 3 of the 6" in found.in_words()


@pytest.mark.parametrize("strength", [0.7, 2.0, 5.0])
def test_labels_that_follow_from_features_by_chance_are_not_called_wrong(strength):
    """By the true probabilities, so that nothing hangs on how well a model fits."""
    random = np.random.default_rng(5)
    P = expit(strength * random.normal(size=(4000, 5)))
    Y = (random.random(P.shape) < P).astype(np.uint8)
    unlikely = np.where(Y == 1, 1 - P, P)
    assert label_errors(Y, unlikely).total.estimate < 0.1 * (unlikely > 0.5).sum()


@pytest.mark.parametrize("rates", [(0.02, 0.02), (0.03, 0.0), (0.0, 0.03), (0.0, 0.0)])
def test_errors_are_counted_where_labels_are_certain(rates):
    """Wrong labels and missing ones each, by true probabilities of labels with errors."""
    random = np.random.default_rng(6)
    true = expit(6 * random.normal(size=(4000, 6)))
    P = true * (1 - rates[1]) + (1 - true) * rates[0]
    truth = random.random(P.shape) < true
    flip = random.random(P.shape) < np.where(truth, rates[1], rates[0])
    Y = (truth ^ flip).astype(np.uint8)
    found = label_errors(Y, np.where(Y == 1, 1 - P, P))
    for number, planted in ((found.wrong, flip & ~truth), (found.missing, flip & truth)):
        assert abs(number.sum() - planted.sum()) < 60 + 0.3 * planted.sum()
    assert found.total.low - 60 < flip.sum() < found.total.high + 60


def test_suspects_are_displayed_in_short(suspects):
    text = repr(suspects)
    assert text.startswith("Suspects(500 rows, 24 labels: about ")
    assert len(text) < 100
    shown = suspects._repr_html_()
    assert "of 12,000 labels (500 rows × 24) look wrong or missing" in shown
    assert shown.count("<tr>") == 11
    first = suspects.ranked(most=1)[0]
    assert f"<td>{first.row}</td><td>{first.label}</td><td>{first.kind}</td>" in shown


def test_names_are_escaped_where_suspects_are_displayed(suspects):
    shown = replace(suspects, label_names=[f"<b>{name}" for name in suspects.label_names])
    assert "<b>" not in shown._repr_html_()


def test_reasons_are_of_models_that_have_not_seen_the_row(flipped, suspects):
    """The features speak against most labels that are wrong, although they are in the table."""
    X, _, _, _ = flipped
    data = load("debtags")
    listed = suspects.ranked(most=40)
    why = explain_suspects(suspects, listed, X, feature_names=data.feature_names)
    assert list(why) == [s[:2] for s in listed]
    agree = 0
    for suspect in listed:
        reasons = why[suspect[:2]]
        assert all(by < 0 for _, by in reasons.against)
        assert all(by > 0 for _, by in reasons.speaking_for)
        total = sum(by for _, by in reasons.against + reasons.speaking_for)
        agree += (total < 0) == (suspect.kind == "wrong")
    assert agree > 0.7 * len(listed)
    told = " ".join(map(str, why.values()))
    assert "has " in told
    assert " = " in told


def test_without_features_the_other_labels_are_reasons(suspects):
    listed = suspects.ranked()
    why = explain_suspects(suspects, listed)
    assert len(why) == len(listed)
    told = [what for reasons in why.values() for what, _ in reasons.against + reasons.speaking_for]
    assert told
    assert all(what.startswith(("has ", "does not have ")) for what in told)


def test_the_file_has_a_line_for_each_suspect(suspects, tmp_path):
    path = tmp_path / "suspects.csv"
    listed = suspects.ranked()
    assert suspects.write(path) == len(listed)
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["row", "label", "kind", "suspicion", "features"]
    assert [(int(line["row"]) - 1, line["label"], line["kind"]) for line in lines] == [
        s[:3] for s in listed
    ], "rows are numbered from 1, as in files of predictions"
    suspects.write(path, reasons=explain_suspects(suspects, listed))
    assert path.read_text(encoding="utf-8").startswith("row,label,kind,suspicion,features,reason\n")


def test_names_that_a_spreadsheet_would_run_are_guarded_in_the_file(suspects, tmp_path):
    path = tmp_path / "suspects.csv"
    names = [f"=row{row}" for row in range(len(suspects.Y))]
    suspects.write(path, row_names=names)
    assert ",'=row" in path.read_text(encoding="utf-8")
    suspects.write(path, row_names=names, raw=True)
    assert ",=row" in path.read_text(encoding="utf-8")


def test_frames_and_sparse_tables_give_the_same(flipped, suspects):
    X, Y, _, names = flipped
    dense = X.toarray() if sparse.issparse(X) else X
    frame = suspicious_labels(pd.DataFrame(dense), pd.DataFrame(Y, columns=names))
    assert frame.label_names == list(names)
    assert frame.suspicion == pytest.approx(suspects.suspicion)
    other = suspicious_labels(X, sparse.csr_matrix(Y))
    assert other.suspicion == pytest.approx(suspects.suspicion)
    assert other.label_names[0] == "label0"


def test_any_classifier_is_cross_validated(flipped):
    X, Y, wrong, _ = flipped
    Y, wrong = Y[:, :6], wrong[:, :6]
    model = MultiOutputClassifier(LogisticRegression(solver="liblinear"))
    found = suspicious_labels(X, Y, model)
    assert precision(wrong, found.suspicion) > 5 * wrong.mean()


def test_left_out_predictions_are_of_all_rows_and_leave_the_model_alone(monkeypatch):
    """Above 512 rows a plain fit samples rows; the audit has all, in their own order."""
    data = load("debtags")
    X, Y = data.X[:700], data.Y[:700, :5]
    model = LabelCoverClassifier(LeastSquaresClassifier(kernel="linear"), k=1, r=1, random_state=0)
    P = model.left_out_proba(X, Y)
    assert P.shape == Y.shape
    assert not hasattr(model, "view_")
    chosen = model.fit(X, Y).left_out_predictions_
    assert chosen.Y.tolist() == Y[chosen.rows].tolist()
    assert P[chosen.rows] == pytest.approx(chosen.confidence, abs=1e-9)
    monkeypatch.setattr("labelcover.learners._least_squares.choosing.QUICK_EXACT_ROWS", 300)
    rbf = LabelCoverClassifier(LeastSquaresClassifier(kernel="rbf"), k=1, r=1, random_state=0)
    near = rbf.left_out_proba(X, Y)
    assert np.corrcoef(near.ravel(), P.ravel())[0, 1] > 0.9


def test_only_what_left_out_predictions_need_is_fitted(flipped, monkeypatch):
    """Fewer trees, unless their number is given, and no decision."""
    X, Y, _, _ = flipped
    grown = []
    grow = LabelForest.fit_labels

    def fit_labels(self, *tables, **how):
        forest, left_out = grow(self, *tables, **how)
        grown.append(forest.n_trees)
        return forest, left_out

    def fit_decision(*_, **__):
        raise AssertionError("a decision was fitted")

    monkeypatch.setattr(LabelForest, "fit_labels", fit_labels)
    monkeypatch.setattr("labelcover.ensemble._view.fit_decision", fit_decision)
    for forest in (LabelForest(), LabelForest(n_trees=7)):
        model = LabelCoverClassifier(Pool(forest=forest), k=1, r=1, random_state=0)
        assert model.left_out_proba(X[:100], Y[:100, :4]).shape == (100, 4)
    assert grown == [LEFT_OUT_TREES, 7]
    monkeypatch.undo()
    assert model.set_params(estimator=LabelForest()).fit(X[:100], Y[:100]).view_.model.n_trees > 64


def plain_suspicion(Y, P):
    """Return the same by fitting every label anew without each row, at the same penalty."""

    def fit(inputs, offset, y, penalty):
        theta = np.zeros(inputs.shape[1])
        for _ in range(20):
            p = expit(offset + inputs @ theta)
            curve = inputs.T @ np.diag(p * (1 - p)) @ inputs + penalty * np.eye(len(theta))
            theta -= np.linalg.solve(curve, inputs.T @ (p - y) + penalty * theta)
        return theta

    n, m = Y.shape
    found = np.empty((n, m))
    for j in range(m):
        inputs = np.column_stack([np.delete(Y - P, j, axis=1), np.ones(n)])
        offset, y = logit(P[:, j]), Y[:, j]
        for i in range(n):
            kept = np.arange(n) != i
            theta = fit(inputs[kept], offset[kept], y[kept], LINK_PENALTY)
            found[i, j] = offset[i] + inputs[i] @ theta
    return expit(np.where(Y == 1, -found, found))


def test_suspicion_is_that_of_refitting_without_each_row():
    random = np.random.default_rng(1)
    common = random.normal(size=(40, 1))
    P = 1 / (1 + np.exp(-random.normal(size=(40, 3))))
    Y = (random.random((40, 3)) < 1 / (1 + np.exp(-np.log(P / (1 - P)) - 2 * common))).astype(
        np.uint8
    )
    assert suspicion(Y, P) == pytest.approx(plain_suspicion(Y, P), abs=0.02)


def test_few_of_many_labels_are_looked_at():
    random = np.random.default_rng(0)
    one = random.random((1000, 1)) < 0.5
    noise = random.random((1000, ALL_PAIRS + 10)) < 0.5
    Y = np.column_stack([noise, one, one]).astype(np.uint8)
    Y[5, -1] = 1 - Y[5, -1]
    found = suspicion(Y, np.full(Y.shape, 0.5))
    assert found[5, -2:].min() > 0.9 > found[:, :-2].max()


def test_of_many_labels_none_explains_a_cell_by_chance():
    random = np.random.default_rng(0)
    coins = (random.random((400, 900)) < 0.05).astype(np.uint8)
    frequencies = np.broadcast_to(coins.mean(axis=0), coins.shape)
    assert label_errors(coins, suspicion(coins, frequencies)).total.estimate == 0
    true = random.random((600, 300)) < 0.1
    wrong = random.random(true.shape) < 0.02
    Y = (true ^ wrong).astype(np.uint8)
    found = label_errors(Y, suspicion(Y, np.where(true, 0.95, 0.05))).total.estimate
    assert found == pytest.approx(wrong.sum(), rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "odd"}, "kind must be one of 'wrong', 'missing', got 'odd'"),
        ({"most": -1}, "most must be an integer of at least 0, got -1"),
        ({"above": 7}, "above must be a number at least 0 and at most 1, got 7"),
        ({"above": float("nan")}, "above must be a number at least 0 and at most 1, got nan"),
        ({"above": "0.5"}, "above must be a number at least 0 and at most 1, got '0.5'"),
    ],
)
def test_wrong_arguments_are_named(suspects, arguments, said):
    with pytest.raises(ValueError, match=said):
        suspects.ranked(**arguments)


def test_labels_must_be_zeros_and_ones_and_named(flipped):
    X, Y, _, _ = flipped
    with pytest.raises(ValueError, match="label_names must name the 24 labels, got 1 names"):
        suspicious_labels(X, Y, label_names=["one"])
    with pytest.raises(ValueError, match="0 and 1"):
        suspicious_labels(X, Y * 2)
    with pytest.raises(ValueError, match="label_names must name the 24 labels, got 'one'"):
        suspicious_labels(X, Y, label_names="one")
    with pytest.raises(ValueError, match="label_names must be different names, got 'one' twice"):
        suspicious_labels(X, Y, label_names=["one"] * 24)
    with pytest.raises(ValueError, match=r"Y must be a table .* got shape \(\d+,\)"):
        suspicious_labels(X, Y[:, 0])


def test_names_of_rows_must_be_as_many_as_rows(suspects, tmp_path):
    with pytest.raises(ValueError, match=r"row_names must name the \d+ rows, got 1 names"):
        suspects.write(tmp_path / "s.csv", row_names=["one"])


def test_tags_are_audited_as_their_table(flipped):
    X, Y, _, _ = flipped
    X, Y = X[:120], Y[:120, :5]
    names = np.array(list("abcde"))
    of_table = suspicious_labels(X, Y, label_names=names)
    lists = [names[row > 0].tolist() for row in Y]
    for tags in (lists, list(map(set, lists)), pd.Series(map(";".join, lists))):
        found = suspicious_labels(X, tags)
        assert found.label_names == of_table.label_names
        np.testing.assert_array_equal(found.suspicion, of_table.suspicion)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_audited(flipped, n):
    X, Y, _, _ = flipped
    found = suspicious_labels(X[:n], Y[:n])
    assert found.suspicion.shape == (n, 24)
    assert np.isfinite(found.suspicion).all()


def test_a_label_without_rows_is_not_suspected_by_cross_validation(flipped):
    X, Y, _, _ = flipped
    Y = np.column_stack([Y[:60, :2], np.zeros(60, int), np.ones(60, int)])
    found = suspicious_labels(X[:60], Y, KNeighborsClassifier())
    assert found.suspicion[:, 2:].max() < 0.01


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        ("forest", "estimator must be a classifier that has .*, got 'forest'"),
        (LabelCoverClassifier, "estimator must be a classifier that has .*, got <class"),
        (MultiOutputClassifier(SVC()), "estimator must be a classifier that has left_out_proba"),
        (KNeighborsClassifier(), "is cross-validated in 5 folds, expected as many rows, got 4"),
    ],
    ids=["string", "class", "no probabilities", "few rows"],
)
def test_what_cannot_predict_rows_left_out_is_refused(flipped, estimator, said):
    X, Y, _, _ = flipped
    with pytest.raises(ValueError, match=said):
        suspicious_labels(X[:4], Y[:4], estimator)


@pytest.fixture(scope="module")
def partly(flipped):
    """The flipped rows of which a quarter of the cells is not known, and their suspects."""
    X, Y, _, names = flipped
    known = np.random.default_rng(1).random(Y.shape) < 0.75
    return known, suspicious_labels(X, np.where(known, Y, np.nan), label_names=names)


def test_labels_that_are_not_known_are_not_suspected(flipped, partly, suspects):
    X, _, wrong, names = flipped
    known, found = partly
    np.testing.assert_array_equal(found.known, known)
    assert (found.suspicion[~known] == 0).all()
    at = {name: j for j, name in enumerate(names)}
    for listed in (found.ranked(), found.ranked(above=0.0)):
        assert listed
        assert all(known[each.row, at[each.label]] for each in listed)
    assert f"of {known.sum():,} known labels (of {known.size:,}) look" in found.in_words()
    # What is known is judged nearly as well as with all labels.
    assert precision(wrong[known], found.suspicion[known]) > 0.8 * precision(
        wrong[known], suspects.suspicion[known]
    )
    assert found.n_wrong.low < wrong[known].sum() * 1.5
    listed = found.ranked(most=5)
    reasons = explain_suspects(found, listed, X)
    for each in listed:
        told = str(reasons[each.row, each.label])
        hidden = [names[j] for j in np.flatnonzero(~known[each.row])]
        assert not any(f"has {name} (" in told or f"not have {name} (" in told for name in hidden)


def test_numbers_of_errors_are_those_of_known_cells():
    random = np.random.default_rng(0)
    p = np.where(random.random((6000, 3)) < 0.5, 0.02, 0.98)
    Y = (random.random(p.shape) < p).astype(np.uint8)
    found = np.where(Y == 1, 1 - p, p)
    rows = np.arange(6000) % 2 == 0
    known = np.broadcast_to(rows[:, None], Y.shape)
    half = label_errors(np.where(known, Y, 0).astype(np.uint8), np.where(known, found, 0), known)
    alone = label_errors(Y[rows], found[rows])
    assert half.total == pytest.approx(alone.total)
    np.testing.assert_array_equal(half.judged, alone.judged)
    every = label_errors(Y, found, np.ones(Y.shape, dtype=bool))
    assert every.total == label_errors(Y, found).total


def test_an_audit_of_unknown_labels_needs_left_out_predictions(flipped):
    X, Y, _, _ = flipped
    model = MultiOutputClassifier(LogisticRegression())
    with pytest.raises(ValueError, match="estimator must have left_out_proba where labels are not"):
        suspicious_labels(X, np.where(Y == 1, Y, np.nan), model)
