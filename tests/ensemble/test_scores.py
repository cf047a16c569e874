"""The default reaches on MULAN's folds what it is meant to."""

import csv

import numpy as np
import pytest

from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.metrics import hamming_loss, micro_f1


@pytest.mark.parametrize(
    ("name", "least_f1", "most_loss"),
    [
        ("emotions", 0.70, 0.18),
        pytest.param("scene", 0.80, 0.072, marks=pytest.mark.slow),
        pytest.param("yeast", 0.665, 0.190, marks=pytest.mark.slow),
    ],
)
def test_the_default_reaches_its_floor(shared_data, golden, name, least_f1, most_loss):
    data = load(name)
    with open(golden / "folds" / f"folds_{name}.csv") as file:
        folds = np.array([[int(value) for value in row] for row in csv.reader(file)])
    found = []
    for fold in range(10):
        test = folds[folds[:, 0] == fold, 1]
        train = np.setdiff1d(np.arange(len(data.Y)), test)
        model = LabelCoverClassifier(random_state=0).fit(data.X[train], data.Y[train])
        proba = model.predict_proba(data.X[test])
        found.append(
            (
                micro_f1(data.Y[test], proba > model.threshold_),
                hamming_loss(data.Y[test], proba > 0.5),
            )
        )
    f1, loss = np.mean(found, axis=0)
    assert f1 >= least_f1
    assert loss <= most_loss
