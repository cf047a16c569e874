"""Cells with several options among the features: a 0/1 column for each option, never for prose."""

import random

import numpy as np
import pyarrow as pa
import pytest

from labelcover.datasets import read_table
from labelcover.tables import Cells
from labelcover.tables._column_encoders import CategoryColumn, found_options

WHERE = ["At home", "At home, At the office", "At the office", "On the go, At home", "On the go"]
OPENINGS = ["The screen", "My printer, the old one,", "After the update, it", "Sadly, the sound"]
VERBS = ["broke", "is slow", "went dark", "does nothing, ever", "flickers"]
WHEN = ["since May", "again", "in the office, on floor two", "but only at night, I think"]


def prose(n):
    source = random.Random(0)
    some = [f"word{i}" for i in range(300)]
    return [
        f"{source.choice(OPENINGS)} {source.choice(VERBS)} {source.choice(WHEN)}, "
        + " ".join(source.choices(some, k=8))
        for _ in range(n)
    ]


def coded(cells):
    return Cells(pa.chunked_array([pa.array(cells, pa.string())])).coded


def fitted(name, cells):
    return CategoryColumn.fitted(name, coded(cells), found_options(cells))


def write(tmp_path, cells, last="rain"):
    path = tmp_path / "t.csv"
    rows = [f'{i % 7},"{cell}",{i % 2}\n' for i, cell in enumerate(cells)]
    path.write_text(f"a,where,{last}\n" + "".join(rows), encoding="utf-8")
    return path


def test_each_option_is_a_feature_of_zeros_and_ones(tmp_path):
    path = write(tmp_path, [*WHERE * 4, ""])
    data = read_table(path, labels=["rain"])
    (kind,) = [kind for kind in data.encoder.kinds if kind.name == "where"]
    assert (kind.kind, kind.why) == ("options", "3, separated by ','")
    assert data.feature_names == ["a", "where: At home", "where: At the office", "where: On the go"]
    expected = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]] * 4
    np.testing.assert_array_equal(data.X[:, 1:], [*expected, [0, 0, 0]])


def test_forty_names_that_recur_are_options():
    names = [f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di") for last in "ABCDEFGHIJ"]
    source = random.Random(0)
    cells = [", ".join(source.sample(names, source.randint(1, 4))) for _ in range(400)]
    assert len(fitted("cast", cells).values) == 40


def test_a_file_to_predict_is_read_in_the_same_way(tmp_path):
    data = read_table(write(tmp_path, WHERE * 4), labels=["rain"])
    other = write(tmp_path, ["At home, In a park", "On the go"])
    X = data.reading.read(other, with_labels=False).X
    np.testing.assert_array_equal(X[:, 1:], [[1, 0, 0], [0, 0, 1]])
    told = data.encoder.words()
    assert told(1, 1.0) == "where: At home"
    assert told(1, 0.0) == "not where: At home"


def test_rare_and_new_options_share_a_feature():
    cells = [*WHERE * 8, "At home, In a park", "On the go, In a car"]
    column = fitted("where", cells)
    assert column.feature_names[-1] == "where: (rare)"
    np.testing.assert_array_equal(
        column.encode(coded(["In a tent, At home", None, "In a car"])).toarray()[:, [0, -1]],
        [[1, 1], [0, 0], [0, 1]],
    )


@pytest.mark.parametrize(
    "cells",
    [
        prose(200),
        ["Rock & Roll", "R&B/Soul", "Hip-Hop/Rap", "Pop"] * 20,
        ["Smith, John", "Doe, Jane", "Lee, Ann", "Ito, Ken"] * 20,
        [f"Street {i}, Town {i % 5}" for i in range(100)],
        ["red", "green", "blue"] * 20,
        [f"{i}/{i % 9}" for i in range(100)],
        [None, ""],
    ],
    ids=["prose", "genres", "names", "addresses", "colours", "codes", "nothing"],
)
def test_what_does_not_hold_options_that_recur_is_none(cells):
    assert found_options(cells) is None


@pytest.mark.parametrize("mark", ["; ", "|", " / ", ",", " & "])
def test_options_are_found_whatever_separates_them(mark):
    cells = [cell.replace(", ", mark) for cell in WHERE * 10]
    column = fitted("where", cells)
    assert column.values == ["At home", "At the office", "On the go"]


def test_lists_that_are_written_out_hold_options():
    column = fitted("sites", ["['oak', 'ash']", "['ash']", "['elm', 'oak']"] * 5)
    assert column.feature_names == ["sites: ash", "sites: elm", "sites: oak"]
    assert column.encode(coded(["['elm']"])).toarray().tolist() == [[0, 1, 0]]


def test_what_is_given_as_text_or_category_is_read_so(tmp_path):
    path = write(tmp_path, WHERE * 4)
    for kind in ("text", "category"):
        data = read_table(path, labels=["rain"], **{kind: ["where"]})
        assert [k.kind for k in data.encoder.kinds if k.name == "where"] == [kind]
