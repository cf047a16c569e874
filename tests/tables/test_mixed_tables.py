"""Tables with text beside numbers and categories: each block of columns has views of its own."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from labelcover import LabelCoverClassifier, load_model
from labelcover.ensemble import Plan, ViewPlan
from labelcover.models import save_model

NUMBERS = "numbers and categories"
N = 240


def log_loss(predictions):
    right = np.where(predictions.Y > 0, predictions.confidence, 1 - predictions.confidence)
    return -np.log(right).mean()


@pytest.fixture(scope="module")
def films():
    """Numbers and a category say which labels a film has, titles of random words do not."""
    random = np.random.default_rng(0)
    words = np.array([f"word{j}" for j in range(150)])
    frame = pd.DataFrame(
        {
            "title": [" ".join(row) for row in random.choice(words, (N, 4))],
            "tagline": [" ".join(row) for row in random.choice(words, (N, 9))],
            "year": random.integers(1950, 2020, N),
            "votes": random.normal(size=N),
            "country": random.choice(["FR", "IN", "US", "KR"], N),
        }
    )
    scores = np.column_stack(
        [(frame["year"] - 1985) / 8, 3 * frame["votes"], 4 * (frame["country"] == "FR") - 2]
    )
    return frame, (scores + random.logistic(size=scores.shape) > 0).astype(int)


@pytest.fixture(scope="module")
def model(films):
    return LabelCoverClassifier(random_state=0).fit(*films)


@pytest.fixture(scope="module")
def tickets(films):
    """A text and numbers that both count."""
    frame, Y = films
    random = np.random.default_rng(1)
    told = [("rain" if row[1] else "sun") if random.random() < 0.7 else "wind" for row in Y]
    text = [f"{own} in the {each}" for own, each in zip(told, frame["title"], strict=True)]
    return frame.assign(title=text).drop(columns=["tagline", "votes"]), Y


def columns_of(model):
    return list(dict.fromkeys(view.columns for view in model.plan_.views))


def test_text_that_says_nothing_costs_next_to_nothing(films, model):
    frame, Y = films
    numbers = LabelCoverClassifier(random_state=0).fit(frame.drop(columns=["title", "tagline"]), Y)
    whole, alone = (log_loss(each.left_out_predictions_) for each in (model, numbers))
    assert whole < 1.005 * alone, "with the texts in one table with the numbers it was 1.1"


def test_what_says_nothing_new_is_dropped_and_told(model):
    assert model.view_.unused
    assert set(model.view_.unused) <= {"title", "tagline", ""}
    assert "nothing new in" in model.view_.told()
    assert all("tagline" not in name for name in model.view_.view_names)


def test_each_text_and_all_other_columns_have_views_of_their_own(model):
    assert columns_of(model) == [(), (NUMBERS,), ("title",), ("tagline",)]
    told = str(model.plan_)
    assert "what columns say together" in told
    assert f"boosted trees on {NUMBERS}" in told
    assert "neighbours on title" in told


def test_many_texts_are_looked_at_together(films):
    frame, Y = films
    texts = {f"text{j}": np.roll(frame["title"].to_numpy(), 7 * j) for j in range(5)}
    wide = pd.DataFrame({**texts, "votes": frame["votes"]})
    assert columns_of(LabelCoverClassifier().fit(wide, Y)) == [(), (NUMBERS,), tuple(texts)]
    assert columns_of(LabelCoverClassifier().fit(wide.drop(columns="votes"), Y)) == [()]


@pytest.mark.parametrize("left", [["title", "tagline"], ["tagline", "year", "votes", "country"]])
def test_a_table_of_one_kind_has_no_blocks(films, left):
    frame, Y = films
    assert columns_of(LabelCoverClassifier().fit(frame.drop(columns=left), Y)) == [()]


def test_a_text_and_numbers_that_both_count_are_pooled(tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, Y)
    blocks = [frame[["title"]], frame.drop(columns="title")]
    alone = [LabelCoverClassifier(random_state=0).fit(each, Y) for each in blocks]
    losses = [log_loss(each.left_out_predictions_) for each in alone]
    assert log_loss(model.left_out_predictions_) < 0.9 * min(losses)
    assert not {"title", NUMBERS} & set(model.view_.unused)


def test_reasons_add_up_and_name_columns_of_all_blocks(tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, Y)
    why = model.explain(frame[:9], label=[0, 1, 2])
    P = model.predict_proba(frame[:9])
    for (row, label), score in why.scores.items():
        parts = [each.contribution for each in why if (each.row, each.label) == (row, label)]
        assert sum(parts) == pytest.approx(score, abs=1e-9)
        assert score == pytest.approx(logit(P[row, int(label[-1])]), abs=1e-9)
    told = " ".join(each.what for each in why if each.part == "feature")
    assert "title: " in told
    assert "year = " in told
    assert "country = " in told


def test_weights_of_rows_and_similar_rows(tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, Y, sample_weight=np.arange(N) % 3)
    assert np.isfinite(model.predict_proba(frame)).all()
    found = model.similar_rows(frame[4:5], 3)[0]
    assert [each.similarity > 0 for each in found] == [True] * 3


def test_a_row_alone_and_a_loaded_model_give_the_same(tmp_path, tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, Y)
    P = model.predict_proba(frame)
    np.testing.assert_allclose(model.predict_proba(frame[7:8])[0], P[7], rtol=1e-12)
    save_model(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").predict_proba(frame), P)


def test_threads_change_nothing(films, model):
    frame, Y = films
    threads = LabelCoverClassifier(random_state=0, n_jobs=2).fit(frame, Y)
    np.testing.assert_array_equal(threads.predict_proba(frame), model.predict_proba(frame))


def test_folds_of_a_threshold_have_blocks_too(tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(threshold="cv", random_state=0).fit(frame, Y)
    assert columns_of(model) == [(), (NUMBERS,), ("title",)]
    assert len(model.left_out_predictions_.rows) == N


def test_known_labels_speak_beside_blocks(tickets):
    frame, Y = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, Y)
    known = np.full((5, 3), np.nan)
    known[:, 0] = Y[:5, 0]
    P = model.predict_proba(frame[:5], known=known)
    np.testing.assert_array_equal(P[:, 0], Y[:5, 0])
    why = model.explain(frame[:5], label=1, known=known)
    for (row, _), score in why.scores.items():
        assert score == pytest.approx(logit(P[row, 1]), abs=1e-9)


def test_the_command_says_what_is_planned_and_what_says_nothing(tmp_path, films, command):
    frame, Y = films
    tags = [";".join(np.array(["a", "b", "c"])[row > 0]) for row in Y]
    frame.assign(tags=tags).to_csv(tmp_path / "films.csv", index=False)
    how = [tmp_path / "films.csv", "--tags", "tags", "--empty", "none"]
    code, printed, _ = command("plan", *how)
    assert code == 0
    assert f"view: boosted trees on {NUMBERS}" in printed
    assert "view: neighbours on tagline" in printed
    code, printed, errors = command("train", *how, "-o", tmp_path / "m.skops")
    assert code == 0, errors
    (line,) = (line for line in printed.splitlines() if line.startswith("nothing new in"))
    assert "tagline" in line


def test_left_out_predictions_of_all_rows_have_blocks_too(films):
    frame, Y = films
    P = LabelCoverClassifier(random_state=0).left_out_proba(frame, Y)
    assert ((P > 0.5) == Y).mean() > 0.8


def test_a_plan_may_name_columns(films):
    frame, Y = films
    plan = Plan([ViewPlan("forest", columns=("title", NUMBERS)), ViewPlan("forest")])
    model = LabelCoverClassifier(plan=plan, random_state=0).fit(frame, Y)
    assert f"forest on title, {NUMBERS}: as asked" in str(model.plan_)
    wrong = Plan([ViewPlan("forest", columns=("name",))])
    with pytest.raises(ValueError, match=r"columns of a view in plan must be one of .*got 'name'"):
        LabelCoverClassifier(plan=wrong).fit(frame, Y)
    with pytest.raises(ValueError, match="must name each view once, got 'forest' twice"):
        LabelCoverClassifier(plan=Plan([plan.views[0]] * 2)).fit(frame, Y)


def test_labels_that_are_not_known_beside_blocks(tickets):
    frame, Y = tickets
    partly = Y.astype(float)
    partly[:, 1:][np.random.default_rng(2).random((N, 2)) < 0.3] = np.nan
    model = LabelCoverClassifier(random_state=0).fit(frame, partly)
    assert columns_of(model) == [(), (NUMBERS,), ("title",)]
    unknown = np.isnan(partly)
    assert ((model.predict_proba(frame) > 0.5) == Y)[unknown].mean() > 0.75


def test_a_date_that_is_always_the_same_is_no_block(tickets):
    frame, Y = tickets
    frame = frame[["title"]].assign(day=pd.Timestamp("2024-12-31"))
    model = LabelCoverClassifier(random_state=0).fit(frame, Y)
    assert model._coding.blocks == {}
    assert model.predict_proba(frame).shape == Y.shape
