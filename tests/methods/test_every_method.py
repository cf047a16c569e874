"""What holds for every method that the command knows by name."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from labelcover.datasets import Dataset
from labelcover.experiments.named_methods import METHODS, named_method, named_methods
from labelcover.models import fit_model, load_model, save_model


@pytest.fixture(scope="module")
def songs():
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 4))
    Y = (X @ random.normal(size=(4, 5)) + random.normal(size=(90, 5)) > 0.3).astype(np.uint8)
    return Dataset(
        name="songs",
        X=X,
        Y=Y,
        feature_names=[f"f{j}" for j in range(4)],
        label_names=["rock", "jazz", "soul", "folk", "funk"],
        categorical=np.zeros(4, dtype=bool),
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_trained_method_is_the_same_after_saving_and_loading(name, songs, tmp_path):
    estimator = named_method(name)(songs).set_params(random_state=0)
    trained = fit_model(estimator, songs)
    save_model(trained, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    for answer in ("predict", "predict_proba"):
        ours, theirs = (getattr(model, answer)(songs.X) for model in (trained, loaded))
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def other_value(parameter, value):
    """Return another value for a parameter, as a user may set it after a fit."""
    known = {
        "estimator": DecisionTreeClassifier(),
        "ties": "positive",
        "decide": "hamming_loss",
        "aggregate": "mean",
    }
    return known.get(parameter, not value if isinstance(value, bool) else 0.9)


@pytest.mark.parametrize("name", METHODS)
def test_parameters_that_are_set_after_the_fit_count_for_the_next_one(name, songs):
    estimator = named_method(name)(songs).set_params(random_state=0).fit(songs.X, songs.Y)
    before = estimator.predict(songs.X)
    for parameter, value in estimator.get_params(deep=False).items():
        estimator.set_params(**{parameter: other_value(parameter, value)})
        np.testing.assert_array_equal(estimator.predict(songs.X), before)


def test_all_stands_for_every_method():
    assert list(named_methods(["all"])) == list(METHODS)
