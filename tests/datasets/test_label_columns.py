"""Where labels are, what separates tags and what empty cells mean: given, found, or asked."""

import re

import numpy as np
import pandas as pd
import pytest

from labelcover.datasets import DataError, read, read_arff, read_csv, read_table
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.models import fit_model, load_model, save_model

TOWNS = ["Salem, Oregon", "Salem, Texas", "Dover, Texas", "Dover, Ohio", "Lima, Ohio", "Lima, Iowa"]


def write(tmp_path, cells, name="tags"):
    path = tmp_path / "t.csv"
    rows = [f'{i % 7},"{cell}"\n' for i, cell in enumerate(cells)]
    path.write_text(f"a,{name}\n" + "".join(rows), encoding="utf-8")
    return path


def tags_of(data):
    names = data.label_names
    return [[name for name, bit in zip(names, row, strict=True) if bit] for row in data.Y]


def test_two_readings_are_an_error_that_names_the_parameter_and_each_answer_settles_it(tmp_path):
    path = write(tmp_path, TOWNS * 4)
    said = r"'Lima' \+ 'Ohio'.*'Lima, Ohio'.* say which: separator=',' or separator=\[\]"
    with pytest.raises(DataError, match=said):
        read_table(path, tags="tags")
    assert tags_of(read_table(path, tags="tags", separator=","))[0] == ["Oregon", "Salem"]
    assert tags_of(read_table(path, tags="tags", separator=[]))[0] == ["Salem, Oregon"]


def test_crosses_and_empty_cells_are_ones_and_zeros(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,wet,cold\n1,x,ja\n2,,nein\n3,X,WAHR\n4,,FALSCH\n", encoding="utf-8")
    assert read_table(path, labels=["wet", "cold"]).Y.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]


def test_several_separators_can_be_given_and_are_kept_in_the_model(tmp_path):
    path = write(tmp_path, ["rain and wind; fog", "fog; rain", "wind and fog", "rain"] * 3)
    data = read_table(path, tags="tags", separator=[" and ", ";"])
    assert data.label_names == ["fog", "rain", "wind"]
    model = fit_model(BinaryRelevanceClassifier(), data)
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").reading_.read(path, with_labels=True)
    assert tags_of(again) == tags_of(data)


def test_an_option_that_holds_the_separator_is_one_tag_in_further_files_too(tmp_path):
    milk = "Milk, dairy, or a creamer"
    cells = [milk, f"{milk}, Sugar", f"Syrup, {milk}", "Sugar, Syrup", "Sugar", "Syrup"] * 2
    data = read_table(write(tmp_path, cells), tags="tags")
    assert data.label_names == [milk, "Sugar", "Syrup"]
    assert f"{milk!r} is one tag, as the parts of such a tag never occur apart" in str(data.report)
    assert data.reading.labels.separator not in milk
    other = write(tmp_path, [f"{milk}, Sugar"])
    assert tags_of(data.reading.read(other, with_labels=True)) == [[milk, "Sugar"]]


def test_empty_cells_are_rows_without_tags_or_are_left_out(tmp_path):
    path = write(tmp_path, ["rain", "", "wind", "k.A.", "rain; wind"] * 3)
    kept = read_table(path, tags="tags")
    assert tags_of(kept)[:5] == [["rain"], [], ["wind"], [], ["rain", "wind"]]
    assert "6 of 15 rows (40%) without tags" in str(kept.report)
    skipped = read_table(path, tags="tags", empty="skip")
    assert tags_of(skipped) == [["rain"], ["wind"], ["rain", "wind"]] * 3
    assert skipped.X[:, 0].tolist() == [i % 7 for i in range(15) if i % 5 not in (1, 3)]
    assert "6 of 15 rows (40%) without tags, left out" in str(skipped.report)
    # Rows to evaluate are skipped in the same way, rows to predict are not.
    assert len(skipped.reading.read(path, with_labels=True).Y) == 9
    assert len(skipped.reading.read(path, with_labels=False).X) == 15


def test_more_than_half_without_tags_is_a_warning_unless_it_was_asked_for(tmp_path):
    path = write(tmp_path, ["rain", "", "wind", "", ""] * 3)
    with pytest.warns(UserWarning, match=r"no tags in 9 of 15 rows \(60%\).*empty='skip'"):
        read_table(path, tags="tags")
    assert len(read_table(path, tags="tags", empty="none").Y) == 15


