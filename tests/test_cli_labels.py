"""Where the labels are, on the command line: names with commas, files of names, ranges, answers."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

from labelcover.cli._options import named_columns
from labelcover.models import load_model

TOWNS = ["Salem, Oregon", "Salem, Texas", "Dover, Texas", "Dover, Ohio", "Lima, Ohio", "Lima, Iowa"]


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "wide.csv"
    rows = [f"{i % 5},{i % 2},{i % 3 // 2},{(i + 1) % 2},{i % 4 // 3}" for i in range(24)]
    path.write_text('size,"Milk, whole",Eggs,is:wet,has:fog\n' + "\n".join(rows), encoding="utf-8")
    return path


def labels(command, path, *words):
    """Return the labels that a training finds."""
    out = path.with_suffix(".skops")
    code, printed, errors = command("train", path, *words, "--method", "BR", "-o", out, "--json")
    assert code == 0, errors
    return sorted(json.loads(printed)["reading"][0]["labels"]["counts"])


def test_label_names_hold_commas_are_repeated_or_lie_in_a_file(command_that_warns, wide):
    both = ["Eggs", "Milk, whole"]
    names = wide.with_name("names.txt")
    names.write_text("Milk, whole\n\nEggs\n", encoding="utf-8")
    assert labels(command_that_warns, wide, "--labels", "Milk, whole,Eggs") == both
    assert labels(command_that_warns, wide, "--labels", "Milk, whole", "--labels", "Eggs") == both
    assert labels(command_that_warns, wide, "--labels", f"@{names}") == both
    assert labels(command_that_warns, wide, "--label-range", "Milk, whole:Eggs") == both
    prefixes = ["--label-prefix", "is:", "--label-prefix", "has:", "--drop", "Milk, whole,Eggs"]
    assert labels(command_that_warns, wide, *prefixes) == ["has:fog", "is:wet"]


def test_a_name_that_is_a_column_as_a_whole_is_not_split():
    there = ["a", "b", "a, b", "@c"]
    assert named_columns(["a, b"], there) == ["a, b"]
    assert named_columns(["b,a, b,@c"], there) == ["b", "a, b", "@c"]
    assert named_columns(["@c", "d, e"], there) == ["@c", "d", "e"]


def test_a_file_of_names_that_is_not_there_is_named(command, wide):
    code, _, errors = command("train", wide, "--labels", "@none.txt", "-o", "m.skops")
    assert code == 2
    assert errors.startswith("labelcover: none.txt: ")


def test_errors_name_the_options_of_the_command(command, wide, tmp_path):
    code, _, errors = command("train", wide, "-o", tmp_path / "m.skops")
    assert code == 2
    assert all(o in errors for o in ("--tags", "--labels", "--label-prefix", "--label-range"))
    words = ["--tags", "size", "--label-range", "Eggs:is:wet"]
    code, _, errors = command("train", wide, *words, "-o", tmp_path / "m.skops")
    assert code == 2
    assert "--tags size is given and --labels, --label-prefix or --label-range too" in errors


def test_two_readings_stop_the_command_until_an_option_says_which(command_that_warns, tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("a,town\n" + "".join(f'{i % 5},"{t}"\n' for i, t in enumerate(TOWNS * 4)))
    model = tmp_path / "m.skops"
    code, _, errors = command_that_warns("train", path, "--tags", "town", "-o", model)
    assert code == 2
    assert "--separator , or --separator none" in errors
    assert "'Lima' + 'Ohio'" in errors
    assert "'Lima, Ohio'" in errors
    assert not model.exists()
    by = ["--tags", "town", "--separator"]
    assert labels(command_that_warns, path, *by, "none") == sorted(TOWNS)
    assert "Oregon" in labels(command_that_warns, path, *by, ",")
    assert labels(command_that_warns, path, *by, ", O", "--separator", "blank")[0] == "Dover"


def test_empty_labels_are_decided_by_an_option(command_that_warns, tmp_path):
    path = tmp_path / "t.csv"
    cells = ["rain", "", "", "wind", ""] * 4
    path.write_text("a,tags\n" + "".join(f"{i % 5},{cell}\n" for i, cell in enumerate(cells)))
    words = ["train", path, "--tags", "tags", "--method", "BR", "-o", tmp_path / "m.skops"]
    code, printed, errors = command_that_warns(*words)
    assert code == 0, errors
    assert "12 of 20 rows (60%) without tags" in printed
    assert "--empty skip" in printed
    code, printed, errors = command_that_warns(*words, "--empty", "skip")
    assert (code, errors) == (0, "")
    assert "12 of 20 rows (60%) without tags, left out" in printed
    code, _, errors = command_that_warns(*words, "--empty", "maybe")
    assert code == 2
    assert "--empty must be one of 'none', 'skip', 'unknown', got 'maybe'" in errors


@pytest.fixture
def partly(tmp_path):
    """A table with three labels, one of them empty in a quarter of the rows; and a whole one."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2)).round(3)
    rows = [f"{a},{b},{int(a > 0)},{int(a + b > 0)},{int(b > 0.5)}" for a, b in X]
    names = "a,b,is:one,is:six,is:two"
    (tmp_path / "whole.csv").write_text("\n".join([names, *rows]), encoding="utf-8")
    partly = [row if i % 4 else row[:-1] for i, row in enumerate(rows)]
    path = tmp_path / "partly.csv"
    path.write_text("\n".join([names, *partly]), encoding="utf-8")
    return path


