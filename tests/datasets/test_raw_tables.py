"""Files as they are: encodings, delimiters, names of columns, missing cells, types of columns."""

import pandas as pd
import pytest

from labelcover.datasets import DataError, read_table
from labelcover.datasets._raw_tables import read_raw
from labelcover.datasets._text_format import find_format


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiter_and_encoding_are_found(tmp_path, delimiter, encoding):
    text = "größe,b\n1,ä b\n2,€\n".replace(",", delimiter)
    found = find_format(write(tmp_path, text.encode(encoding)))
    assert found.delimiter == delimiter
    assert found.encoding == encoding


def test_a_letter_that_is_not_utf_8_is_seen_wherever_it_is(tmp_path):
    text = "a,b\n" + "1,x\n" * 600_000
    assert find_format(write(tmp_path, text)).encoding == "utf-8"
    assert find_format(write(tmp_path, text.encode() + b"1,\xe4\n")).encoding == "cp1252"
    assert find_format(write(tmp_path, text.encode() + b"1,\xe4\x81\n")).encoding == "latin-1"


def test_no_decimal_sign_is_guessed_for_a_file(tmp_path):
    path = write(tmp_path, 'a,b,c\n"1,5",0.101,"1,100"\n"2,5",12.5,"2,200"\n')
    table = read_raw(path)
    assert table.decimal is None
    assert [str(kind) for kind in table.columns.schema.types] == ["string", "double", "string"]
    assert table.columns.column("c").to_pylist() == ["1,100", "2,200"]
    assert read_raw(path, decimal=",").columns.column("a").to_pylist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-20", "", "n/a"], "int64"),
        (["0.5", "1.234", "7"], "double"),
        (["1e5", "2.25"], "double"),
        (["1.234", "12.345", "7"], "string"),
        (["01234", "12345"], "string"),
        (["1,5", "2"], "string"),
        (["1 000", "2"], "string"),
        (["2024-01-01", "2024-01-02"], "string"),
        (["yes", "no"], "string"),
        ([""] * 3, "string"),
    ],
)
@pytest.mark.parametrize("before", [0, 2000])
def test_only_numbers_beyond_doubt_are_read_as_numbers(tmp_path, cells, kind, before):
    """Whether what decides is among the first rows or far below them."""
    cells = ["7"] * before + cells
    path = write(tmp_path, "b;a;c\n" + "".join(f"x;{cell};x\n" for cell in cells))
    found = read_raw(path).columns.column("a")
    expected = "int64" if before and kind == "string" and not any(cells[before:]) else kind
    assert str(found.type) == expected
    assert found.null_count == sum(cell in ("", "n/a") for cell in cells)


def test_cells_that_mean_no_value_are_missing_however_they_are_written(tmp_path):
    marks = [
        "",
        " ",
        "NA",
        "n/a",
        "#NV",
        "k.A.",
        "k. A.",
        "-",
        " -- ",
        "<NA>",
        "n.a.",
        "\\N",
        "nAn",
    ]
    lines = "".join(f"{mark};{i};{mark}\n" for i, mark in enumerate(marks))
    path = write(tmp_path, "a;b;tags\n" + lines + "Na;1;x\n")
    columns = read_raw(path, as_text=["tags"]).columns
    for name in ("a", "tags"):
        assert columns.column(name).null_count == len(marks)
    assert columns.column("a")[-1].as_py() == "Na"  # sodium
    frame = pd.DataFrame({"a": [*marks, "x"], "b": range(len(marks) + 1)})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_raw(tmp_path / "t.parquet").columns.column("a").null_count == len(marks)


def test_lines_of_delimiters_only_are_no_rows(tmp_path):
    path = write(tmp_path, "\n;;\na;b;l\n1;x;1\n;;\n2;y;0\nNA;NA;NA\n ; ;\n;\n  \n3;z;7\n;;\n")
    table = read_raw(path)
    assert table.columns.column("a").to_pylist() == [1, 2, None, 3]
    assert table.notes == ("5 lines hold delimiters only and are no rows: 5, 8, 9, 10, 12.",)
    with pytest.raises(DataError, match=r"t.csv:11: label 'l' is 7"):
        read_table(write(tmp_path, path.read_text().replace("NA;NA;NA\n", "\n")), labels=["l"])


@pytest.mark.parametrize("marker", ["-", "..", "NA"])
def test_numbers_with_missing_markers_are_numbers(tmp_path, marker):
    path = write(tmp_path, f"a;b\n1;0.5\n{marker};{marker}\n3;2.25\n")
    columns = read_raw(path).columns
    assert columns.to_pydict() == {"a": [1, None, 3], "b": [0.5, None, 2.25]}


def test_one_line_in_another_encoding_leaves_the_others_as_they_are(tmp_path):
    lines = ["größe,tags", "süß,x", *["a,b"] * 400_000, "weiß,x", "Öl,y"]
    text = [line.encode("utf-8" if i != 400_002 else "cp1252") for i, line in enumerate(lines)]
    for end in (b"\n", b"\r\n", b"\r"):
        table = read_raw(write(tmp_path, end.join(text)))
        words = table.columns.column("größe").to_pylist()
        assert (words[0], words[-2], words[-1]) == ("süß", "weiß", "Öl")
        assert "line 400003 in cp1252" in table.notes[0]
        assert table.place(400_001) == ("line 400003", 400_003)
    table = read_raw(write(tmp_path, "a,b\nß,ü\n".encode("utf-8-sig") + b"\xe4,1\n"))
    assert table.columns.to_pydict() == {"a": ["ß", "ä"], "b": ["ü", "1"]}
    table = read_raw(write(tmp_path, "a,b\nß,ü\nä,ö\n".encode("cp1252") + "ñ,1\n".encode()))
    assert table.columns.column("a").to_pylist() == ["ß", "ä", "ñ"]
    assert table.notes == ("Most lines are in cp1252, line 4 in utf-8; each was read so.",)


