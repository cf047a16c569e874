"""Estimators take tables as they are: text, categories, dates, truth values, gaps and ids."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.datasets import read_table
from labelcover.experiments.named_methods import METHODS
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.models import fit_model, load_model, save_model

WORDS = ["printer", "fire", "paper", "password", "reset", "broken", "screen", "mouse", "network"]
WORDS += ["slow", "vpn", "login"]
ABOUT = {
    "hardware": {"printer", "mouse"},
    "account": {"password", "login"},
    "network": {"vpn", "network"},
}
N = 120


@pytest.fixture(scope="module")
def tickets():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "subject": [" ".join(random.choice(WORDS, 4)) for _ in range(N)],
            "colour": random.choice(["red", "green", "blue"], N),
            "hours": random.normal(size=N).round(3),
            "opened": pd.date_range("2024-01-01", periods=N, freq="7h"),
            "urgent": random.random(N) > 0.5,
            "ticket": [f"T-{i:04}" for i in range(N)],
        }
    )
    frame.loc[::7, "hours"] = np.nan
    tags = [
        [tag for tag, words in ABOUT.items() if words & set(subject.split())]
        for subject in frame["subject"]
    ]
    return frame, tags


def quick(**parameters):
    return BinaryRelevanceClassifier(random_state=0, **parameters)


def test_columns_are_read_for_what_they_are(tickets):
    frame, tags = tickets
    model = LabelCoverClassifier(random_state=0).fit(frame, tags)
    kinds = {kind.name: kind.kind for kind in model.columns_}
    assert kinds == {
        "subject": "text",
        "colour": "category",
        "hours": "number",
        "opened": "date",
        "urgent": "truth value",
        "ticket": "id, not used",
    }
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 6
    hits = [set(a) == set(b) for a, b in zip(model.predict_tags(frame), tags, strict=True)]
    assert np.mean(hits) > 0.9
    told = [line.split() for line in repr(model.columns_).splitlines()]
    assert ["opened", "date", "written", "as", "ISO", "8601"] in told
    assert "columns={'ticket': 'text'} takes it in" in repr(model.columns_)
    assert "<td style='text-align:left'>colour</td>" in model.columns_._repr_html_()
    assert "subject" in " ".join(model.explain(frame[:5]).in_words().values())


@pytest.mark.parametrize(
    "given",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: frame.to_dict("records"),
        lambda frame: frame[frame.columns[::-1]].assign(more=1),
        lambda frame: frame.astype({"colour": "category"}),
    ],
    ids=["pandas", "polars", "Arrow", "dicts", "other order", "category dtype"],
)
def test_a_table_is_the_same_whatever_holds_it(tickets, given):
    frame, tags = tickets
    expected = quick().fit(frame, tags)
    np.testing.assert_array_equal(
        expected.predict_proba(given(frame)), expected.predict_proba(frame)
    )
    if "more" not in list(getattr(given(frame), "columns", [])):
        again = quick().fit(given(frame), tags)
        np.testing.assert_array_equal(again.predict_proba(frame), expected.predict_proba(frame))


def test_texts_alone_are_a_list_of_strings(tickets):
    frame, tags = tickets
    subjects = frame["subject"]
    alone = [quick().fit(texts, tags) for texts in (subjects.tolist(), subjects.to_numpy())]
    framed = quick().fit(subjects.to_frame("text"), tags)
    for model in alone:
        assert [kind.kind for kind in model.columns_] == ["text"]
        given = model.predict_proba(["printer is slow", "vpn"])
        expected = framed.predict_proba(pd.DataFrame({"text": ["printer is slow", "vpn"]}))
        np.testing.assert_array_equal(given, expected)


def test_what_is_given_for_columns_is_taken(tickets):
    frame, tags = tickets
    given = {"subject": "category", "hours": "drop", "colour": "text", "urgent": "id"}
    model = quick(columns=given).fit(frame, tags)
    found = {kind.name: kind.kind for kind in model.columns_}
    assert [found[name] for name in given] == ["category", "not used", "text", "id, not used"]
    assert clone(model).columns == given
    wrong = {"subject": "prose"}
    with pytest.raises(ValueError, match=r"columns\['subject'\] must be one of text, .*'prose'"):
        quick(columns=wrong).fit(frame, tags)
    with pytest.raises(ValueError, match=r"columns names 'object', expected columns of X: subj"):
        quick(columns={"object": "text"}).fit(frame, tags)
    with pytest.raises(ValueError, match=r"columns is for tables with names, got it for ndarray"):
        quick(columns={"object": "text"}).fit(np.eye(3), np.eye(3, dtype=int))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_tables(tickets, name):
    frame, tags = tickets
    made = METHODS[name]
    model = made(**({"random_state": 0} if "random_state" in made().get_params() else {}))
    model.fit(frame[:60], tags[:60])
    assert len(model.columns_) == 6
    assert model.predict(frame).shape == (N, 3)


@pytest.mark.parametrize("member", [C45Classifier(), SMOClassifier()])
def test_categories_stay_nominal_for_c45_and_smo(tickets, member):
    frame, tags = tickets
    X = frame[["colour", "hours", "urgent"]]
    model = BinaryRelevanceClassifier(member).fit(X, tags)
    assert sorted(model._coding.n_values.tolist()) == [0, 0, 3]
    assert np.isfinite(model.predict_proba(X)).all()


def test_scikit_learns_classifiers_are_given_numbers_and_pipelines_the_frame(tickets):
    frame, tags = tickets
    forest = BinaryRelevanceClassifier(RandomForestClassifier(20, random_state=0)).fit(frame, tags)
    assert forest.score(frame, tags) > 0.5
    seen = []

    def keep(X):
        seen.append(type(X))
        return X[["hours"]].fillna(0)

    member = make_pipeline(FunctionTransformer(keep), LogisticRegression())
    model = BinaryRelevanceClassifier(member).fit(frame, tags)
    model.predict(frame)
    assert set(seen) == {pd.DataFrame}
    assert not hasattr(model, "columns_")


def test_what_scikit_learn_and_pickle_do_with_estimators_works(tickets, tmp_path):
    frame, tags = tickets
    model = quick().fit(frame, tags)
    expected = model.predict_proba(frame)
    save_model(model, tmp_path / "m.skops")
    for again in (
        clone(model).fit(frame, tags),
        pickle.loads(pickle.dumps(model)),
        load_model(tmp_path / "m.skops"),
        Pipeline([("last", quick())]).fit(frame, tags),
    ):
        np.testing.assert_array_equal(again.predict_proba(frame), expected)
    named = model.set_output(predict="pandas").predict(frame)
    assert list(named.columns) == ["account", "hardware", "network"]
    Y = named.to_numpy()
    scores = cross_validate(quick(), frame, Y, cv=3, error_score="raise")["test_score"]
    assert len(scores) == 3
    found = GridSearchCV(
        quick(), {"columns": [None, {"subject": "drop"}]}, cv=2, error_score="raise"
    ).fit(frame, Y)
    assert found.best_params_ == {"columns": None}


def test_numbers_in_a_frame_are_what_they_are_in_an_array():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    Y = (X[:, :2] > 0).astype(int)
    frame = pd.DataFrame(X, columns=list("abc"))
    expected = quick().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(quick().fit(frame, Y).predict_proba(frame), expected, atol=1e-9)
    frame.iloc[3, 1] = np.nan
    model = quick().fit(frame, Y)
    assert model.columns_["b"].why == "1.7% missing"
    assert np.isfinite(model.predict_proba(frame)).all()


# What new rows may hold


@pytest.fixture(scope="module")
def fitted(tickets):
    return quick().fit(*tickets)


def test_a_column_that_is_missing_is_named_with_what_it_was(fitted, tickets):
    frame, _ = tickets
    said = r"X: no column 'colour', which was category in training, expected the columns of tr"
    with pytest.raises(ValueError, match=said):
        fitted.predict(frame.drop(columns="colour"))
    with pytest.raises(ValueError, match=r"X: no column 'subject', which was text in training"):
        fitted.predict(pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"trained on a table, expected its columns by name: .*nd"):
        fitted.predict(np.zeros((1, 6)))
    twice = pd.concat([frame, frame[["colour"]]], axis=1)
    with pytest.raises(ValueError, match=r"X: column 'colour' is there twice, expected once"):
        fitted.predict(twice)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("hours", "much", "column 'hours' holds 'much' in row 4, expected a number"),
        ("opened", "never", "column 'opened' holds 'never' in row 4, expected a date"),
        ("colour", "mauve", "column 'colour' holds 'mauve' in row 4, a category that is not in"),
    ],
)
def test_a_cell_that_cannot_be_read_stops_no_other_row(fitted, tickets, column, cell, said):
    frame = tickets[0].astype({column: object})
    frame.loc[3, column] = cell
    with pytest.warns(UserWarning, match=said) as caught:
        found = fitted.predict_proba(frame)
    assert len(caught) == 1
    others = np.arange(N) != 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = fitted.predict_proba(tickets[0])
    np.testing.assert_array_equal(found[others], expected[others])
    assert np.isfinite(found[3]).all()


# The command


def test_a_file_and_a_frame_give_the_same_model_to_the_bit(tickets, tmp_path, command):
    frame, tags = tickets
    path, model = tmp_path / "tickets.csv", tmp_path / "m.skops"
    frame.assign(tags=[";".join(row) for row in tags]).to_csv(path, index=False)
    code, _, said = command("train", path, "--tags", "tags", "-o", model)
    assert code == 0, said
    trained = load_model(model)
    here = LabelCoverClassifier(random_state=0).fit(frame, tags)
    expected = here.predict_proba(frame)
    np.testing.assert_array_equal(trained.predict_proba(frame), expected)
    assert code == command("predict", model, path, "-o", tmp_path / "p.csv")[0] == 0
    written = pd.read_csv(tmp_path / "p.csv")
    names = [f"probability of {name}" for name in here.label_names_in_]
    np.testing.assert_array_equal(written[names].to_numpy(), expected)
    # A model that was fitted here is one for the command too.
    save_model(here, model)
    assert command("predict", model, path, "-o", tmp_path / "q.csv")[0] == 0
    again = pd.read_csv(tmp_path / "q.csv")
    np.testing.assert_array_equal(again[names].to_numpy(), expected)


def test_a_model_of_a_file_is_the_estimator_itself(tickets, tmp_path):
    frame, tags = tickets
    frame.assign(tags=[";".join(row) for row in tags]).to_csv(tmp_path / "t.csv", index=False)
    dataset = read_table(tmp_path / "t.csv", tags="tags")
    model = fit_model(RakelClassifier(k=2, random_state=0), dataset)
    assert isinstance(model, RakelClassifier)
    assert model.reading_.labels.tags == "tags"
    alone = RakelClassifier(k=2, random_state=0).fit(frame, tags)
    np.testing.assert_array_equal(model.predict_proba(frame), alone.predict_proba(frame))
