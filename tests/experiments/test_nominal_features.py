"""What a data set declares nominal reaches estimators as nominal."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.datasets import Dataset
from labelcover.experiments._running import run
from labelcover.experiments.named_methods import METHODS, named_method
from labelcover.experiments.results import read_results
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.models import fit_model, load_model, save_model

COLOURS = tuple(f"colour {j}" for j in range(12))


@pytest.fixture(scope="module")
def colours():
    """Labels that follow from a nominal feature of twelve values, but from no order of them."""
    random = np.random.default_rng(0)
    codes = random.integers(12, size=300)
    meaning = random.permutation(np.arange(12))
    Y = np.column_stack([meaning[codes] % 2, meaning[codes] % 3 == 0, meaning[codes] < 4])
    X = np.column_stack([codes, random.normal(size=300)]).astype(float)
    return Dataset(
        "colours",
        X,
        Y.astype(np.uint8),
        ["colour", "noise"],
        ["a", "b", "c"],
        np.array([True, False]),
        categories={"colour": COLOURS},
    )


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_rows_say_by_their_dtype_what_is_nominal(colours, as_rows):
    X = colours.X.copy()
    X[3, 0] = np.nan
    rows = replace(colours, X=as_rows(X)).rows
    assert rows["colour"].cat.categories.tolist() == list(COLOURS)
    np.testing.assert_array_equal(rows["colour"].cat.codes, np.where(np.isnan(X), -1, X)[:, 0])
    np.testing.assert_array_equal(rows["noise"], X[:, 1])
    unnamed = replace(colours, categories={}).rows
    assert unnamed["colour"].cat.categories.tolist() == list(range(12))


def test_features_of_two_values_are_zeros_and_ones_in_an_array(colours):
    pairs = replace(colours, X=colours.X % 2, categories={"colour": COLOURS[:2]})
    assert pairs.categorical.any()
    assert pairs.rows is pairs.X
    numeric = replace(colours, categorical=np.zeros(2, dtype=bool), categories={})
    assert numeric.rows is numeric.X


@pytest.mark.parametrize("member", ["c45", "smo"])
def test_named_trees_and_svms_are_told_what_is_nominal(colours, member):
    pairs = replace(colours, X=colours.X % 2, categories={"colour": COLOURS[:2]})
    for data in (colours, pairs):
        made = named_method("RAKEL", k=2, member=member)(data)
        assert made.estimator.categorical_features.tolist() == [True, False]
    numeric = replace(colours, categorical=np.zeros(2, dtype=bool), categories={})
    made = named_method("RAKEL", k=2, member=member)(numeric)
    assert made.estimator.categorical_features == "from_dtype"


@pytest.mark.parametrize("member", [C45Classifier(), SMOClassifier(), None])
def test_estimators_of_ones_own_learn_from_nominal_features(tmp_path, colours, member):
    run({"own": RakelClassifier(member, k=2)}, [colours], tmp_path / "r.csv", n_folds=3)
    assert read_results(tmp_path / "r.csv")["micro_f1"].min() > 0.98


def test_what_takes_no_categories_is_compared_on_their_numbers(tmp_path, colours):
    member = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    run({"own": BinaryRelevanceClassifier(member)}, [colours], tmp_path / "r.csv", n_folds=3)
    frame = read_results(tmp_path / "r.csv")
    assert frame["error"].tolist() == [""] * 3
    assert frame["micro_f1"].min() > 0.98


def test_on_a_cluster_members_see_what_is_nominal(colours, monkeypatch):
    monkeypatch.setattr("labelcover.models.is_on_cluster", lambda: True)
    model = fit_model(LabelCoverClassifier(LeastSquaresClassifier(), k=2), colours)
    np.testing.assert_array_equal(model.predict(colours.rows), colours.Y)


@pytest.mark.parametrize("member", ["c45", "smo", "logistic", "least-squares"])
def test_a_label_of_a_nominal_feature_is_learnt_in_a_comparison(tmp_path, colours, member):
    methods = {"BALANCOR": named_method("BALANCOR", k=2, member=member)}
    run(methods, [colours], tmp_path / "r.csv", n_folds=3)
    frame = read_results(tmp_path / "r.csv")
    assert frame["error"].tolist() == [""] * 3
    assert frame["tuned_micro_f1"].min() > 0.98, "as numbers the codes give SMO and logistic 0.57"


@pytest.mark.parametrize("member", ["c45", "logistic", "least-squares"])
def test_a_label_of_a_nominal_feature_is_learnt_by_a_saved_model(tmp_path, colours, member):
    estimator = named_method("LabelCover", k=2, member=member)(colours)
    save_model(fit_model(estimator, colours), tmp_path / "m.skops")
    model = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(model.predict(colours.rows), colours.Y)


def test_logistic_members_refuse_sparse_nominal_features_of_many_values(colours):
    table = replace(colours, X=sparse.csr_array(colours.X))
    make = named_method("BR", member="logistic")
    with pytest.raises(ValueError, match="member 'logistic' does not take data set 'colours'"):
        make(table)


def test_every_named_method_takes_a_member():
    assert all("estimator" in inspect.signature(kind).parameters for kind in METHODS.values())
