"""The command on tables as people have them: train, predict, evaluate with no more than --tags."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from labelcover.datasets import read_table
from labelcover.models import load_model

spec = importlib.util.spec_from_file_location(
    "messy_files", Path(__file__).parent / "datasets" / "messy_files.py"
)
messy_files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(messy_files)


@pytest.fixture
def command(command_that_warns):
    """Messy files may be warned about, in lines of their own."""
    return command_that_warns


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Reading does not depend on the method; the rest are trained with a quicker one.
BY_DEFAULT = (messy_files.one_tag_only,)


@pytest.mark.parametrize("make", messy_files.MESSY, ids=lambda make: make.__name__)
def test_messy_files_go_through_with_tags_alone(tmp_path, command, make):
    path, model, out = make(tmp_path), tmp_path / "m.skops", tmp_path / "p.csv"
    method = [] if make in BY_DEFAULT else ["--method", "BR"]
    code, printed, errors = command("train", path, "--tags", "tags", *method, "-o", model)
    assert code == 0, errors
    assert "text" in printed
    assert all(line.startswith("labelcover: warning: ") for line in errors.splitlines())
    code, printed, errors = command("predict", model, path, "-o", out)
    assert code == 0, errors
    rows = table(out)
    assert len(rows) == messy_files.N
    assert rows[3]["ticket"] == "T-0003"
    code, printed, errors = command("evaluate", model, path, "--json")
    assert code == 0, errors
    scores = json.loads(printed)
    assert scores["micro_f1"] > 0.9
    kinds = {kind.name: kind.kind for kind in load_model(model).columns_}
    assert kinds["subject"] == "text"
    assert kinds["colour"] == "category"
    assert kinds["hours"] == "number"
    assert kinds["opened"] == "date"
    assert kinds["ticket"].startswith("id")


def page_and_suspects(tmp_path, command, path, model):
    """Run what says how far a model and its table can be trusted."""
    out, page, suspects = tmp_path / "w.csv", tmp_path / "page.html", tmp_path / "s.csv"
    for words in (
        ["predict", model, path, "--why", "2", "-o", out],
        ["report", model, path, "-o", page],
        ["report", model, "-o", page],
        ["audit", path, "--tags", "tags", "--above", "0", "-o", suspects],
    ):
        code, _, errors = command(*words)
        assert code == 0, errors
    assert all(row["why"] or not row["tags"] for row in table(out))
    assert "T-0" in table(suspects)[0]["name"]
    assert "</html>" in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("make", messy_files.MESSY, ids=lambda make: make.__name__)
def test_messy_files_go_through_everything(tmp_path, command, make):
    path, model = make(tmp_path), tmp_path / "m.skops"
    code, _, errors = command("train", path, "--tags", "tags", "-o", model)
    assert code == 0, errors
    page_and_suspects(tmp_path, command, path, model)


def test_the_messiest_file_goes_through_everything(tmp_path, command):
    path, model = messy_files.all_together(tmp_path), tmp_path / "m.skops"
    assert command("train", path, "--tags", "tags", "-o", model)[0] == 0
    page_and_suspects(tmp_path, command, path, model)


def test_mistakes_in_cells_and_rare_tags_are_said_once_in_a_line_each(tmp_path, command):
    path = messy_files.unreadable_date_and_number(tmp_path)
    words = ["--tags", "tags", "--method", "BR", "-o", tmp_path / "m.skops"]
    _, printed, errors = command("train", path, *words)
    assert errors == ""
    assert "column 'hours' holds 'a few' in line 7, expected a number" in printed.splitlines()[1]
    assert "column 'opened' holds 'soon' in line 5, expected a date" in printed.splitlines()[2]
    path = messy_files.rare_tags(tmp_path)
    _, printed, errors = command("train", path, *words)
    assert errors == ""
    assert "tags in one row only, left out: 'unheard-of'" in printed.splitlines()


def test_a_saved_model_encodes_as_the_one_in_memory(tmp_path, command):
    path, model = messy_files.all_together(tmp_path), tmp_path / "m.skops"
    assert command("train", path, "--tags", "tags", "--method", "BR", "-o", model)[0] == 0
    here = read_table(path, tags="tags")
    there = load_model(model).reading_.read(path, with_labels=True)
    assert there.feature_names == here.feature_names == load_model(model).reading_.feature_names
    assert there.ids == here.ids
    assert (there.X != here.X).nnz == 0
    np.testing.assert_array_equal(there.Y, here.Y)


def test_what_was_decided_is_printed_and_overruled(tmp_path, command):
    path, model = messy_files.plain(tmp_path), tmp_path / "m.skops"
    words = ["train", path, "--tags", "tags", "--method", "BR", "-o", model]
    printed = command(*words)[1].splitlines()
    assert printed[0] == f"{path.name}: 60 rows, delimiter ',', encoding utf-8"
    assert printed[1].split() == ["column", "read", "as"]
    assert printed[2].split()[:2] == ["ticket", "id,"]
    assert "separated by ';'" in printed[8]
    words += ["--text", "subject,colour", "--category", "hours", "--drop", "opened", "--json"]
    found = json.loads(command(*words)[1])["columns"]
    assert found["colour"] == "text"
    assert found["hours"] == "category"
    assert found["opened"] == "not used"


def test_a_tab_can_be_said(tmp_path, command):
    path, model = messy_files.utf_16_with_tabs(tmp_path), tmp_path / "m.skops"
    written = ["--delimiter", "tab", "--encoding", "utf-16", "--decimal", "."]
    words = ["train", path, "--tags", "tags", "--method", "BR", "-o", model]
    assert command(*words, *written)[0] == 0
    assert command("evaluate", model, path, *written)[0] == 0
    code, _, errors = command("evaluate", model, path, "--delimiter", "&")
    assert code == 2
    assert "no column 'subject', which was text in training, expected the columns of" in errors


def test_a_file_without_names_of_columns_is_told_by_an_option(tmp_path, command):
    path, model = tmp_path / "t.csv", tmp_path / "m.skops"
    path.write_text("".join(f"{i * i % 7},{'pq'[i % 2]};r\n{i % 5},r\n" for i in range(12)))
    words = ["train", path, "--method", "BR", "-o", model]
    code, _, errors = command(*words, "--tags", "tags")
    assert code == 2
    assert "if the file has no names of columns, give --no-header" in errors
    assert command(*words, "--tags", "column 2", "--no-header")[0] == 0
    assert command("evaluate", model, path, "--no-header")[0] == 0
    code, _, errors = command("evaluate", model, path, "--delimiter", ";", "--no-header")
    assert code == 2
    assert "1 cell, expected 2 as in line 1" in errors


def test_tables_can_be_compared(tmp_path, command):
    path = messy_files.plain(tmp_path)
    words = ["compare", path, "--tags", "tags", "--n-folds", "2", "--methods", "BR,LP"]
    code, printed, errors = command(*words, "-o", tmp_path / "c", "--json")
    assert code == 0, errors
    assert {line["method"] for line in json.loads(printed)["summary"]} == {"BR", "LP"}


def test_options_of_tables_are_refused_for_other_data(tmp_path, command):
    for words, message in [
        (["debtags", "--tags", "tags"], "--tags is for tables (.csv, .parquet, .jsonl, .xlsx)"),
        (["debtags", "--delimiter", ";"], "--delimiter is for tables"),
        ([messy_files.plain(tmp_path), "--labels", "3"], "--labels 3 is for ARFF files only"),
        ([messy_files.parquet(tmp_path), "--tags", "tags", "--decimal", ","], "decimal is for CSV"),
    ]:
        code, printed, errors = command("train", *words, "-o", tmp_path / "m.skops")
        assert code == 2
        assert message in errors
        assert errors.count("\n") == 1
        assert printed == ""


def test_tags_are_decided_for_the_measure_asked_for(tmp_path, command):
    path, model, out = messy_files.plain(tmp_path), tmp_path / "m.skops", tmp_path / "p.csv"
    assert command("train", path, "--tags", "tags", "-o", model)[0] == 0
    assert command("predict", model, path, "-o", out, "--decide", "2")[0] == 0
    assert {row["tags"].count(";") for row in table(out)} == {1}
    assert command("predict", model, path, "-o", out, "--decide", "subset_accuracy")[0] == 0
    code, _, errors = command("predict", model, path, "-o", out, "--decide", "beauty")
    assert code == 2
    assert "decide must be" in errors
    assert command("train", path, "--tags", "tags", "--method", "BR", "-o", model)[0] == 0
    code, _, errors = command("predict", model, path, "-o", out, "--decide", "2")
    assert code == 2
    assert "decide=2 is for models of LabelCoverClassifier" in errors


def test_a_file_without_tags_is_no_test(tmp_path, command):
    path, model = messy_files.plain(tmp_path), tmp_path / "m.skops"
    assert command("train", path, "--tags", "tags", "--method", "BR", "-o", model)[0] == 0
    rows = table(path)
    empty = tmp_path / "empty.csv"
    with empty.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "tags": ""} for row in rows)
    code, _, errors = command("evaluate", model, empty)
    assert code == 0
    assert "column 'tags' has no tags in 60 rows, expected some to compare" in errors


def test_reasons_are_in_the_words_of_the_table(tmp_path, command):
    path, model, out = messy_files.plain(tmp_path), tmp_path / "m.skops", tmp_path / "p.csv"
    assert command("train", path, "--tags", "tags", "-o", model)[0] == 0
    assert command("predict", model, path, "--why", "50", "-o", out)[0] == 0
    first, given = table(out)[0]["why"], table(path)[0]
    assert f"hours = {float(given['hours']):g} (" in first
    assert f"colour = {given['colour']} (" in first
    assert "= 1 (" not in first


def test_models_of_votes_give_no_reasons(tmp_path, command):
    path, model, out = messy_files.plain(tmp_path), tmp_path / "m.skops", tmp_path / "p.csv"
    assert command("train", path, "--tags", "tags", "--method", "RAKEL", "-o", model)[0] == 0
    code, _, errors = command("predict", model, path, "--why", "3", "-o", out)
    assert code == 2
    assert "--why is for models whose confidences are sums of reasons" in errors
    assert "got one of RakelClassifier" in errors
    code, _, errors = command("report", model, "-o", tmp_path / "page.html")
    assert code == 2
    assert "give a file with test data" in errors


def test_similar_rows_are_named_by_the_id_of_the_table(tmp_path, command):
    path, model, out = tmp_path / "t.csv", tmp_path / "m.skops", tmp_path / "p.csv"
    rows = [f"T-{i}x,{i % 5},{i % 3},{'even' if i % 2 == 0 else 'odd'}" for i in range(60)]
    path.write_text("ticket,a,b,tags\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert command("train", path, "--tags", "tags", "--id", "ticket", "-o", model)[0] == 0
    options = ["--why", "2", "--like", "2", "--threshold", "0.4", "-o", out]
    code, _, errors = command("predict", model, path, *options)
    assert code == 0, errors
    first = table(out)[0]
    near = first["like"].split("; ")
    assert len(near) == 2
    for each in near:
        name, _, tags = each.partition(" (")
        i = int(name.removeprefix("T-").removesuffix("x"))
        assert tags == ("even)" if i % 2 == 0 else "odd)")
    for row in table(out):
        over = [name for name in ("even", "odd") if float(row[f"probability of {name}"]) >= 0.4]
        assert [text.partition(":")[0] for text in row["why"].split(" | ") if text] == over
