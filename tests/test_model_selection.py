"""Splits that keep labels: every row tests once, every label is spread, unknown cells or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, cross_validate
from sklearn.multioutput import MultiOutputClassifier

from labelcover import _stratification_kernels as kernels
from labelcover.datasets import load
from labelcover.model_selection import (
    StratifiedLabelKFold,
    StratifiedLabelShuffleSplit,
    rows_having,
    spread,
)


def plainly_spread(Y, shares):
    """Sechidis, Tsoumakas and Vlahavas (2011), Algorithm 1, ties to the first part."""
    n = len(Y)
    wanted, wanted_rows = np.outer(shares, Y.sum(axis=0)), n * np.asarray(shares)
    part_of, left = np.full(n, -1), Y.sum(axis=0)

    def neediest(first):
        best = np.flatnonzero(first >= first.max() - 1e-9)
        return best[np.flatnonzero(wanted_rows[best] >= wanted_rows[best].max() - 1e-9)[0]]

    while left.any():
        label = min(np.flatnonzero(left), key=lambda j: left[j])
        for row in np.flatnonzero(Y[:, label] & (part_of < 0)):
            part = neediest(wanted[:, label])
            part_of[row] = part
            wanted[part] -= Y[row]
            wanted_rows[part] -= 1
            left = left - Y[row]
    for row in np.flatnonzero(part_of < 0):
        part_of[row] = neediest(wanted_rows)
        wanted_rows[part_of[row]] -= 1
    return part_of


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 7))
def test_the_compiled_loop_is_the_plain_algorithm(seed, n_parts, n_labels):
    random = np.random.default_rng(seed)
    Y = random.random((random.integers(n_parts, 50), n_labels)) < random.random(n_labels)
    shares = random.dirichlet(np.ones(n_parts))
    found = spread(sparse.csr_array(Y.astype(np.uint8)), shares, None)
    np.testing.assert_array_equal(found, plainly_spread(Y, shares))


@pytest.mark.parametrize(("tie", "part"), [(0.0, 1), (0.49, 1), (0.5, 3), (0.99, 3)])
def test_ties_are_broken_evenly(tie, part):
    first, second = np.array([1.0, 2.0, 2.0, 2.0]), np.array([9.0, 4.0, 3.0, 4.0])
    assert kernels.neediest(first, second, tie) == part


def test_every_label_is_spread_evenly():
    Y = load("debtags").Y
    folds = StratifiedLabelKFold(10, shuffle=True, random_state=0).split(Y, Y)
    counts = np.array([Y[test].sum(axis=0) for _, test in folds])
    assert (counts.max(axis=0) - counts.min(axis=0)).mean() < 2.5
    by_chance = np.arange(len(Y)) % 10
    chance = np.array([Y[by_chance == f].sum(axis=0) for f in range(10)]).std(axis=0)
    assert counts.std(axis=0).mean() < chance.mean() / 3


@given(st.integers(0, 1000), st.integers(2, 5))
def test_folds_are_of_like_size_and_every_row_tests_once(seed, n_folds):
    Y = np.random.default_rng(seed).random((40, 5)) < 0.3
    folds = list(StratifiedLabelKFold(n_folds, shuffle=True, random_state=seed).split(Y, Y))
    tested = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(tested), np.arange(40))
    assert all(len(train) + len(test) == 40 for train, test in folds)
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 8


def test_same_seed_same_splits_and_splits_differ():
    Y = load("debtags-words").Y
    first, again = (
        [test for _, test in StratifiedLabelShuffleSplit(2, random_state=3).split(Y, Y)]
        for _ in range(2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(*first)


@pytest.mark.parametrize("sizes", [{}, {"test_size": 0.25}, {"train_size": 30, "test_size": 20}])
def test_sizes_are_those_of_shuffle_split_and_shares_are_kept(sizes):
    random = np.random.default_rng(0)
    Y = random.random((200, 3)) < [0.5, 0.2, 0.1]
    ours = next(StratifiedLabelShuffleSplit(1, **sizes, random_state=0).split(Y, Y))
    theirs = next(ShuffleSplit(1, **sizes, random_state=0).split(Y))
    for mine, other in zip(ours, theirs, strict=True):
        assert abs(len(mine) - len(other)) <= 1
        assert np.abs(Y[mine].sum(axis=0) - Y.mean(axis=0) * len(mine)).max() <= 1.5
    assert not set(ours[0]) & set(ours[1])


@pytest.mark.parametrize("unknown", [np.nan, None])
def test_unknown_cells_are_not_taken_for_labels(unknown):
    known = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    table = known.astype(object if unknown is None else float)
    table[2, 1] = unknown
    expected = known.copy()
    expected[2, 1] = 0
    np.testing.assert_array_equal(rows_having(table).toarray(), expected)
    assert rows_having(np.full((3, 2), np.nan)).nnz == 0


def test_tables_of_any_kind_give_the_same_folds():
    Y = load("debtags").Y
    names = np.array([f"t{j:02}" for j in range(Y.shape[1])])
    tags = [names[row > 0].tolist() for row in Y]
    kinds = [Y, sparse.csr_array(Y), np.where(Y > 0, "yes", "no"), tags]
    folds = [[test.tolist() for _, test in StratifiedLabelKFold(3).split(k, k)] for k in kinds]
    assert all(each == folds[0] for each in folds)


def test_scikit_learn_takes_them_as_cv():
    data = load("debtags")
    model = MultiOutputClassifier(LogisticRegression())
    X, Y = data.X[:300, :20], data.Y[:300, :3]
    X = X.toarray() if sparse.issparse(X) else X
    for cv in (StratifiedLabelKFold(3), StratifiedLabelShuffleSplit(3, random_state=0)):
        assert len(cross_validate(model, X, Y, cv=cv)["test_score"]) == cv.get_n_splits() == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StratifiedLabelKFold(1), "n_splits=2 or more, got n_splits=1"),
        (lambda: StratifiedLabelKFold(2, random_state=0), "or set shuffle=True"),
        (lambda: next(StratifiedLabelKFold(5).split([[1]], [[1], [0]])), "number of rows, 2"),
        (lambda: next(StratifiedLabelKFold(2).split(0, [[3], [0], [1]])), "only 0 and 1, got 3"),
        (
            lambda: next(StratifiedLabelShuffleSplit(test_size=9).split(0, [[1], [0]])),
            "test_size=9",
        ),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
