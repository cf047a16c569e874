"""Forty tables as other people write them: what must come out of each is beside it, by hand.

``name.expected.json`` holds one case, or a list of them:

===================  ===========================================================================
options              what `read_table` is given
rows, ids, labels    how many rows; what names the first ones (null: nothing); the labels in order
kinds, not_kinds     what columns are read as, and what they must not be
numbers, dates       the first cells of a column; null is missing in numbers, not looked at in dates
years                the years of dates, where only the year is known
has, has_not         features of a row (from 1) that are 1, or 0
tags                 the labels of a row (from 1)
case                 columns with features that differ only in capital and small letters
says                 what the report or a warning must say
error                what the error must say, instead of all this
===================  ===========================================================================
"""

import json
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from labelcover import load_model
from labelcover.datasets import read_table
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.tables._table import GIVEN

FOLDER = Path(__file__).parent
SUFFIX = ".expected.json"


def cases():
    for expected in sorted(FOLDER.glob(f"*{SUFFIX}")):
        stem = expected.name.removesuffix(SUFFIX)
        (path,) = (p for p in FOLDER.glob(f"{stem}.*") if p != expected)
        content = json.loads(expected.read_text(encoding="utf-8"))
        for number, case in enumerate(content if isinstance(content, list) else [content], 1):
            yield pytest.param(path, case, id=f"{stem}-{number}")


def as_read(path, options):
    """Return the data set, and all that was said about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset = read_table(path, **options)
    said = [str(warning.message) for warning in caught]
    return dataset, "\n".join([str(dataset.report), *said])


def column(dataset, feature):
    """Return a feature in the units of the table: numbers beside text are scaled."""
    at = dataset.feature_names.index(feature)
    X = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.toarray()
    shift, factor = dataset.encoder.shift, dataset.encoder.factor
    if shift is None or at >= len(shift):
        return X[:, at]
    return X[:, at] / factor[at] + shift[at]


def encoder_of(dataset, name):
    return next(made for made in dataset.encoder.encoders if made.name == name)


def labels_of(dataset, row):
    return [n for n, bit in zip(dataset.label_names, dataset.Y[row], strict=True) if bit]


def check_columns(dataset, case):
    kinds = {kind.name: kind.kind for kind in dataset.encoder.kinds}
    wanted = case.get("kinds", {})
    assert {name: kinds[name] for name in wanted} == wanted
    for name, kind in case.get("not_kinds", {}).items():
        assert kinds[name] != kind
    for name, numbers in case.get("numbers", {}).items():
        fill = encoder_of(dataset, name).fill
        expected = [fill if number is None else number for number in numbers]
        assert column(dataset, name)[: len(numbers)] == pytest.approx(expected, rel=1e-9)
    for name, days in case.get("dates", {}).items():
        newest = datetime.fromtimestamp(encoder_of(dataset, name).newest, UTC).replace(tzinfo=None)
        ages = column(dataset, f"{name} (age in days)")
        for age, day in zip(ages, days, strict=False):
            if day is not None:
                assert abs((newest - datetime.fromisoformat(day)).total_seconds() / 86400 - age) < 1
    for name, years in case.get("years", {}).items():
        assert column(dataset, f"{name} (year)")[: len(years)] == pytest.approx(years)

    for name in case.get("case", []):
        features = [f for f in dataset.feature_names if f.startswith(f"{name}: ")]
        assert len({feature.lower() for feature in features}) < len(features)


def check_rows(dataset, case):
    for key, value in (("has", 1), ("has_not", 0)):
        for row, features in case.get(key, {}).items():
            for feature in features:
                assert column(dataset, feature)[int(row) - 1] == pytest.approx(value), feature
    if "labels" in case:
        assert dataset.label_names == case["labels"]
    for row, tags in case.get("tags", {}).items():
        assert sorted(labels_of(dataset, int(row) - 1)) == sorted(tags)
    if "ids" in case:
        ids = case["ids"]
        assert (dataset.ids if ids is None else dataset.ids[: len(ids)]) == ids


@pytest.mark.parametrize(("path", "case"), list(cases()))
def test_the_table_that_was_written_down_comes_out(path, case):
    if "error" in case:
        with pytest.raises(ValueError) as raised:  # noqa: PT011  what it says is in the file
            read_table(path, **case["options"])
        for words in case["error"]:
            assert words in str(raised.value)
        return
    dataset, said = as_read(path, case["options"])
    if "rows" in case:
        assert dataset.X.shape[0] == len(dataset.Y) == case["rows"]
    check_columns(dataset, case)
    check_rows(dataset, case)
    for words in case.get("says", []):
        assert words in said, said


# Files that are read through the command too: options of every kind.
THROUGH_THE_COMMAND = (
    "auftraege_latin1-1",
    "coffee_options_with_commas-1",
    "districts_ambiguous_thousands-2",
    "fabrics_no_header-1",
    "fabrics_no_header-2",
    "molecules_case_matters-1",
    "plots_several_prefixes-1",
    "recipes_label_names_with_commas-1",
    "recipes_label_names_with_commas-2",
    "recipes_label_names_with_commas-3",
    "schichten_monate_und_uhrzeiten-1",
    "spells_two_separators-2",
    "survey_mostly_empty-3",
    "tastings_bounds_and_durations-1",
)


def words_of(options):
    """Return options of `read_table` as those of the command."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is False:
            yield option.replace("--", "--no-")
        else:
            for each in (value or ["none"]) if isinstance(value, list) else [value]:
                yield from (option, each)


