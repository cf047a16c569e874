"""The commands that say how far to trust a model and its table: report, audit, predict --why."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV file with three labels that follow from the features, but for one cell."""
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    Y = (X[:, :3] > 0).astype(int)
    sure = int(np.abs(X[:, 1]).argmax())
    Y[sure, 1] = 1 - Y[sure, 1]
    path = tmp_path_factory.mktemp("table") / "songs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tempo", "energy", "length", "noise", "mood:a", "mood:b", "mood:c"])
        writer.writerows([*x, *y] for x, y in zip(X.tolist(), Y.tolist(), strict=True))
    return path, sure


@pytest.fixture
def model(table, command, tmp_path):
    path = tmp_path / "model.skops"
    code, _, err = command("train", table[0], "--label-prefix", "mood:", "-o", path)
    assert code == 0, err
    return path


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_predict_tells_why(model, table, command, tmp_path):
    out = tmp_path / "out.csv"
    code, _, err = command("predict", model, table[0], "--why", "2", "-o", out)
    assert code == 0, err
    lines = read(out)
    assert list(lines[0])[-1] == "why"
    for line in lines[:40]:
        told = [text.split(": ")[0] for text in line["why"].split(" | ") if text]
        assert told == [name for name in ("mood:a", "mood:b", "mood:c") if line[name] == "1"]
    reasons = " ".join(line["why"] for line in lines)
    assert "tempo = " in reasons or "training row" in reasons
    code, _, _ = command("predict", model, table[0], "-o", out)
    assert "why" not in read(out)[0]
    code, _, err = command("predict", model, table[0], "--why", "-1", "-o", out)
    assert code == 2
    assert "--why must be a number of reasons, 0 or more, got -1" in err


def test_report_has_a_page_with_and_without_test_data(model, table, command, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = command("report", model, table[0], "-o", page, "--json")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["rows"] == 150
    assert facts["micro-F1"] > 0.9
    assert "labelcover report" in page.read_text(encoding="utf-8")
    code, out, err = command("report", model, "-o", page, "--json")
    assert code == 0, err
    assert json.loads(out)["predicted"] == "rows left out of training"


def test_report_without_left_out_rows_asks_for_test_data(table, command, tmp_path):
    path, page = tmp_path / "rakel.skops", tmp_path / "page.html"
    command(
        "train", table[0], "--label-prefix", "mood:", "--method", "RAKEL", "-k", "2", "-o", path
    )
    code, _, err = command("report", path, "-o", page)
    assert code == 2
    assert "keeps no predictions for rows left out" in err
    assert not page.exists()


def test_audit_finds_the_wrong_cell(table, command, tmp_path):
    path, wrong_row = table
    out, page = tmp_path / "suspects.csv", tmp_path / "suspects.html"
    words = ("audit", path, "--label-prefix", "mood:", "-o", out, "--page", page)
    code, printed, err = command(*words, "--json")
    assert code == 0, err
    suspects = read(out)
    assert list(suspects[0]) == ["row", "label", "kind", "suspicion", "features", "reason"]
    assert (int(suspects[0]["row"]), suspects[0]["label"]) == (wrong_row + 1, "mood:b")
    assert suspects[0]["reason"]
    numbers = [float(line["suspicion"]) for line in suspects]
    assert numbers == sorted(numbers, reverse=True)
    facts = json.loads(printed)
    assert facts["look wrong"] == facts["wrong"] + facts["missing"] == len(suspects) < 10
    low, high = facts["between"]
    assert low <= 1 <= high
    text = page.read_text(encoding="utf-8")
    assert "of 450 labels (150 rows × 3) look wrong" in text
    assert "energy = " in text
    assert f"row {wrong_row + 1}</span>" in text, "numbered from 1, as by predict"


def test_audit_says_how_many_labels_look_wrong_and_lists_more_if_asked(table, command, tmp_path):
    out = tmp_path / "suspects.csv"
    words = ("audit", table[0], "--label-prefix", "mood:", "-o", out)
    code, printed, _ = command(*words)
    assert code == 0
    assert "of 450 labels (150 rows × 3) look wrong or missing." in printed
    listed = len(read(out))
    assert command(*words, "--above", "0.02")[0] == 0
    assert len(read(out)) > listed
    assert min(float(line["suspicion"]) for line in read(out)) >= 0.02


def test_audit_of_text_shows_the_text_of_the_row(command, tmp_path):
    random = np.random.default_rng(1)
    about = {"print": "toner tray paper", "login": "password locked reset"}
    lines = ["key,message,tags"]
    for i in range(160):
        tag = list(about)[i % 2]
        words = [*random.permutation(about[tag].split())[:2], *random.permutation(list("abcdefgh"))]
        given = "login" if i in (20, 90) else tag
        lines.append(f"T-{i:04d},{' '.join(words)} please help,{given}")
    path, page = tmp_path / "tickets.csv", tmp_path / "page.html"
    path.write_text("\n".join(lines))
    words = ("audit", path, "--tags", "tags", "--text", "message", "--id", "key")
    code, _, err = command(*words, "-o", tmp_path / "s.csv", "--page", page)
    assert code == 0, err
    assert {line["name"] for line in read(tmp_path / "s.csv")} == {"T-0020", "T-0090"}
    text = page.read_text(encoding="utf-8")
    assert lines[21].split(",")[1] in text
    assert lines[91].split(",")[1] in text


def test_a_folder_that_is_not_there_is_named_before_the_work(table, command, tmp_path):
    words = ("audit", table[0], "--label-prefix", "mood:", "-o", tmp_path / "no" / "s.csv")
    code, _, err = command(*words)
    assert code == 2
    assert "--output must lie in a folder that exists" in err


def test_wrong_options_of_an_audit_are_named_before_the_work(table, command, tmp_path):
    words = ["audit", table[0], "--label-prefix", "mood:", "-o", tmp_path / "s.csv"]
    for more, said in [
        (["--above", "7"], "--above must be a number at least 0 and at most 1, got 7.0"),
        (["--above", "nan"], "--above must be a number at least 0 and at most 1, got nan"),
        (["--page", tmp_path / "s.csv"], "--page must end in .html or .htm"),
        (["-o", tmp_path / "s", "--page", tmp_path / "s"], "--page must be another file than --o"),
        (["--page", table[0]], "--page must be another file than what is read"),
        (["--page", tmp_path], "--page must be a file, got the folder"),
    ]:
        code, _, errors = command(*words, *more)
        assert code == 2
        assert said in errors
        assert not (tmp_path / "s.csv").exists()


def test_report_takes_how_a_file_is_written(model, table, command, tmp_path):
    path, page = tmp_path / "other.csv", tmp_path / "page.html"
    path.write_text(table[0].read_text().replace(",", "&"))
    assert command("report", model, path, "-o", page)[0] == 2
    code, _, errors = command("report", model, path, "--delimiter", "&", "-o", page)
    assert code == 0, errors
    assert page.exists()
