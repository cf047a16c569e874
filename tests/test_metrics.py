"""The measures agree with scikit-learn where it has them, and with the definitions elsewhere."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelcover import metrics
from labelcover.metrics import MEASURES

shapes = st.tuples(st.integers(1, 7), st.integers(2, 6))


@st.composite
def two_tables(draw):
    shape = draw(shapes)
    bits = arrays(np.uint8, shape, elements=st.integers(0, 1))
    return draw(bits), draw(bits)


@st.composite
def table_and_scores(draw):
    shape = draw(shapes)
    scores = arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0]))
    return draw(arrays(np.uint8, shape, elements=st.integers(0, 1))), draw(scores)


@settings(max_examples=60, deadline=None)
@given(two_tables())
def test_f1_is_that_of_scikit_learn_with_empty_against_empty_counting_one(tables):
    Y, P = tables
    for ours, average in [
        (metrics.micro_f1, "micro"),
        (metrics.macro_f1, "macro"),
        (metrics.example_f1, "samples"),
    ]:
        theirs = sklearn.metrics.f1_score(Y, P, average=average, zero_division=1.0)
        assert ours(Y, P) == pytest.approx(theirs)
    theirs = sklearn.metrics.f1_score(Y, P, average=None, zero_division=1.0)
    assert metrics.label_f1(Y, P) == pytest.approx(theirs)


@settings(max_examples=60, deadline=None)
@given(two_tables())
def test_losses_and_accuracies_are_those_of_scikit_learn(tables):
    Y, P = tables
    assert metrics.hamming_loss(Y, P) == pytest.approx(sklearn.metrics.hamming_loss(Y, P))
    assert metrics.subset_accuracy(Y, P) == pytest.approx(sklearn.metrics.accuracy_score(Y, P))
    theirs = sklearn.metrics.jaccard_score(Y, P, average="samples", zero_division=1.0)
    assert metrics.example_accuracy(Y, P) == pytest.approx(theirs)


@settings(max_examples=60, deadline=None)
@given(table_and_scores())
def test_ranking_measures_follow_their_definitions_on_rows_that_have_labels(tables):
    Y, scores = tables
    depths, losses, errors = [], [], []
    labelled = Y.any(axis=1)
    for y, s in zip(Y[labelled].astype(bool), scores[labelled], strict=True):
        depths.append(max(int((s >= s[j]).sum()) - 1 for j in np.flatnonzero(y)))
        pairs = [(a, b) for a in s[y] for b in s[~y]]
        losses.append(np.mean([a <= b for a, b in pairs]) if pairs else 0.0)
        top = np.flatnonzero(s == s.max())
        errors.append(1 - y[top].mean())
    found = [
        function(Y, scores)
        for function in (metrics.ranking_depth, metrics.ranking_loss, metrics.one_error)
    ]
    if not labelled.any():
        assert np.isnan([*found, metrics.average_precision(Y, scores)]).all()
        return
    assert found == pytest.approx([np.mean(depths), np.mean(losses), np.mean(errors)])
    theirs = sklearn.metrics.label_ranking_average_precision_score(Y[labelled], scores[labelled])
    assert metrics.average_precision(Y, scores) == pytest.approx(theirs)


@settings(max_examples=60, deadline=None)
@given(two_tables())
def test_precision_and_recall_are_those_of_scikit_learn(tables):
    Y, P = tables
    ours = metrics.micro_precision(Y, P), metrics.micro_recall(Y, P)
    how = {"average": "micro", "zero_division": np.nan}
    theirs = sklearn.metrics.precision_score(Y, P, **how), sklearn.metrics.recall_score(Y, P, **how)
    assert ours == pytest.approx(theirs, nan_ok=True)


def test_rows_without_labels_do_not_improve_a_ranking():
    Y, scores = np.array([[1, 0, 0], [0, 0, 0]]), np.array([[0.1, 0.2, 0.3], [0.5, 0.5, 0.5]])
    assert metrics.average_precision(Y, scores) == pytest.approx(1 / 3)
    assert metrics.one_error(Y, scores) == metrics.ranking_loss(Y, scores) == 1
    assert metrics.ranking_depth(Y, scores) == 2


OF_PREDICTIONS = [measure.function for measure in MEASURES.values() if measure.of_predictions]


@pytest.mark.parametrize("function", [*OF_PREDICTIONS, metrics.label_f1])
@settings(max_examples=30, deadline=None)
@given(two_tables(), st.data())
def test_a_weight_is_how_often_a_row_counts(function, tables, data):
    Y, P = tables
    whole = arrays(np.int64, len(Y), elements=st.integers(0, 4)).filter(np.any)
    times = data.draw(whole)
    repeated = function(np.repeat(Y, times, axis=0), np.repeat(P, times, axis=0))
    assert function(Y, P, sample_weight=times) == pytest.approx(repeated)
    # Only the ratio of weights matters, and weights of one change nothing.
    assert function(Y, P, sample_weight=times * 0.3) == pytest.approx(repeated)
    assert function(Y, P, sample_weight=np.ones(len(Y))) == pytest.approx(function(Y, P))


@pytest.mark.parametrize("name", MEASURES)
def test_a_perfect_prediction_is_the_best_there_is(name):
    Y = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]])
    measure = MEASURES[name]
    value = measure.function(Y, Y if measure.of_predictions else Y.astype(float))
    if measure.higher_is_better:
        assert value == 1
    elif name == "ranking_depth":
        assert value == pytest.approx(1 / 2)  # the second label of the second row
    else:
        assert value == pytest.approx(0, abs=1e-14)  # probabilities are kept from 0 and 1


@pytest.mark.parametrize("kind", [sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_tables_may_come_as_sparse_frames_or_lists(kind):
    Y = np.array([[1, 0], [1, 1]])
    assert metrics.micro_f1(kind(Y), kind(Y)) == 1


@pytest.mark.parametrize(
    ("Y", "P", "message"),
    [
        ([[1, 0]], [[1, 0, 1]], r"Y_pred must have the shape of Y, \(1, 2\), got \(1, 3\)"),
        ([[2, 0]], [[1, 0]], "Y must hold only 0 and 1, got .*2"),
        ([[1, 0]], [[0.5, 0]], "Y_pred must hold only 0 and 1, got .*0.5"),
        ([1, 0], [1, 0], "Y must be a table"),
        ([[1, 0]], [["a", "b"]], "Y_pred must hold only 0 and 1, got 'a'. Sets of label names"),
    ],
)
def test_wrong_tables_are_refused_by_name(Y, P, message):
    with pytest.raises(ValueError, match=message):
        metrics.micro_f1(Y, P)


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="scores must be finite"):
        metrics.one_error([[1, 0]], [[np.nan, 0]])


@settings(max_examples=60, deadline=None)
@given(table_and_scores())
def test_measures_of_probabilities_are_those_of_scikit_learn(tables):
    Y, P = tables
    cells, chances = Y.ravel(), P.ravel()
    theirs = sklearn.metrics.log_loss(cells, np.clip(chances, 1e-15, 1 - 1e-15), labels=[0, 1])
    assert metrics.log_loss(Y, P) == pytest.approx(theirs)
    theirs = sklearn.metrics.mean_squared_error(cells, chances)
    assert metrics.brier_score(Y, P) == pytest.approx(theirs)


@settings(max_examples=60, deadline=None)
@given(table_and_scores())
def test_micro_average_precision_is_that_of_scikit_learn_where_there_are_labels(tables):
    Y, scores = tables
    if Y.any():
        theirs = sklearn.metrics.average_precision_score(Y, scores, average="micro")
        assert metrics.micro_average_precision(Y, scores) == pytest.approx(theirs)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("value", [0, 1])
def test_micro_average_precision_of_a_constant_table_is_one(shape, value):
    assert metrics.micro_average_precision(np.full(shape, value), np.full(shape, 0.3)) == 1


@settings(max_examples=60, deadline=None)
@given(table_and_scores(), st.integers(1, 12))
def test_calibration_error_follows_its_definition(tables, bins):
    Y, P = tables
    edges = np.linspace(0, 1, bins + 1)
    error = 0.0
    for b in range(bins):
        # Cells on an edge belong above it, but those of probability 1 to the last bin.
        inside = (P * bins >= b) & ((P * bins < b + 1) | (edges[b + 1] == 1))
        if inside.any():
            error += inside.mean() * abs(P[inside].mean() - Y[inside].mean())
    assert metrics.expected_calibration_error(Y, P, bins) == pytest.approx(error)


@settings(max_examples=60, deadline=None)
@given(table_and_scores())
def test_precision_at_all_labels_is_their_share(tables):
    Y, scores = tables
    assert metrics.precision_at(Y, scores, Y.shape[1]) == pytest.approx(Y.mean())
    top = scores.argmax(axis=1)
    assert metrics.precision_at(Y, scores, 1) == Y[np.arange(len(Y)), top].mean()


def test_precision_at_refuses_more_labels_than_there_are():
    with pytest.raises(ValueError, match="k must be an integer between 1 and 2, got 3"):
        metrics.precision_at([[1, 0]], [[0.1, 0.2]], 3)


def test_a_calibration_error_needs_bins():
    with pytest.raises(ValueError, match="bins must be an integer of at least 1, got 0"):
        metrics.expected_calibration_error([[1, 0]], [[0.1, 0.2]], bins=0)


@pytest.mark.parametrize("odd", [-0.1, 1.5, np.nan])
def test_probabilities_outside_of_0_and_1_are_refused(odd):
    with pytest.raises(ValueError, match="P must hold probabilities between 0 and 1, got"):
        metrics.log_loss([[1, 0]], [[odd, 0.5]])
    with pytest.raises(ValueError, match=r"P must have the shape of Y, \(1, 2\), got \(1, 1\)"):
        metrics.brier_score([[1, 0]], [[0.5]])


def test_probabilities_above_1_by_rounding_are_taken_as_1():
    assert metrics.log_loss([[1, 1]], [[1 + 1e-15, 1.0]]) == pytest.approx(0, abs=1e-14)
    assert metrics.brier_score([[1, 0]], [[1 + 1e-15, -1e-17]]) == 0


SPARSE_MEASURES = [
    metrics.micro_f1,
    metrics.macro_f1,
    metrics.example_f1,
    metrics.hamming_loss,
    metrics.subset_accuracy,
    metrics.example_accuracy,
]


@pytest.mark.parametrize("measure", SPARSE_MEASURES, ids=lambda measure: measure.__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_tables_measure_as_dense_ones(measure, weighted):
    random = np.random.default_rng(0)
    Y, guess = (random.random((2, 40, 9)) < 0.2).astype(int)
    guess[:10] = Y[:10]
    weights = {"sample_weight": random.random(40)} if weighted else {}
    found = measure(sparse.csr_matrix(Y), sparse.coo_array(guess), **weights)
    assert found == pytest.approx(measure(Y, guess, **weights), rel=1e-12)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_precision_of_sparse_scores_is_that_of_dense_ones(k):
    random = np.random.default_rng(1)
    Y = (random.random((60, 9)) < 0.3).astype(int)
    scores = np.round(random.normal(size=(60, 9)), 1) * (random.random((60, 9)) < 0.5)
    found = metrics.precision_at(sparse.csr_array(Y), sparse.csr_array(scores), k)
    assert found == pytest.approx(metrics.precision_at(Y, scores, k), rel=1e-12)


def test_sparse_tables_are_not_made_dense():
    cells = (np.arange(50), np.arange(50) * 20_000)
    Y = sparse.csr_array((np.ones(50), cells), shape=(1_000_000, 1_000_000))
    assert metrics.micro_f1(Y, Y) == 1
    with pytest.raises(ValueError, match="Y_pred must have the shape of Y"):
        metrics.micro_f1(Y, Y[:10])


def test_precision_at_leaves_sparse_scores_as_they_are():
    cells = np.array([0.2, 0.9, 0.5, 0.1]), np.array([2, 0, 1, 0]), np.array([0, 2, 4])
    scores = sparse.csr_array(tuple(part.copy() for part in cells), shape=(2, 3))
    assert metrics.precision_at(sparse.csr_array([[1, 0, 0], [0, 0, 1]]), scores, 1) == 0.5
    for now, was in zip((scores.data, scores.indices, scores.indptr), cells, strict=True):
        np.testing.assert_array_equal(now, was)


OF_ROWS = ("example_f1", "subset_accuracy", "example_accuracy", "one_error", "ranking_depth")
OF_ROWS += ("ranking_loss", "average_precision")
OF_CELLS = ("micro_f1", "hamming_loss", "micro_average_precision", "log_loss", "brier_score")


@st.composite
def unknown_tables(draw):
    """Labels, predictions, scores, and which labels are known."""
    shape = draw(shapes)
    bits = arrays(np.uint8, shape, elements=st.integers(0, 1))
    scores = arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0]))
    return draw(bits), draw(bits), draw(scores), draw(arrays(np.bool_, shape))


def with_unknown(Y, known):
    return np.where(known, Y, np.nan)


def approx(value):
    return pytest.approx(value, nan_ok=True)


@given(unknown_tables())
def test_measures_of_rows_with_unknown_labels_are_means_over_rows_of_known_ones(tables):
    Y, P, S, known = tables
    for name in OF_ROWS:
        measure = MEASURES[name]
        values = []
        for y, p, s, k in zip(Y, P, S, known, strict=True):
            if k.any() and (measure.of_predictions or y[k].any()):
                given = p if measure.of_predictions else s
                values.append(measure.function(y[None, k], given[None, k]))
        expected = np.mean(values) if values else np.nan
        given = P if measure.of_predictions else S
        assert measure.function(with_unknown(Y, known), given) == approx(expected), name


@given(unknown_tables())
def test_measures_of_cells_with_unknown_labels_are_those_of_known_cells(tables):
    Y, P, S, known = tables
    missing = with_unknown(Y, known)
    for name in OF_CELLS:
        measure = MEASURES[name]
        given = P if measure.of_predictions else S
        cells = [measure.function(Y[known][None], given[known][None])] if known.any() else []
        assert measure.function(missing, given) == approx(cells[0] if cells else np.nan), name
    each = [
        metrics.micro_f1(Y[k, j][:, None], P[k, j][:, None]) if k.any() else np.nan
        for j, k in enumerate(known.T)
    ]
    assert metrics.label_f1(missing, P) == approx(np.array(each))
    mean = np.nanmean(each) if known.any() else np.nan
    assert metrics.macro_f1(missing, P) == approx(mean)
    if known.any():
        for function in (metrics.micro_precision, metrics.micro_recall):
            assert function(missing, P) == approx(function(Y[known][None], P[known][None]))
        error = metrics.expected_calibration_error
        assert error(missing, S) == approx(error(Y[known][None], S[known][None]))


@given(unknown_tables(), st.data())
def test_what_is_predicted_for_an_unknown_cell_changes_no_measure(tables, data):
    Y, P, S, known = tables
    missing = with_unknown(Y, known)
    others = data.draw(arrays(np.uint8, Y.shape, elements=st.integers(0, 1)))
    for measure in MEASURES.values():
        given = P if measure.of_predictions else S
        other = np.where(known, given, others)
        assert measure.function(missing, given) == approx(measure.function(missing, other))
    of_all = metrics.precision_at(missing, S, 2)
    assert of_all == approx(metrics.precision_at(missing, np.where(known, S, others), 2))


@given(unknown_tables(), st.integers(1, 2))
def test_precision_at_ranks_known_labels_only(tables, k):
    Y, _, S, known = tables
    values = []
    for y, s, row in zip(Y, S, known, strict=True):
        if row.any():
            values.append(metrics.precision_at(y[None, row], s[None, row], min(k, row.sum())))
    expected = np.mean(values) if values else np.nan
    assert metrics.precision_at(with_unknown(Y, known), S, k) == approx(expected)


@pytest.mark.parametrize("function", [*OF_PREDICTIONS, metrics.label_f1])
@given(unknown_tables(), st.data())
def test_a_weight_is_how_often_a_row_counts_with_unknown_cells_too(function, tables, data):
    Y, P, _, known = tables
    known[:, 0] = True
    times = data.draw(arrays(np.int64, len(Y), elements=st.integers(1, 4)))
    missing = with_unknown(Y, known)
    repeated = function(np.repeat(missing, times, axis=0), np.repeat(P, times, axis=0))
    assert function(missing, P, sample_weight=times) == approx(repeated)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_unknown_cells_may_be_of_any_kind_and_nothing_known_is_nan(measure):
    Y = np.array([[1, np.nan, 0], [np.nan, 1, 0], [1, 1, 0]])
    given = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 0]])
    expected = measure.function(Y, given)
    nullable = pd.DataFrame(Y).astype("Int8")
    nulls = pl.DataFrame(Y, orient="row").fill_nan(None)
    for kind in (nullable, nulls, np.where(np.isnan(Y), None, Y), pd.DataFrame(Y)):
        assert measure.function(kind, given) == expected
    assert np.isnan(measure.function(np.full((2, 3), np.nan), given[:2]))
    with pytest.raises(ValueError, match="Y must not hold NaN where it is sparse"):
        measure.function(sparse.csr_array(Y), sparse.csr_array(given))


def test_predictions_must_be_known():
    with pytest.raises(ValueError, match="Y_pred must hold only 0 and 1, got nan"):
        metrics.micro_f1([[1, 0]], [[1, np.nan]])