@pytest.mark.parametrize(
    ("path", "case"), [case for case in cases() if case.id in THROUGH_THE_COMMAND]
)
def test_the_command_reads_and_says_the_same(path, case, tmp_path, command_that_warns):
    model, out = tmp_path / "m.skops", tmp_path / "p.jsonl"
    words = ["train", path, *words_of(case["options"]), "--method", "BR", "-o", model]
    code, printed, errors = command_that_warns(*words)
    if "error" in case:
        assert (code, printed) == (2, "")
        assert all(words in errors for words in case["error"])
        return
    assert code == 0, errors
    assert errors == ""
    assert all(words in printed for words in case.get("says", []))
    (read,) = json.loads(command_that_warns(*words, "--json")[1])["reading"]
    kinds = {column["name"]: column["read as"] for column in read["columns"]}
    assert {name: kinds[name] for name in case.get("kinds", {})} == case.get("kinds", {})
    assert sorted(read["labels"]["counts"]) == sorted(case.get("labels", read["labels"]["counts"]))
    written = ["--no-header"] if case["options"].get("header") is False else []
    code, _, errors = command_that_warns("predict", model, path, *written, "-o", out)
    assert code == 0, errors
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= case.get("rows", 0)
    names = case.get("ids") or [1, 2, 3]
    assert [next(iter(row.values())) for row in rows[: len(names)]] == names


def test_there_are_forty_files():
    assert len({case.values[0] for case in cases()}) >= 40


@pytest.mark.parametrize(("path", "case"), list(cases()))
def test_a_frame_in_python_and_the_file_give_one_model(path, case, tmp_path, command_that_warns):
    """The same columns, features and probabilities, to the bit."""
    if "error" in case:
        pytest.skip("nothing is read")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = read_table(path, **case["options"])
        frame = dataset.table.columns.to_pandas()
        given = {name: kind for kind in GIVEN for name in named(case["options"].get(kind, ()))}
        if case["options"].get("decimal"):
            pytest.skip("a frame has no decimal sign to be told")
        model = BinaryRelevanceClassifier(columns=given or None, random_state=0)
        P = model.fit(frame, dataset.Y).predict_proba(frame)
        words = ["train", path, *words_of(case["options"]), "--method", "BR"]
        code, _, errors = command_that_warns(*words, "-o", tmp_path / "m.skops")
        assert code == 0, errors
        loaded = load_model(tmp_path / "m.skops")
        np.testing.assert_array_equal(loaded.predict_proba(frame), P)
    if hasattr(model, "columns_"):
        assert str(model.columns_) == str(loaded.columns_)
        assert list(loaded.columns_) == dataset.encoder.kinds
        assert model._coding.feature_names == dataset.feature_names
    else:  # numbers alone, which are what they are
        assert {kind.kind for kind in dataset.encoder.kinds} <= {"number", "truth value"}


def named(value):
    return [value] if isinstance(value, str) else value