def test_a_file_without_names_of_columns_can_be_read(tmp_path):
    path = write(tmp_path, "\n5,wool,soft;warm\n12,silk,soft\n19,wool,warm\n7,silk,soft\n")
    dataset = read_table(path, tags="column 3", header=False)
    assert dataset.label_names == ["soft", "warm"]
    assert dataset.X[:, dataset.feature_names.index("column 1")].tolist() == [5, 12, 19, 7]
    assert dataset.reading.read(path, with_labels=True, header=False).Y.shape == (4, 2)
    with pytest.raises(DataError, match=r"no column 'column 1'.*looks like data.*header=False"):
        dataset.reading.read(path, with_labels=False)
    with pytest.raises(ValueError, match="header is for CSV files only, got header=False"):
        read_table(tmp_path / "t.parquet", tags="tags", header=False)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Sales of 2023;;\n\na;b;tags\n1;x;p\n2;y;p\n", "Sales of 2023"),
        ("Sales, all\nin euros\na;b;tags\n1;x;p\n2;y;p\n", "Sales, all / in euros"),
        ('"Sales\nof 2023"\na,tags\n1,p\n2,p\n', "Sales\\nof 2023"),
    ],
)
def test_a_title_above_the_names_is_left_out_and_told(tmp_path, text, title):
    table = read_raw(write(tmp_path, text))
    assert table.names[0] == "a"
    assert table.names[-1] == "tags"
    assert table.columns.column("a").to_pylist() == [1, 2]
    assert title in table.notes[0]
    assert table.place(1)[1] == text.count("\n")


WRONG = {
    "delimiter": ("a:b:tags\n1:x:p\n", r"no column 'tags'.*delimiter=':' the file has 3 columns"),
    "one of two delimiters": ("a,b:tags\n1,x:p\n", r"no column 'tags'.*with delimiter=':'"),
    "blanks before quotes": ('n, "tags"\n1, "p"\n2, "q"\n', r"blanks stand before quotes"),
    "a note below": ("n,m,tags\n1,2,p\n2,3,q\nSource: us\n", r":4: 1 cell, .* note below the"),
    "tags cut instead of cells": ("n:m:tags\n1:2:p|q\n3:4:q|p\n", r"with delimiter=':' the file"),
    "a column without a name": ("n,tags\n1,2,p\n2,3,q\n", r"if the first column has no name"),
    "no names": ("5,x,p\n6,y,p\n", r"no column 'tags'.*looks like data.*header=False"),
    "no names but words": ("x,p\ny,p\nx,q\n", r"no column 'tags'.*looks like data.*header=False"),
    "no names, twice": ("1,1,p\n2,3,p\n", r"column '1' is there twice.*header=False"),
    "title of two": ("Sales;2023\na;b;tags\n1;2;p\n3;4;q\n", r":2: 3 cells.*title, remove the"),
    "title and names?": ("Sales\nAnna;p\nOtto;q\n", r":2: 2 cells, expected 1.*title, remove"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_column_that_is_not_found_comes_with_what_may_help(tmp_path, case):
    text, message = WRONG[case]
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, text), tags="tags")


def test_empty_columns_without_a_name_are_left_out_and_told(tmp_path):
    table = read_raw(write(tmp_path, "a,tags,,\n1,p,,\n2,q,,\n"))
    assert table.names == ["a", "tags"]
    assert table.notes == ("Column 3, column 4 have no name, are empty, were left out.",)
    with pytest.raises(DataError, match=r":1: column 4 has no name"):
        read_raw(write(tmp_path, "a,tags,,\n1,p,,\n2,q,,x\n"))


def test_an_empty_cell_of_the_only_column_is_a_row(tmp_path):
    table = read_raw(write(tmp_path, 'a\nx\n""\ny\n'))
    assert table.columns.column("a").to_pylist() == ["x", None, "y"]
    assert table.place(2) == ("line 4", 4)


@pytest.mark.parametrize("row", [0, 30])
def test_a_cell_may_be_a_long_document(tmp_path, row):
    lines = [f"{'word ' * 60_000 if i == row else 'a b'};{i};p" for i in range(40)]
    path = write(tmp_path, "note;n;tags\n" + "\n".join(lines))
    table = read_raw(path)
    assert len(table.columns.column("note")[row].as_py()) == 300_000
    assert table.place(35) == ("line 37", 37)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_without_the_mark_of_its_encoding_is_refused(tmp_path, encoding):
    with pytest.raises(DataError, match=rf"t\.csv:1: not a text file in {encoding}"):
        read_raw(write(tmp_path, "a,b\n1,2\n"), encoding=encoding)


def test_a_column_name_that_is_not_utf_8_is_refused_with_the_file(tmp_path):
    lines = b'{"si\xe3": 1, "b": "x"}\n{"si\xe3": 2, "b": "y"}\n'
    with pytest.raises(DataError, match=r"t\.jsonl: the name of a column is not in UTF-8"):
        read_raw(write(tmp_path, lines, "t.jsonl"))
