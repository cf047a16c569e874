"""Names that were given to labels come out again, and weights are where scikit-learn looks."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import has_fit_parameter

from labelcover import RakelClassifier
from labelcover.datasets import load, read_table
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.metrics import micro_f1
from labelcover.models import fit_model, load_model, save_model


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return X, (X > 0).astype(np.uint8)


def fitted(X, Y):
    return RakelClassifier(k=2, size=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (pd.MultiIndex.from_product([["mood"], ["sad", "glad", "mad"]]), "mood / glad"),
        ([2019, 2020, 2021], "2020"),
        (["a", 7, "c"], "7"),
        ([0, 1, 2], "label1"),
    ],
)
def test_columns_of_any_kind_name_labels(table, columns, names):
    X, Y = table
    model = fitted(X, pd.DataFrame(Y, columns=columns))
    assert model.label_names_in_[1] == names
    assert {tag for tags in model.predict_tags(X) for tag in tags} == set(model.label_names_in_)


def test_the_labels_of_a_data_set_carry_their_names():
    data = load("debtags")
    model = BinaryRelevanceClassifier().fit(data.X[:300], data.labels[:300])
    assert model.label_names_in_.tolist() == data.label_names
    tags = {tag for row in model.predict_tags(data.X[:20]) for tag in row}
    assert tags <= set(data.label_names)
    predicted = model.predict(data.X[300:])
    assert micro_f1(data.labels[300:], predicted) == micro_f1(data.Y[300:], predicted)


def test_a_trained_model_predicts_the_names_of_its_data_set(tmp_path):
    data = load("debtags")
    trained = fit_model(RakelClassifier(size=40, random_state=0), data)
    save_model(trained, tmp_path / "model.skops")
    estimator = load_model(tmp_path / "model.skops")
    tags = {tag for row in estimator.predict_tags(data.X[:50]) for tag in row}
    assert tags
    assert tags <= set(data.label_names)


def test_a_loaded_model_predicts_the_tags_of_a_frame(tmp_path):
    path = tmp_path / "weather.csv"
    rows = "".join(f"{i / 10},{'rain;wind' if i % 20 > 9 else 'sun'}\n" for i in range(60))
    path.write_text("cloud,tags\n" + rows)
    trained = fit_model(RakelClassifier(k=2, random_state=0), read_table(path, tags="tags"))
    save_model(trained, tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    tags = model.predict_tags(pd.read_csv(path))
    assert len(tags) == 60
    assert {tag for row in tags for tag in row} <= {"rain", "wind", "sun"}
    assert repr(model) == "RakelClassifier(k=2, random_state=0)"


def test_weights_are_a_parameter_of_fit_that_scikit_learn_finds(table):
    X, Y = table
    assert has_fit_parameter(RakelClassifier(), "sample_weight")
    weights = np.r_[np.ones(30), np.zeros(30)]
    weighted = RakelClassifier(k=2, size=3, random_state=0).fit(X, Y, weights)
    alone = fitted(X[:30], Y[:30])
    np.testing.assert_allclose(weighted.predict_proba(X), alone.predict_proba(X), atol=1e-8)


def test_requests_for_weights_are_those_of_the_members(table):
    X, Y = table
    with config_context(enable_metadata_routing=True):
        for asked in (True, False):
            model = RakelClassifier(k=2, size=3, random_state=0)
            model.set_fit_request(sample_weight=asked)
            assert model.estimator.get_metadata_routing().fit.requests == {"sample_weight": asked}
        search = GridSearchCV(RakelClassifier(k=2, random_state=0), {"size": [2, 3]}, cv=2)
        search.fit(X, Y, sample_weight=np.ones(60))


def test_verbose_prints_a_line_where_there_is_no_terminal(table, capsys):
    X, Y = table
    RakelClassifier(k=2, size=3, random_state=0, verbose=True).fit(X, Y)
    assert "RakelClassifier: 60 rows, 3 labels\n" in capsys.readouterr().err


def test_the_names_of_an_arrow_table_are_those_of_its_columns(table):
    arrow = pytest.importorskip("pyarrow")
    X, Y = table
    named = arrow.table({name: Y[:, j] for j, name in enumerate("abc")})
    assert fitted(X, named).label_names_in_.tolist() == ["a", "b", "c"]
    alike = arrow.table({"a": Y[:, 0], "b": Y[:, 0], "c": Y[:, 2]})
    assert fitted(X, alike).label_names_in_.tolist() == ["a", "b", "c"]
