"""Masked cells are missing values; of labels, classes and weights they are an error."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.learners import C45Classifier
from labelcover.metrics import micro_f1


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.integers(0, 9, size=(60, 3))
    return X, (X[:, :2] > 4).astype(int), random.random((60, 3)) < 0.2


def test_masked_features_are_missing(table):
    X, Y, mask = table
    masked = np.ma.array(X, mask=mask)
    missing = np.where(mask, np.nan, X)
    for member in (C45Classifier(), DecisionTreeClassifier(random_state=0)):
        model = RakelClassifier(member, k=2, random_state=0)
        found = model.fit(masked, Y).predict_proba(masked)
        np.testing.assert_array_equal(found, model.fit(missing, Y).predict_proba(missing))
    with pytest.raises(ValueError, match="X contains NaN"):
        LabelCoverClassifier(random_state=0).fit(masked, Y)


def test_a_mask_that_hides_nothing_changes_nothing(table):
    X, Y, _ = table
    model = LabelCoverClassifier(random_state=0)
    plain = model.fit(X, Y).predict_proba(X)
    found = model.fit(np.ma.array(X), np.ma.array(Y)).predict_proba(np.ma.array(X))
    np.testing.assert_array_equal(found, plain)


def test_masked_labels_classes_and_weights_are_refused(table):
    X, Y, mask = table
    labels = np.ma.array(Y, mask=mask[:, :2])
    with pytest.raises(ValueError, match=r"Y must not have masked cells, got \d+ of 120"):
        LabelCoverClassifier(random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match="y must not have masked cells"):
        C45Classifier().fit(X, labels[:, 0])
    with pytest.raises(ValueError, match="sample_weight must not have masked cells"):
        C45Classifier().fit(X, Y[:, 0], np.ma.array(np.ones(60), mask=mask[:, 0]))
    with pytest.raises(ValueError, match="Y must not have masked cells"):
        micro_f1(labels, Y)


def test_a_column_that_a_classifier_cannot_read_is_named(table):
    X, Y, _ = table
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 3, "b", "d"))
    member = make_pipeline(LogisticRegression())  # which is given the frame as it is
    with pytest.raises(ValueError, match=r"Pipeline failed on X, in which 'kind' \(cat"):
        RakelClassifier(member, k=2, random_state=0).fit(frame, Y)
    model = RakelClassifier(LogisticRegression(), k=2, random_state=0).fit(frame[["a", "b"]], Y)
    wrong = frame[["a"]].assign(b="x")
    with pytest.raises(ValueError, match=r"failed on X, in which 'b' \("):
        model.predict(wrong)
