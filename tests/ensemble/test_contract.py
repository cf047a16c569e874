"""Every estimator keeps scikit-learn's contract."""

import inspect

import numpy as np
import pytest
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)

import labelcover
from labelcover import methods

# Parameters that keep the checks quick.
SMALL = {"n_chains": 2, "n_members": 2, "clusters": 2, "n_partitions": 50}


def small(kind):
    return kind(**{k: v for k, v in SMALL.items() if k in inspect.signature(kind).parameters})


NAMES = [(room, name) for room in (labelcover, methods) for name in room.__all__]
ESTIMATORS = [small(getattr(room, name)) for room, name in NAMES if name.endswith("Classifier")]

ONE_COLUMN = "labels are a table, (n, n_labels); the check fits or expects one dimension"
TWO_COLUMNS = "a label has one column of confidences; the check expects two, as below"
NUMBER_OF_ROWS = "a row of weight 2 is that row twice but for ridges, priors and folds (see `fit`)"
EXPECTED_FAILURES = {
    "check_estimator_sparse_array": TWO_COLUMNS,
    "check_estimator_sparse_matrix": TWO_COLUMNS,
    "check_sample_weight_equivalence_on_dense_data": NUMBER_OF_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": NUMBER_OF_ROWS,
    "check_classifiers_classes": ONE_COLUMN,
    "check_classifiers_train": ONE_COLUMN,
    "check_classifiers_one_label_sample_weights": ONE_COLUMN,
    "check_decision_proba_consistency": ONE_COLUMN,
    "check_classifier_multioutput": "classes_ holds the classes of each label, as scorers and "
    "cross_val_predict need them; the check reads it as the classes of a single one",
}


def expected_failures(estimator):
    """Return the checks that fail; pruned sets keep too few rows of the check to differ."""
    if not isinstance(estimator, methods.PrunedSetsClassifier):
        return EXPECTED_FAILURES
    passed = "check_sample_weight_equivalence"
    return {name: why for name, why in EXPECTED_FAILURES.items() if not name.startswith(passed)}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:p=. prunes every labelset")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.filterwarnings("ignore:p=. prunes every labelset")
def test_sparse_checks_pass_with_a_column_for_each_value(estimator, check, monkeypatch):
    kind = type(estimator)
    confidence = kind.predict_proba
    monkeypatch.setattr(
        kind,
        "predict_proba",
        lambda self, X: np.hstack([1 - confidence(self, X), confidence(self, X)]),
    )
    check(kind.__name__, estimator)
