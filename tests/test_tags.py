"""Tags as people write them become a table of zeros and ones, or are refused with the row."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover._tag_separators import Separators
from labelcover._tags import (
    BETWEEN_TAGS,
    free_separator,
    read_tags,
    separated_tags,
    tag_table,
)

ROWS = [["wind"], [], ["rain", "wind"], ["rain"]]

TAG = st.text(alphabet="abc d", min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.lists(TAG, unique=True)), st.sampled_from(BETWEEN_TAGS))
def test_joined_tags_are_split_again(rows, separator):
    cells = [f" {separator} ".join(row) for row in rows]
    assert separated_tags(cells, Separators((separator,)))[0] == rows


@given(st.lists(st.lists(TAG, unique=True)))
def test_a_table_of_tags_holds_each_tag_of_each_row(rows):
    table, names = tag_table(rows)
    assert names == sorted({tag for row in rows for tag in row})
    assert [{names[j] for j in np.flatnonzero(bits)} for bits in table] == list(map(set, rows))


@pytest.mark.parametrize(
    "given_as",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        list(map(set, ROWS)),
        pd.Series(ROWS),
        pd.Series(["wind", None, "rain; wind", " rain"]),
        pd.Series(["wind", pd.NA, "rain; wind", " rain"], dtype="string"),
        pl.Series(["wind", "", "rain|wind", "rain"]),
        np.array(["wind", "", "rain,wind", "rain"]),
        np.array([*map(set, ROWS)], dtype=object),
        ["wind", "", "rain;wind;rain", "rain"],
    ],
    ids=[
        "lists",
        "tuples",
        "sets",
        "series of lists",
        "series of strings",
        "series of strings with NA",
        "polars",
        "array of strings",
        "array of sets",
        "list of strings",
    ],
)
def test_tags_are_known_in_every_form(given_as):
    assert list(map(set, read_tags(given_as))) == list(map(set, ROWS))


@pytest.mark.parametrize(
    "table",
    [[[0, 1], [1, 0]], np.eye(3), pd.DataFrame({"a": [0, 1]}), [0, 1], pd.Series([0, 1])],
    ids=["lists", "array", "frame", "numbers", "series"],
)
def test_what_may_be_a_table_is_left_alone(table):
    assert read_tags(table) is None


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([["a"], None], "got None in row 1; a row without tags is"),
        ([["a"], [["b"]]], r"tags that are strings, got \['b'\] in row 1"),
        ([[""], [" "]], "Y holds no tag in its 2 rows"),
        ([{"a"}, {3}], "tags that are strings, got 3 in row 1"),
        ([set(), set()], "Y holds no tag in its 2 rows"),
        (pd.Series(["", None, " ; "]), "Y holds no tag in its 3 rows"),
        (["a", 3], "strings of separated tags in every row, got 3 in row 1"),
        (["a", ["b"]], "strings of separated tags in every row"),
        ([[], []], "Y holds no tag in its 2 rows"),
        ([None, float("nan"), pd.NA], "Y holds no tag in its 3 rows"),
        ([[1, 2], [3]], "that are strings, got 2 values in row 0, 1 in row 1, and no strings"),
    ],
    ids=range(11),
)
def test_wrong_tags_are_refused_with_their_row_before_anything_is_fitted(tags, message):
    X = np.arange(2.0 * len(tags)).reshape(len(tags), 2)
    with pytest.raises(ValueError, match=message):
        RakelClassifier(k=1).fit(X, tags)


def test_an_empty_string_in_a_list_is_no_tag_and_blanks_around_tags_are_dropped():
    split = [cell.split(",") for cell in ["", "rain, wind", "wind"]]
    assert read_tags(split) == [[], ["rain", "wind"], ["wind"]]


def test_few_strings_are_read_as_the_tags_that_are_known():
    known = ["dry", "red", "Milk, or cream", "R&B/Soul", "New York"]
    cells = ["red dry", "dry"]
    assert read_tags(cells) == [["red dry"], ["dry"]]
    assert read_tags(cells, known=known) == [["red", "dry"], ["dry"]]
    assert read_tags(["Milk, or cream, dry"], known=known) == [["Milk, or cream", "dry"]]
    assert read_tags(["R&B/Soul/dry & New York"], known=known) == [["R&B/Soul", "dry", "New York"]]
    assert read_tags(["New York", None], known=known) == [["New York"], []]


def test_a_model_is_scored_with_the_tags_that_it_knows():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    cells = [
        " ".join(tag for tag, x in zip(["dry", "red"], row, strict=True) if x > 0) for row in X
    ]
    lists = [cell.split() for cell in cells]
    model = RakelClassifier(k=2, random_state=0).fit(X, lists)
    assert model.score(X[:6], cells[:6]) == model.score(X[:6], lists[:6])


def test_tags_that_are_numbers_are_sorted_as_numbers():
    assert tag_table([["10", "9"], ["100", "9.5"]])[1] == ["9", "9.5", "10", "100"]
    assert tag_table([["10", "9"], ["b", "a"]])[1] == ["10", "9", "a", "b"]


def test_strings_that_can_be_read_in_two_ways_are_refused_with_both_of_them():
    towns = [
        "Salem, Oregon",
        "Salem, Texas",
        "Dover, Texas",
        "Dover, Ohio",
        "Lima, Ohio",
        "Lima, Iowa",
    ]
    with pytest.raises(ValueError, match=r"'Lima' \+ 'Ohio'.* or .*'Lima, Ohio'.*; give lists"):
        read_tags(pd.Series(towns * 4))


def test_a_model_of_tags_is_that_of_their_table():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    rows = [[name for name, x in zip("cab", row, strict=True) if x > 0] for row in X]
    table = pd.DataFrame({name: [int(name in row) for row in rows] for name in "abc"})
    expected = LabelCoverClassifier(k=2, random_state=0).fit(X, table)
    model = LabelCoverClassifier(k=2, random_state=0).fit(X, pd.Series(map(";".join, rows)))
    assert model.label_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    predicted = model.predict(X)
    assert predicted.shape == (60, 3)
    tags = model.predict_tags(X)
    assert tags == [
        [name for name, bit in zip("abc", row, strict=True) if bit] for row in predicted
    ]
    assert model.score(X, rows) == model.score(X, table)
    model.set_output(predict="pandas")
    assert model.predict_tags(X) == tags


@pytest.mark.parametrize(
    "written",
    [
        ["['rain', 'heavy wind']", "['rain']", "[]", None],
        ['["rain", "heavy wind"]', '["rain"]', "[]", ""],
        ["['rain' 'heavy wind']", "['rain']", "[]", " "],
        ["[rain, heavy wind]", "[rain]", "[]", None],
        ["('rain', 'heavy wind')", "('rain',)", "()", None],
        ["{'rain', 'heavy wind'}", "{'rain'}", "set()", None],
    ],
    ids=["Python", "JSON", "NumPy", "plain", "tuples", "sets"],
)
def test_lists_that_are_written_out_are_read_as_lists(written):
    assert separated_tags(written)[0] == [["rain", "heavy wind"], ["rain"], [], []]


def test_quotes_inside_tags_are_kept():
    assert separated_tags(['["it\'s", \'a "b" [c]\']'])[0] == [["it's", 'a "b" [c]']]


def test_escapes_of_json_are_read():
    written = json.dumps(["💶 money", 'say "x"', "été"]).replace("money", r"and\/or")
    assert separated_tags([written])[0] == [["💶 and/or", 'say "x"', "été"]]


def test_a_separator_is_part_of_no_tag():
    assert separated_tags(["['a;b', 'c|d']", "['a;b']"])[0] == [["a;b", "c|d"], ["a;b"]]
    assert free_separator(["a;b", "c|d"]) == ","
    assert free_separator(["a;b", "c|d"], "/") == "/"
    assert free_separator([";|,", "\t\n"]) == ";"


@pytest.mark.parametrize(
    "written",
    [
        [
            '[{"id": 18, "name": "Drama"}, {"id": 35, "name": "War"}]',
            "[]",
            '[{"id": 35, "name": "War"}]',
        ],
        [
            "[{'id': 18, 'name': 'Drama'}, {'id': 35, 'name': 'War'}]",
            "",
            "[{'id': 35, 'name': 'War'}]",
        ],
        ['[{"tag": "Drama"}, {"tag": "War"}]', None, '[{"tag": "War"}]'],
        ["<Drama><War>", None, "<War>"],
    ],
    ids=["JSON", "Python", "another key", "angle brackets"],
)
def test_names_are_taken_from_lists_of_objects_and_from_angle_brackets(written):
    assert separated_tags(written)[0] == [["Drama", "War"], [], ["War"]]


def test_lists_of_numbers_are_lists():
    rows, separators = separated_tags(["[18, 10749]", "[18]"])
    assert rows == [["18", "10749"], ["18"]]
    assert separators.told() == "lists"


def test_an_object_without_a_name_is_an_error_with_its_row():
    with pytest.raises(ValueError, match="no name and not one string only in row 1"):
        separated_tags(['[{"name": "Drama"}]', '[{"id": 1}]'])


def test_arrays_of_databases_and_objects_of_truth_values_are_lists():
    rows = [["hard rock", "pop"], ["pop"], []]
    assert separated_tags(['{"hard rock",pop}', "{pop}", "{}"])[0] == rows
    assert separated_tags(["(hard rock, pop)", "(pop)", "()"])[0] == rows
    objects = ['{"hard rock": true, "pop": 3}', '{"pop": 1, "hard rock": 0}', "{}"]
    assert separated_tags(objects)[0] == rows
    assert separated_tags(['{"id": 1, "name": "pop"}'])[0] == [["pop"]]


def test_brackets_in_some_cells_are_no_lists():
    assert separated_tags(["(rain)", "(fog)"])[0] == [["(rain)"], ["(fog)"]]
    assert separated_tags(["[draft]; rain", "rain"])[0] == [["[draft]", "rain"], ["rain"]]
    assert separated_tags(["[a][b]", "[a]"])[0] == [["[a][b]"], ["[a]"]]


def test_a_list_with_some_tags_in_quotes_is_named():
    with pytest.raises(ValueError, match=r"got the list \['a', b\], in which .* in row 1"):
        separated_tags(["['a']", "['a', b]"])
