"""What was read is said once: in Python, by train, compare and audit, and in the model."""

import json

import numpy as np
import pytest

from labelcover._arguments import naming_options
from labelcover.datasets import read_table
from labelcover.datasets._label_columns import LabelColumns
from labelcover.datasets._reading_report import LabelFacts
from labelcover.models import load_model

TAGS = (
    "Glass Mosaic; twin; mate",
    "glass mosaic; oak",
    "Glass Mosaic; oak",
    "glass mosaic",
    "",
    "oak; twin; mate",
    "n/a; oak",
    "oak; n/a",
    "twin; mate; pine",
    "",
    "pine",
    "oak; only once",
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "woods.csv"
    rows = [f'W{i};{i * 7 % 5};same;{"" if i % 2 else "x"};"{tag}"' for i, tag in enumerate(TAGS)]
    path.write_text("name;height;constant;half;tags\n" + "\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def report(table):
    with pytest.warns(UserWarning, match="only once"):
        return read_table(table, tags="tags", separator=";").report


def test_the_report_says_how_the_file_is_written(report, table):
    assert str(report).startswith(f"{table.name}: 12 rows, delimiter ';', encoding utf-8\n")


def test_the_report_says_what_is_odd_about_the_labels(report):
    assert str(report).splitlines()[-7:] == [
        "6 labels: oak (6), mate (3), twin (3), Glass Mosaic (2), glass mosaic (2), pine (2)",
        "2 of 12 rows (17%) without tags: an empty cell is taken as no tags (empty='skip' leaves "
        "such rows out)",
        "tags in one row only, left out: 'only once'",
        "labels in fewer than 3 rows: 'Glass Mosaic', 'glass mosaic', 'pine'",
        "labels that differ only in case or blanks: 'Glass Mosaic', 'glass mosaic'",
        "read as missing, not as tags: 'n/a'",
        "labels that never occur without each other: 'mate', 'twin'",
    ]


def test_options_are_those_of_python_or_of_the_command(report):
    assert "empty='skip'" in str(report)
    assert "text=['name'] takes it in" in str(report)
    with naming_options():
        assert "--empty skip" in str(report)
        assert "--text name takes it in" in str(report)


def test_columns_that_are_not_used_are_there_with_the_reason(report):
    said = {column["name"]: column for column in report.columns}
    assert said["constant"]["why"] == "one value only"
    assert said["name"]["read as"] == "id, not used"
    assert "constant" in str(report)
    assert "one value only" in str(report)


def test_the_report_is_data_too_and_has_a_table_for_notebooks(report):
    data = json.loads(json.dumps(report.as_dict()))
    assert data["n_rows"] == 12
    assert data["labels"]["counts"]["oak"] == 6
    assert data["labels"]["together"] == [["mate", "twin"]]
    assert "<td style='text-align:left'>height</td>" in report._repr_html_()
    assert repr(report).endswith("12 rows, 2 columns used, 6 labels)")


def test_names_are_escaped_for_notebooks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("<b>,tags\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)))
    report = read_table(path, tags="tags", number=["<b>"]).report
    assert "&lt;b&gt;" in report._repr_html_()
    assert "<b>" not in report._repr_html_()


def test_rows_that_have_only_tags_left_out_are_told_from_empty_cells():
    Y = np.array([[1, 0], [0, 0], [0, 0], [0, 1]], dtype=np.uint8)
    said = "\n".join(
        LabelFacts.of(Y, LabelColumns(["a", "b"], left_out=("c",), n_empty=1)).sentences()
    )
    assert "1 of 4 rows (25%) without tags" in said
    assert "1 of 4 rows (25%) without a label, only tags that are left out" in said


def test_rows_that_are_left_out_are_counted():
    Y = np.eye(2, dtype=np.uint8)
    facts = LabelFacts.of(Y, LabelColumns(["a", "b"], n_empty=8, empty="skip"))
    assert "8 of 10 rows (80%) without tags, left out" in "\n".join(facts.sentences())


COMMANDS = {
    "train": ["--method", "BR", "-o", "m.skops"],
    "audit": ["-o", "suspects.csv"],
    "compare": ["--methods", "BR", "--n-folds", "2", "-o", "comparison"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_says_it_once(table, tmp_path, monkeypatch, command_that_warns, name):
    monkeypatch.chdir(tmp_path)
    words = [name, table, "--tags", "tags", "--separator", ";", *COMMANDS[name]]
    code, printed, errors = command_that_warns(*words)
    assert code == 0, errors
    assert printed.count("12 rows, delimiter ';'") == 1
    assert (printed + errors).count("only once") == 1
    assert "(--empty skip leaves such rows out)" in printed
    code, printed, errors = command_that_warns(*words, "--json")
    assert code == 0, errors
    (read,) = json.loads(printed)["reading"]
    assert read["delimiter"] == ";"
    assert read["labels"]["left_out"] == ["only once"]
    assert "only once" not in errors
    if name == "train":
        assert load_model("m.skops").reading_.report.as_dict() == read


def test_rows_that_are_left_out_keep_the_numbers_of_the_others(table):
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(line.split(";", 1)[1] for line in lines), encoding="utf-8")
    with pytest.warns(UserWarning, match="only once"):
        read = read_table(table, tags="tags", separator=";", empty="skip")
    assert read.ids == [str(row + 1) for row, tags in enumerate(TAGS) if tags]
