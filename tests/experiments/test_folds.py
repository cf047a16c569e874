"""Folds: every row tests once, and every method sees the same."""

import os

import numpy as np
import pytest

from labelcover.datasets import DataError, load
from labelcover.experiments._folds import make_folds
from labelcover.experiments.results import read_results


@pytest.mark.parametrize("how", ["kfold", "stratified"])
def test_every_row_tests_once_and_never_where_it_trains(how):
    dataset = load("debtags-words")
    folds = make_folds(dataset, how, n_folds=10)
    assert len(folds) == 10
    tested = np.sort(np.concatenate([fold.test for fold in folds]))
    np.testing.assert_array_equal(tested, np.arange(len(dataset.Y)))
    for fold in folds:
        together = np.sort(np.concatenate([fold.train, fold.test]))
        np.testing.assert_array_equal(together, np.arange(len(dataset.Y)))


def test_same_seed_same_folds_and_another_seed_others():
    dataset = load("debtags-words")
    for how in ("kfold", "stratified"):
        first, again, other = (make_folds(dataset, how, random_state=seed) for seed in (0, 0, 1))
        assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True))
        assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))


def test_folds_of_mulan_are_read(golden, shared_data):
    folds = make_folds(load("emotions"), str(golden / "folds" / "folds_emotions.csv"))
    assert len(folds) == 10
    assert folds[0].test[np.searchsorted(folds[0].test, 166)] == 166
    assert sum(len(fold.test) for fold in folds) == 593


def test_own_split_is_the_sets(shared_data):
    (fold,) = make_folds(load("scene"), "own")
    assert len(fold.train) == 1211
    with pytest.raises(ValueError, match="'debtags' has no split of its own"):
        make_folds(load("debtags"), "own")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,x\n", r"f.csv:1: '0,x', expected fold,row"),
        ("0,9999\n", r"f.csv:1: fold 0, row 9999, expected folds and rows of 0 to 2290"),
        ("9999999999,0\n", r"f.csv:1: fold 9999999999, row 0, expected folds"),
        ('0,"1\n', r"f.csv:1: a quote in the row that begins here is never closed"),
        ("0,1\n1,1\n", r"f.csv:2: row 1 is already in fold 0"),
        ("0,1\n", r"f.csv: row 0 is in no fold"),
    ],
)
def test_a_bad_file_of_folds_is_refused(tmp_path, text, message):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        make_folds(load("debtags"), str(path))
    with pytest.raises(ValueError, match="folds must be one of 'kfold'"):
        make_folds(load("debtags"), "k-fold")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_of_folds_or_results_is_refused_at_once(tmp_path):
    path = tmp_path / "p.csv"
    os.mkfifo(path)
    with pytest.raises(DataError, match="a named pipe, expected an ordinary file"):
        make_folds(load("debtags-words"), str(path))
    with pytest.raises(DataError, match="a named pipe, expected an ordinary file"):
        read_results(path)
