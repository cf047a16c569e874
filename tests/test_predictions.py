"""Predictions as files: the suffix decides what is written, and columns have names of their own."""

import csv
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from labelcover import RakelClassifier
from labelcover._safe_text import guarded, unguarded
from labelcover.datasets import read_table
from labelcover.datasets._raw_tables import read_raw, table_suffix, write_table
from labelcover.models import fit_model, save_model
from labelcover.predictions import write_predictions

N = 24
TAGS = ("=SUM(A1)", "@home", "+1 more", "-5", "probability of -5", "plain")


def write_tickets(path, names=TAGS, ids=True):
    rows = {"hours": [i * 7 % 11 / 2 for i in range(N)]}
    if ids:
        rows = {"ticket": [f"-T{i}" for i in range(N)], **rows}
    tags = [
        [name for j, name in enumerate(names) if (i * i + i * j + j) % 11 < 5] for i in range(N)
    ]
    write_table(path, {**rows, "tags": [";".join(row) for row in tags]})
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predictions")
    dataset = read_table(write_tickets(folder / "t.csv"), tags="tags", separator=";")
    model = fit_model(RakelClassifier(k=2, random_state=0), dataset)
    save_model(model, folder / "m.skops")
    return model, dataset, folder


def columns_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def test_a_label_called_as_a_probability_gives_two_columns_of_two_names(trained, tmp_path):
    model, dataset, _ = trained
    write_predictions(model, dataset, tmp_path / "p.csv")
    names = columns_of(tmp_path / "p.csv")
    assert len(set(names)) == len(names) == 2 + 2 * len(TAGS)
    assert "probability of -5" in names
    assert "probability of -5 (probability)" in names


def test_a_file_written_here_trains_the_same_model(trained, tmp_path):
    _, dataset, folder = trained
    assert dataset.label_names == sorted(TAGS)
    assert dataset.ids[1] == "-T1"
    text = (folder / "t.csv").read_text()
    assert "'=SUM(A1)" in text
    assert "'-T1," in text
    write_table(tmp_path / "t.parquet", {"ticket": dataset.ids, "tags": ["=a", "'=a"] * 12})
    as_it_is = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert as_it_is["tags"][:2] == ["=a", "'=a"]


def test_names_of_columns_come_back_too(trained, tmp_path):
    model, dataset, _ = trained
    write_predictions(model, dataset, tmp_path / "p.csv")
    assert "'=SUM(A1)" in columns_of(tmp_path / "p.csv")
    labels = ["=SUM(A1)", "@home"]
    again = read_table(tmp_path / "p.csv", labels=labels)
    assert again.label_names == labels
    write_predictions(model, dataset, tmp_path / "raw.csv", raw=True)
    assert "=SUM(A1)" in columns_of(tmp_path / "raw.csv")


@given(st.text("'=@+-\t1.e,a ", max_size=8))
def test_what_was_guarded_is_read_back_whatever_it_was(cell):
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "@", "\t"))


@pytest.mark.parametrize("number", ["-5", "+3.25", "-1e-5", "-0,5", "+.5"])
def test_numbers_with_a_sign_are_left_alone(number):
    assert guarded(number) == number


@pytest.mark.parametrize(
    "suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".csv.gz", ".tsv.gz", ".jsonl.gz"]
)
def test_the_suffix_decides_what_is_written_and_reads_back_as_the_same(trained, tmp_path, suffix):
    model, dataset, _ = trained
    path = tmp_path / f"p{suffix}"
    write_predictions(model, dataset, path)
    starts = {"gz": b"\x1f\x8b", "parquet": b"PAR1", "jsonl": b"{", "ndjson": b"{"}
    assert path.read_bytes().startswith(starts.get(suffix.split(".")[-1], b"ticket"))
    if suffix == ".tsv":
        assert path.read_text().startswith("ticket\ttags\t")
    if suffix == ".jsonl.gz":
        assert json.loads(gzip.decompress(path.read_bytes()).splitlines()[0])["ticket"] == "-T0"
    again = read_table(path, labels=sorted(TAGS), drop=["tags"])
    assert np.array_equal(again.Y, model.predict(dataset.rows))
    assert again.ids == dataset.ids


def test_without_a_suffix_the_format_of_the_input_is_kept():
    assert table_suffix("p", like="rows.JSONL") == ".jsonl"
    assert table_suffix("p", like="rows.arff") == ".csv"
    with pytest.raises(ValueError, match=r"must end in one of \.csv, .*\.parquet.*, got p\.xlsx"):
        table_suffix("p.xlsx")


def test_rows_without_a_name_are_numbered(trained, tmp_path):
    path = write_tickets(tmp_path / "t.csv", names=("row", "b"), ids=False)
    dataset = read_table(path, tags="tags")
    model = fit_model(RakelClassifier(k=2, random_state=0), dataset)
    write_predictions(model, dataset, tmp_path / "p.jsonl")
    first = json.loads((tmp_path / "p.jsonl").read_text().splitlines()[0])
    assert list(first)[:4] == ["row", "tags", "b", "row (label)"]
    assert first["row"] == 1


