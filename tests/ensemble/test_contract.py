"""Every estimator keeps scikit-learn's contract."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelcover
from labelcover import methods

# Parameters that keep the checks quick.
SMALL = {"n_chains": 2, "n_members": 2, "clusters": 2, "n_partitions": 50}


def small(kind):
    return kind(**{k: v for k, v in SMALL.items() if k in inspect.signature(kind).parameters})


ESTIMATORS = [small(getattr(room, name)) for room in (labelcover, methods) for name in room.__all__]

ZEROS_AND_ONES = "a label is 0 or 1; the check fits a column of other values"
ONE_COLUMN = "labels are a table, (n, n_labels); the check fits or expects one dimension"
EXPECTED_FAILURES = {
    "check_estimators_dtypes": ZEROS_AND_ONES,
    "check_estimator_sparse_array": ZEROS_AND_ONES,
    "check_estimator_sparse_matrix": ZEROS_AND_ONES,
    "check_classifier_data_not_an_array": ZEROS_AND_ONES,
    "check_sample_weights_pandas_series": ZEROS_AND_ONES,
    "check_sample_weights_not_an_array": ZEROS_AND_ONES,
    "check_sample_weights_shape": ZEROS_AND_ONES,
    "check_sample_weights_not_overwritten": ZEROS_AND_ONES,
    "check_sample_weight_equivalence_on_dense_data": ZEROS_AND_ONES,
    "check_sample_weight_equivalence_on_sparse_data": ZEROS_AND_ONES,
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