ASKED = (
    "8% of the label cells are empty ('is:two' 25%): say whether nobody looked, --empty unknown, "
    "or they mean 0, --empty none."
)


@pytest.mark.parametrize("name", ["train", "audit", "compare", "plan"])
def test_empty_label_cells_stop_a_command_until_it_is_said_what_they_mean(command, partly, name):
    words = [name, partly, "--label-prefix", "is:"]
    out = {"audit": "s.csv", "train": "m.skops", "compare": "folder"}.get(name)
    words += [] if out is None else ["-o", partly.with_name(out)]
    code, printed, errors = command(*words)
    assert (code, printed) == (2, "")
    assert errors == f"labelcover: {partly}: {ASKED}\n"


def test_evaluate_and_report_ask_what_empty_labels_mean_too(command, partly):
    model, page = partly.with_name("m.skops"), partly.with_name("page.html")
    whole = partly.with_name("whole.csv")
    words = ["--label-prefix", "is:", "--method", "BR", "-o", model]
    assert command("train", whole, *words)[0] == 0
    for words in (["evaluate", model, partly], ["report", model, partly, "-o", page]):
        code, _, errors = command(*words)
        assert code == 2
        assert ASKED in errors
        assert command(*words, "--empty", "unknown")[0] == 0
    _, printed, _ = command("evaluate", model, partly, "--empty", "unknown", "--json")
    found = json.loads(printed)
    assert found["known"] == 220
    assert {line["label"][3:]: line["known"] for line in found["labels"]} == {
        "one": 80,
        "six": 80,
        "two": 60,
    }
    _, printed, _ = command("evaluate", model, partly, "--empty", "unknown")
    assert "8% of the labels of these rows are not known" in printed
    assert " of 60 " in printed
    code, _, errors = command("evaluate", model, partly, "--empty", "maybe")
    assert code == 2
    assert "--empty must be one of" in errors


