"""Names that break terminals, streams and file systems: shown, shortened, or refused beforehand."""

import io
import os
import sys

import pytest

from labelcover import RakelClassifier
from labelcover._files import replacing
from labelcover._safe_text import visible
from labelcover.cli import _outputs as outputs
from labelcover.datasets import Dataset, read_csv, read_table
from labelcover.models import fit_model, save_model

RED = "\x1b[31mred"
LONG = "n" * 250


def write_rows(path, *, columns=("a", "b"), labels=("is:x", "is:y")):
    rows = "".join(f"{i},{i * i % 7},{i % 2},{i % 3 // 2}\n" for i in range(30))
    path.write_text(",".join([*columns, *labels]) + "\n" + rows, encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path):
    dataset = read_csv(write_rows(tmp_path / "t.csv"), label_prefix="is:")
    path = tmp_path / "m.skops"
    save_model(fit_model(RakelClassifier(k=2, random_state=0), dataset), path)
    return path


def test_control_characters_of_names_are_shown_and_not_obeyed(tmp_path, command):
    table = write_rows(tmp_path / f"{RED}.csv", columns=(f"{RED} é", "b\x9b\u202e"))
    words = ["train", table, "--label-prefix", "is:", "--method", "BR", "-o"]
    code, printed, errors = command(*words, tmp_path / f"m{RED}.skops")
    assert code == 0, errors
    assert "\\x1b[31mred é" in printed
    assert "b\\x9b\\u202e" in printed
    assert f"m{visible(RED)}.skops" in printed
    code, _, errors = command("train", table, "--labels", RED, "-o", tmp_path / "m.skops")
    assert code == 2
    assert "\\x1b[31mred.csv: no column" in errors
    assert not {"\x1b", "\x9b", "\u202e"} & {*printed, *errors}


def test_tables_of_the_command_show_control_characters(capsys):
    outputs.console().print(f"{RED}\x07 [b]:smile:")
    assert capsys.readouterr().out == "\\x1b[31mred\\x07 [b]:smile:\n"


def test_output_never_fails_for_a_character_that_the_stream_cannot_encode(monkeypatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="cp1252", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    outputs.let_streams_encode_all()
    outputs.print_facts({"чай": "é …"}, as_json=False)
    stream.flush()
    assert written.getvalue().split() == [rb"\u0447\u0430\u0439", b"\xe9", b"\x85"]


@pytest.mark.parametrize("length", [200, 201, 255])
def test_a_name_as_long_as_can_be_is_written_and_its_leftovers_removed(tmp_path, length):
    path = tmp_path / ("n" * (length - 6) + ".skops")
    for text in ("one", "two"):
        with replacing(path) as temporary:
            assert temporary.suffix == ".skops"
            left = temporary.with_name(temporary.name[:-12] + "killed")
            left.write_text("half")
            temporary.write_text(text)
    assert path.read_text() == "two"
    assert {p.name for p in tmp_path.iterdir()} == {path.name, left.name}


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path, command):
    table = write_rows(tmp_path / "t.csv")
    code, _, errors = command("train", table, "-o", tmp_path / f"{LONG}.skops")
    assert code == 2
    assert "--output must have a name that can be written" in errors
    assert "File name too long" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="file names are text there")
def test_a_file_name_that_is_not_utf_8_goes_through(tmp_path, command, model):
    name = os.fsdecode(b"caf\xe9.csv")
    table = write_rows(tmp_path / name)
    assert read_table(table, label_prefix="is:").name == "caf\\udce9"
    page = tmp_path / os.fsdecode(b"\xe9.html")
    code, _, errors = command("report", model, table, "-o", page)
    assert code == 0, errors
    assert "caf\\udce9" in page.read_text(encoding="utf-8")
    out = tmp_path / os.fsdecode(b"\xe9")
    words = ["--label-prefix", "is:", "--methods", "BR", "--n-folds", "2", "-o", out]
    code, _, errors = command("compare", table, *words)
    assert code == 0, errors
    assert "caf\\udce9" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "t.csv", "-o", "x.pkl"], "--output must end in .skops, got x.pkl."),
        (["report", "m.skops", "-o", "x.pdf"], "--output must end in .html or .htm, got x.pdf."),
        (["audit", "t.csv", "-o", "x.xlsx"], "--output must end in .csv, got x.xlsx."),
        (
            ["audit", "t.csv", "-o", "x.csv", "--page", "x.docx"],
            "--page must end in .html or .htm, got x.docx.",
        ),
    ],
)
def test_a_suffix_of_another_format_is_refused_before_the_work(
    tmp_path, monkeypatch, command, words, said
):
    monkeypatch.chdir(tmp_path)
    code, printed, errors = command(*words)
    assert (code, printed) == (2, "")
    assert said in errors


def test_a_data_set_has_a_name_that_can_be_written():
    dataset = Dataset(os.fsdecode(b"\xff"), None, None, [], [], None)
    assert dataset.name == "\\udcff"
