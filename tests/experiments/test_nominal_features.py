"""What a data set declares nominal reaches the members as nominal."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.datasets import Dataset
from labelcover.experiments._running import run
from labelcover.experiments.named_methods import METHODS, named_method
from labelcover.experiments.results import read_results
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.models import fit_model, load_model, save_model, with_nominal_features

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


@pytest.mark.parametrize("member", [C45Classifier, SMOClassifier])
def test_members_are_told_what_is_nominal(colours, member):
    told = with_nominal_features(RakelClassifier(member()), colours)
    assert told.estimator.categorical_features.tolist() == [True, False]
    assert with_nominal_features(member(), colours).categorical_features.tolist() == [True, False]


def test_what_was_given_is_not_overridden(colours):
    for given in (None, [1]):
        method = RakelClassifier(C45Classifier(categorical_features=given))
        assert with_nominal_features(method, colours) is method


def test_a_data_set_without_nominal_features_changes_nothing(colours):
    numeric = replace(colours, categorical=np.zeros(2, dtype=bool), categories={})
    method = LabelCoverClassifier()
    assert with_nominal_features(method, numeric) is method


def test_features_of_two_values_are_left_to_the_default_member_as_they_are(colours):
    pairs = replace(colours, X=colours.X % 2, categories={"colour": COLOURS[:2]})
    assert pairs.categorical.any()
    assert not pairs.many_valued.any()
    method = LabelCoverClassifier()
    assert with_nominal_features(method, pairs) is method
    assert with_nominal_features(C45Classifier(), pairs).categorical_features.tolist() == [1, 0]
    assert colours.many_valued.tolist() == [True, False]
    assert replace(colours, categories={}).many_valued.tolist() == [True, False]


def test_the_default_member_is_told_what_is_nominal(colours):
    told = with_nominal_features(LabelCoverClassifier(), colours)
    assert told.estimator.least_squares.categorical_features.tolist() == [True, False]
    told = with_nominal_features(RakelClassifier(), colours)
    assert told.estimator.categorical_features.tolist() == [True, False]


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
    np.testing.assert_array_equal(model.predict(colours.X), colours.Y)


def test_logistic_members_refuse_sparse_nominal_features_of_many_values(colours):
    table = replace(colours, X=sparse.csr_array(colours.X))
    make = named_method("BR", member="logistic")
    with pytest.raises(ValueError, match="member 'logistic' does not take data set 'colours'"):
        make(table)


def test_every_named_method_takes_a_member():
    assert all("estimator" in inspect.signature(kind).parameters for kind in METHODS.values())