def completed(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_unknown_labels_are_filled_in_by_probability(command, partly):
    out = partly.with_name("filled.csv")
    words = ["complete", partly, "--label-prefix", "is:", "--empty", "unknown", "-o", out]
    code, printed, errors = command(*words)
    assert code == 0, errors
    assert "8% of the labels are not known" in printed
    assert re.search(r"filled in +20\n", printed)
    rows, given, truth = (completed(path) for path in (out, partly, partly.with_name("whole.csv")))
    assert list(rows[0]) == ["row", "is:one", "is:six", "is:two"]
    right = 0
    for i, (row, was, true) in enumerate(zip(rows, given, truth, strict=True)):
        assert row["row"] == str(i + 1)
        assert row["is:one"] == was["is:one"]
        if was["is:two"]:
            assert row["is:two"] == was["is:two"]
        else:
            assert re.fullmatch(r"0\.\d{1,4}", row["is:two"])
            right += (float(row["is:two"]) > 0.5) == (true["is:two"] == "1")
    assert right >= 17
    _, _, _ = command(*words, "--threshold", "0.5")
    assert {row["is:two"] for row in completed(out)} == {"0", "1"}
    again = partly.with_name("filled.jsonl")
    assert command(*words[:-1], again, "--json")[0] == 0
    lines = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
    assert [str(line["is:one"]) for line in lines] == [row["is:one"] for row in rows]
    assert [str(line["is:two"]) for line in lines] == [row["is:two"] for row in rows]


def test_nothing_unknown_is_nothing_to_complete(command, partly):
    words = ["--label-prefix", "is:", "-o", partly.with_name("filled.csv")]
    code, _, errors = command("complete", partly.with_name("whole.csv"), *words)
    assert code == 2
    assert "whole: all labels are known, so there is nothing to complete" in errors
    assert "--empty unknown takes empty cells as not known" in errors
    code, _, errors = command("complete", partly, *words)
    assert code == 2
    assert ASKED in errors


def test_rows_without_tags_are_completed_and_dropped_columns_stay_out(command, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "filled.parquet"
    random = np.random.default_rng(0)
    a = random.normal(size=60).round(3)
    tags = ["" if i % 5 == 0 else "warm" if x > 0 else "cold; wet" for i, x in enumerate(a)]
    rows = [f"k{i},{x},{tag},{tag}" for i, (x, tag) in enumerate(zip(a, tags, strict=True))]
    path.write_text("\n".join(["key,a,copy,tags", *rows]), encoding="utf-8")
    words = ["--tags", "tags", "--drop", "copy", "--id", "key", "--empty", "unknown"]
    code, _, errors = command("complete", path, *words, "-o", out)
    assert code == 0, errors
    frame = pd.read_parquet(out)
    assert list(frame) == ["key", "cold", "warm", "wet"]
    empty = np.array([not tag for tag in tags])
    assert ((frame["warm"][empty] > 0.5) == (a[empty] > 0)).mean() > 0.8
    assert set(frame["warm"][~empty]) == {0, 1}
    assert frame["warm"][empty].between(1e-4, 1 - 1e-4).all()


@pytest.mark.parametrize("name", ["train", "audit", "compare"])
def test_commands_work_with_unknown_labels(command_that_warns, partly, name):
    out = partly.with_name({"audit": "s.csv", "train": "m.skops", "compare": "folder"}[name])
    words = [name, partly, "--label-prefix", "is:", "--empty", "unknown", "-o", out]
    if name == "compare":
        words += ["--methods", "LabelCover,BR,BALANCOR", "--n-folds", "2", "--folds", "stratified"]
    code, printed, errors = command_that_warns(*words)
    assert (code, errors) == (0, ""), errors
    assert "8% of the labels are not known" in printed
    assert "failed" not in printed
    if name == "compare":
        assert "labels not known" in (out / "report.html").read_text(encoding="utf-8")
    if name == "train":
        model = load_model(out)
        assert model.frequencies_.n_rows.tolist() == [80, 80, 60]
        page = partly.with_name("page.html")
        assert command_that_warns("report", out, "-o", page)[0] == 0
        assert "8% of the labels of these rows are not known" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["train", "audit", "complete"])
def test_labels_that_are_never_known_are_warned_of_by_name_once(command_that_warns, partly, name):
    lines = partly.read_text(encoding="utf-8").splitlines()
    rows = [f"{line},{'is:new' if i == 0 else ''}" for i, line in enumerate(lines)]
    partly.write_text("\n".join(rows), encoding="utf-8")
    out = partly.with_name("m.skops" if name == "train" else "out.csv")
    words = [name, partly, "--label-prefix", "is:", "--empty", "unknown", "-o", out]
    code, printed, errors = command_that_warns(*words)
    assert code == 0, errors
    assert "labels that are known in no row: 'is:new'" in printed
    assert errors.count("warning") == 1
    assert "no known cell: they have the mean frequency of all labels: is:new." in errors