@pytest.mark.parametrize("name", ["p.xlsx", "p.pkl", "p.csv.zip", "p.v2"])
def test_other_suffixes_are_refused_before_any_work(trained, tmp_path, command, name):
    folder = trained[2]
    code, printed, errors = command("predict", "no-model", folder / "t.csv", "-o", tmp_path / name)
    assert (code, printed) == (2, "")
    assert "--output must end in one of .csv, .tsv," in errors
    assert not list(tmp_path.iterdir())


def test_the_command_writes_parquet_and_keeps_the_format_of_the_input(trained, tmp_path, command):
    folder = trained[2]
    rows = write_tickets(tmp_path / "t.parquet")
    for name in ("p.parquet", "without"):
        code, _, errors = command("predict", folder / "m.skops", rows, "-o", tmp_path / name)
        assert code == 0, errors
        assert parquet.read_table(tmp_path / name).column_names[:2] == ["ticket", "tags"]


def test_a_negative_number_of_reasons_is_refused_by_the_name_of_its_option(
    trained, tmp_path, command
):
    folder = trained[2]
    out = tmp_path / "p.csv"
    model, rows = folder / "m.skops", folder / "t.csv"
    code, _, errors = command("predict", model, rows, "-o", out, "--why", -1)
    assert code == 2
    assert "--why must be a number of reasons, 0 or more, got -1." in errors


@pytest.mark.parametrize("cell", ["a\rb", "\rz", "a\nb", "a\r\nb", 'a"b', "a,b"])
def test_a_cell_that_breaks_lines_is_written_as_one_cell(tmp_path, cell):
    path = tmp_path / "t.csv"
    write_table(path, {"id": [cell, "x"], "n": ["1", "2"]})
    read = read_raw(path, as_text=["id", "n"]).columns.to_pydict()
    assert read == {"id": [cell, "x"], "n": ["1", "2"]}
    assert path.read_bytes().endswith(b"\nx,2\n")


@pytest.fixture
def partly_tagged(tmp_path, command):
    """A model of weather tags, and a file in which some tags are set."""
    random = np.random.default_rng(0)
    wet = random.normal(size=300)
    tags = [
        "; ".join(["rain", "fog"] if w > 0.6 else ["sun"] if w < -0.2 else ["wind"])
        for w in wet + 0.5 * random.normal(size=300)
    ]
    lines = [f"{w:.3f},{tag}" for w, tag in zip(wet, tags, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["wet,tags", *lines]) + "\n")
    model = tmp_path / "m.skops"
    code, _, err = command("train", tmp_path / "t.csv", "--tags", "tags", "-o", model)
    assert code == 0, err
    return model, tmp_path


def test_tags_of_the_file_are_known_and_the_rest_is_predicted(partly_tagged, command):
    model, folder = partly_tagged
    (folder / "new.csv").write_text("wet,tags\n0.0,rain\n0.0,\n0.0,sun\n")
    out = folder / "p.csv"
    code, told, err = command("predict", model, folder / "new.csv", "--known", "-o", out)
    assert code == 0, err
    assert "known labels" in told
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["rain"] for row in rows] == ["1", rows[1]["rain"], "0"]
    assert float(rows[0]["probability of rain"]) == 1
    fog = [float(row["probability of fog"]) for row in rows]
    assert fog[0] > fog[1] > fog[2]


def test_label_columns_of_the_file_may_be_partly_filled(partly_tagged, command):
    _, folder = partly_tagged
    lines = [f"{i % 7},{int(i % 7 > 3)},{int(i % 7 > 3)},{int(i % 5 > 3)}" for i in range(140)]
    (folder / "table.csv").write_text("\n".join(["wet,rain,fog,sun", *lines]))
    table = folder / "table.skops"
    code, _, err = command("train", folder / "table.csv", "--labels", "rain,fog,sun", "-o", table)
    assert code == 0, err
    (folder / "new.csv").write_text("wet,rain\n3,1\n3,\n3,0\n")
    out = folder / "p.csv"
    code, _, err = command("predict", table, folder / "new.csv", "--known", "--why", "1", "-o", out)
    assert code == 0, err
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [rows[0]["rain"], rows[2]["rain"]] == ["1", "0"]
    (folder / "new.csv").write_text("wet,rain\n3,2\n")
    code, _, err = command("predict", table, folder / "new.csv", "--known", "-o", out)
    assert code == 2
    assert "label 'rain' must be 0, 1 or empty, got 2" in err
    (folder / "new.csv").write_text("wet\n3\n")
    code, _, err = command("predict", table, folder / "new.csv", "--known", "-o", out)
    assert code == 2
    assert "no column is a label of the model" in err


def test_training_shows_what_labels_say_of_each_other(partly_tagged, command):
    _, folder = partly_tagged
    out = folder / "again.skops"
    arguments = ("train", folder / "t.csv", "--tags", "tags", "-o", out, "--show-links", "--json")
    code, told, err = command(*arguments)
    assert code == 0, err
    links = json.loads(told)["links"]
    assert set(links) == {"rain", "fog", "sun", "wind"}
    assert links["fog"]["rain"] > 0 > links["fog"]["sun"]
    page = folder / "page.html"
    code, _, err = command("report", out, "-o", page)
    assert code == 0, err
    assert "What does a known label say of the others?" in page.read_text()