def test_an_empty_label_is_an_error_that_says_what_may_be_done(tmp_path):
    path = write(tmp_path, ["1", "0", "", "1"], name="is wet")
    said = r"25% of the label cells are empty \('is wet' 25%\).*empty='unknown', or .*empty='none'"
    with pytest.raises(DataError, match=said):
        read_table(path, labels=["is wet"])
    unknown = read_table(path, labels=["is wet"], empty="unknown").Y.ravel()
    np.testing.assert_array_equal(unknown, [1, 0, np.nan, 1])
    assert read_table(path, labels=["is wet"], empty="none").Y.ravel().tolist() == [1, 0, 0, 1]
    assert read_table(path, labels=["is wet"], empty="skip").Y.ravel().tolist() == [1, 0, 1]


def test_errors_name_the_line_of_the_file_where_rows_were_skipped(tmp_path):
    path = write(tmp_path, ["1", "", "0", "x"], name="wet")
    with pytest.raises(DataError, match=re.escape("t.csv:5: label 'wet' is x")):
        read_table(path, labels=["wet"], empty="skip")


def test_an_unknown_meaning_of_empty_cells_is_refused(tmp_path):
    path = write(tmp_path, ["rain", "wind"] * 3)
    with pytest.raises(ValueError, match="'none', 'skip', 'unknown', got 'drop'"):
        read_table(path, tags="tags", empty="drop")
    with pytest.raises(DataError, match="empty in all 3 rows"):
        read_table(write(tmp_path, ["", "", ""], name="wet"), labels=["wet"], empty="skip")


def test_tags_that_look_like_a_missing_value_are_no_tags_and_are_said(tmp_path):
    path = write(tmp_path, ["rain; n/a", "-; wind", "rain; #NV", "wind"] * 3)
    data = read_table(path, tags="tags")
    assert data.label_names == ["rain", "wind"]
    assert "read as missing, not as tags: '#NV', '-', 'n/a'" in str(data.report)


def test_numeric_tags_are_sorted_as_numbers(tmp_path):
    path = write(tmp_path, ["[9, 10749]", "[18, 9]", "[10749, 18]"] * 2)
    assert read_table(path, tags="tags").label_names == ["9", "18", "10749"]


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "wide.csv"
    names = 'a,"Milk, whole",Eggs,is:wet,has:fog'
    path.write_text(names + "\n" + "1,0,1,0,1\n2,1,0,1,0\n3,1,1,0,1\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"label_range": "Milk, whole:Eggs"}, ["Milk, whole", "Eggs"]),
        ({"label_range": "Eggs:is:wet"}, ["Eggs", "is:wet"]),
        ({"label_range": "is:wet:has:fog"}, ["is:wet", "has:fog"]),
        ({"label_prefix": ["has:", "is:"]}, ["is:wet", "has:fog"]),
        ({"label_prefix": "is:"}, ["is:wet"]),
    ],
)
def test_labels_are_a_range_of_columns_or_have_one_of_several_prefixes(wide, given, names):
    assert read_table(wide, **given).label_names == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label_range": "Eggs"}, "label_range must be FIRST:LAST, two columns of the file"),
        ({"label_range": "Eggs:nothing"}, "label_range must be FIRST:LAST"),
        ({"label_range": "Eggs:a"}, "label_range is 'Eggs:a', but column 'a' comes first"),
        ({"label_prefix": ["is:", "no:"]}, "no column starts with 'no:'"),
        ({"labels": ["Eggs"], "label_prefix": "is:"}, "labels and label_prefix are given"),
        ({"tags": "a", "label_range": "Eggs:is:wet"}, "tags='a' is given and labels"),
        ({}, r"\(tags, for tables\).*\(labels\).*\(label_prefix\).*\(label_range, for"),
    ],
)
def test_labels_that_are_not_there_or_given_twice_are_named(wide, given, message):
    with pytest.raises(ValueError, match=message):
        read_table(wide, **given)


def test_tables_of_numbers_take_several_prefixes(wide):
    assert read_csv(wide, label_prefix=["is:", "has:"]).label_names == ["is:wet", "has:fog"]


PARTLY = {
    "height": [1.5, 2.5, 0.5, 4.0, 2.0, 3.5],
    "rain": [1, 0, None, 1, None, 0],
    "wind": [None, 1, 0, 0, None, 1],
    "snow": [0, 1, 0, 1, 0, 1],
}
EXPECTED = np.array([PARTLY[name] for name in ("rain", "wind", "snow")], dtype=float).T


