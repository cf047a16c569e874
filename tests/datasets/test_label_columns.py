"""Where labels are, what separates tags and what empty cells mean: given, found, or asked."""

import re

import pytest

from labelcover.datasets import DataError, read_csv, read_table
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
    with pytest.raises(DataError, match=r"empty, .*empty='none' takes .* 0, empty='skip' leaves"):
        read_table(path, labels=["is wet"])
    assert read_table(path, labels=["is wet"], empty="none").Y.ravel().tolist() == [1, 0, 0, 1]
    assert read_table(path, labels=["is wet"], empty="skip").Y.ravel().tolist() == [1, 0, 1]


def test_errors_name_the_line_of_the_file_where_rows_were_skipped(tmp_path):
    path = write(tmp_path, ["1", "", "0", "x"], name="wet")
    with pytest.raises(DataError, match=re.escape("t.csv:5: label 'wet' is x")):
        read_table(path, labels=["wet"], empty="skip")


def test_an_unknown_meaning_of_empty_cells_is_refused(tmp_path):
    path = write(tmp_path, ["rain", "wind"] * 3)
    with pytest.raises(ValueError, match="empty must be one of 'none', 'skip', got 'drop'"):
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