def written(tmp_path, suffix):
    frame, path = pd.DataFrame(PARTLY), tmp_path / f"partly{suffix}"
    if suffix == ".csv":
        text = frame.astype(object).where(frame.notna(), None).to_csv(index=False)
        path.write_text(text.replace(",,", ",n/a,", 1), encoding="utf-8")
    elif suffix == ".parquet":
        frame.astype("Int8" if tmp_path.name.endswith("0") else float).to_parquet(path)
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif suffix == ".arff":
        names = "".join(f"@attribute {name} {{0,1}}\n" for name in frame.columns[1:])
        rows = frame.astype(object).where(frame.notna(), "?").astype(str)
        cells = rows.iloc[:, 1:].replace({"1.0": "1", "0.0": "0"})
        lines = pd.concat([rows["height"], cells], axis=1).to_csv(index=False, header=False)
        path.write_text(f"@relation partly\n@attribute height numeric\n{names}@data\n{lines}")
    else:
        frame.to_json(path, orient="records", lines=suffix == ".jsonl")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".json", ".xlsx", ".arff"])
def test_empty_label_cells_of_every_format_are_asked_for_and_may_be_unknown(tmp_path, suffix):
    path = written(tmp_path, suffix)

    def reading(**empty):
        if suffix == ".arff":
            return read_arff(path, -3, **empty)
        return read_table(path, labels=["rain", "wind", "snow"], **empty)

    said = r"22% of the label cells are empty \('rain' 33%, 'wind' 33%\): say whether nobody looked"
    with pytest.raises(DataError, match=said):
        reading()
    np.testing.assert_array_equal(reading(empty="unknown").Y, EXPECTED)
    zeros = reading(empty="none").Y
    assert zeros.dtype == np.uint8
    np.testing.assert_array_equal(zeros, np.nan_to_num(EXPECTED))


def test_tables_of_numbers_have_unknown_labels_too(tmp_path):
    path = written(tmp_path, ".csv")
    data = read(path, ["rain", "wind"], drop=["snow"], empty="unknown")
    np.testing.assert_array_equal(data.Y, EXPECTED[:, :2])
    with pytest.raises(ValueError, match="empty must be one of 'none', 'unknown', got 'skip'"):
        read_arff(written(tmp_path, ".arff"), -3, empty="skip")
    (tmp_path / "t.svm").write_text("0,1 1:2\n")
    with pytest.raises(ValueError, match="empty='none' is for files whose labels are columns"):
        read(tmp_path / "t.svm", empty="none")


def test_only_the_largest_shares_of_empty_cells_are_told(tmp_path):
    path = tmp_path / "wide.csv"
    table = np.ones((200, 8))
    for j in range(8):
        table[: 1 + 20 * j, j] = np.nan
    pd.DataFrame(table, columns=[f"t{j}" for j in range(8)]).assign(a=1.5).to_csv(path, index=False)
    said = r"\('t7' 70%, 't6' 60%, 't5' 50%, 't4' 40%, 't3' 30% and 3 more\)"
    with pytest.raises(DataError, match=said):
        read_table(path, label_prefix="t")


def test_crosses_are_never_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,wet,cold\n1,x,1\n2,,0\n3,X,\n4,,1\n", encoding="utf-8")
    data = read_table(path, labels=["wet", "cold"], empty="unknown")
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 0], [1, np.nan], [0, 1]])


def test_rows_with_an_empty_cell_of_tags_may_have_unknown_labels(tmp_path):
    path = write(tmp_path, ["rain", "", "wind", "k.A.", "rain; wind"] * 3)
    data = read_table(path, tags="tags", empty="unknown")
    assert data.label_names == ["rain", "wind"]
    rows = [[1, 0], [np.nan] * 2, [0, 1], [np.nan] * 2, [1, 1]]
    np.testing.assert_array_equal(data.Y, rows * 3)
    assert "6 of 15 rows (40%) with an empty cell, their tags not known" in str(data.report)
    again = data.reading.read(path, with_labels=True)
    np.testing.assert_array_equal(again.Y, data.Y)
    assert len(data.reading.read(path, with_labels=True, empty="skip").Y) == 9
    nothing = write(tmp_path, ["", "k.A."])
    said = pytest.raises(DataError, match="labels 'rain', 'wind' are empty in all 2 rows")
    with pytest.warns(UserWarning, match="has no tags in 2 rows"), said:
        data.reading.read(nothing, with_labels=True)


def test_the_report_tells_how_many_labels_are_not_known(tmp_path):
    path = written(tmp_path, ".csv")
    data = read_table(path, labels=["rain", "wind", "snow"], empty="unknown")
    assert data.unknown == pytest.approx(4 / 18)
    said = str(data.report)
    assert "22% of the labels are not known: rain (33%), wind (33%)" in said
    assert "3 labels: snow (3), rain (2), wind (2)" in said
    assert "without a label" not in said  # nobody knows whether the fifth row has none
    assert data.report.as_dict()["labels"]["unknown"] == {"rain": 2, "wind": 2}
