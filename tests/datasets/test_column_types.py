"""Columns of every type that a file can have, named for everything: an answer, or a clear error."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from labelcover import RakelClassifier
from labelcover.datasets import DataError, read_table
from labelcover.models import fit_model
from labelcover.predictions import write_predictions

N = 30
DAYS = [datetime.date(2024, 1, 1 + i % 28) for i in range(N)]
COLUMNS = {
    "list": pa.array([[1, i] for i in range(N)]),
    "struct": pa.array([{"a": i} for i in range(N)]),
    "map": pa.array([[("a", i)] for i in range(N)], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"\xff\x00"] * N),
    "date": pa.array(DAYS),
    "moment": pa.array(DAYS).cast(pa.timestamp("ns", "UTC")),
    "clock": pa.array([datetime.time(i % 24, i) for i in range(N)]),
    "span": pa.array([datetime.timedelta(seconds=i * i) for i in range(N)]),
    "half": pa.array(np.linspace(2, 9, N).astype(np.float16)),
    "no number": pa.array(np.full(N, np.nan)),
    "empty": pa.nulls(N),
    "number": pa.array(np.linspace(0, 1, N)),
}
TAGS = pa.array([[("p", "q"), ("p",), ("q",)][i % 3] for i in range(N)])


def write(folder, name="t.parquet", **columns):
    path = folder / name
    parquet.write_table(pa.table(columns), path)
    return path


def test_a_column_that_nobody_named_is_read_or_left_out(tmp_path):
    read = read_table(write(tmp_path, **COLUMNS, tags=TAGS), tags="tags")
    kinds = {kind.name: (kind.kind, kind.why) for kind in read.encoder.kinds}
    for name in ("span", "half", "number", "clock"):
        assert kinds[name] == ("number", "")
        assert len(np.unique(read.X[:, read.feature_names.index(name)])) == N
    assert kinds["no number"] == kinds["empty"] == ("not used", "empty")
    for name in ("list", "struct", "map", "bytes"):
        assert kinds[name][0] == "not used"
        assert kinds[name][1].endswith("not plain values")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("kind", ["text", "category", "number", "date", "id", "labels", "tags"])
@pytest.mark.filterwarnings("ignore:.*(tag|is read as text)")
def test_whatever_a_column_is_named_for_is_read_or_refused(tmp_path, name, kind):
    path = write(tmp_path, **COLUMNS, other=COLUMNS["number"], tags=TAGS)
    named = {kind: name if kind in ("id", "tags") else [name]}
    if kind not in ("labels", "tags"):
        named["tags"] = "tags"
    try:
        assert read_table(path, **named).X.shape[0] == N
        return
    except DataError as refused:
        error = str(refused)
    assert error.startswith(f"{path}: ")
    assert repr(name) in error
    assert "expected" in error


@pytest.mark.parametrize("name", ["list", "struct", "bytes", "date", "moment"])
def test_new_cells_that_are_no_numbers_count_as_missing(tmp_path, name):
    other = np.linspace(5, 0, N) ** 2
    train = write(tmp_path, number=COLUMNS["number"], other=other, tags=TAGS)
    new = write(tmp_path, "new.parquet", number=COLUMNS[name], other=other)
    reading = read_table(train, tags="tags").reading
    with pytest.warns(UserWarning, match="'number' holds .* in row 1, expected a number; 30 such"):
        assert np.isfinite(reading.read(new, with_labels=False).X).all()


def test_new_cells_that_are_no_strings_are_refused(tmp_path):
    colour = pa.array(["red", "green", "blue"] * 10)
    row = pa.array([f"r{i}" for i in range(N)])
    reading = read_table(write(tmp_path, colour=colour, row=row, tags=TAGS), tags="tags").reading
    new = write(tmp_path, "new.parquet", colour=COLUMNS["list"])
    with pytest.raises(DataError, match=r"'colour' holds list<.*cannot be read as category"):
        reading.read(new, with_labels=False)
    new = write(tmp_path, "new.parquet", colour=colour, row=COLUMNS["struct"])
    with pytest.raises(DataError, match=r"'row' holds struct<.*cannot be read as id"):
        reading.read(new, with_labels=False)


def test_days_of_a_csv_file_are_no_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,day\n" + "".join(f"{i * i},{i % 2},{DAYS[i]}\n" for i in range(N)))
    message = r"t.csv:2: label 'day' is 2024-01-01, expected 0 or 1"
    with pytest.raises(DataError, match=message):
        read_table(path, labels=["b", "day"])


def test_spans_of_time_are_the_same_in_every_unit(tmp_path):
    spans = {unit: COLUMNS["span"].cast(pa.duration(unit)) for unit in ("us", "ns", "s")}
    read = [
        read_table(write(tmp_path, span=span, number=COLUMNS["number"], tags=TAGS), tags="tags").X
        for span in spans.values()
    ]
    assert np.array_equal(read[0], read[1])
    assert np.array_equal(read[0], read[2])


def test_bytes_that_are_text_may_be_tags(tmp_path):
    cells = pa.array([("p;q", "p", "q")[i % 3] for i in range(N)]).cast(pa.binary())
    path = write(tmp_path, number=COLUMNS["number"], tags=cells)
    assert read_table(path, tags="tags").label_names == ["p", "q"]


def test_times_as_programs_write_them_into_json_are_dates(tmp_path):
    path = tmp_path / "t.jsonl"
    times = [f"2024-03-0{1 + i % 9}T{i % 24:02d}:30:00.250" for i in range(N)]
    for zone, hours in (("Z", 0), ("", 0), ("+02:00", -2)):
        lines = [{"at": t + zone, "tags": ["pq"[i % 2], "r"]} for i, t in enumerate(times)]
        path.write_text("\n".join(map(json.dumps, lines)))
        with pytest.warns(UserWarning, match="1 tag in all 30 rows"):
            read = read_table(path, tags="tags")
        assert [kind.kind for kind in read.encoder.kinds] == ["date"]
        found = read.X[:, read.feature_names.index("at (hour)")]
        np.testing.assert_array_equal(found, (np.arange(N) % 24 + hours) % 24)


def test_lists_of_one_length_may_be_tags(tmp_path):
    cells = pa.array([["p", "qr"[i % 2]] for i in range(N)], pa.list_(pa.string(), 2))
    path = write(tmp_path, number=COLUMNS["number"], tags=cells)
    with pytest.warns(UserWarning, match="1 tag in all 30 rows"):
        assert read_table(path, tags="tags").label_names == ["p", "q", "r"]


def test_predicted_tags_are_separated_by_what_no_tag_holds(tmp_path):
    cells = pa.array([[["p;x", "q|r"], ["p;x"], ["q|r"]][i % 3] for i in range(N)])
    number = pa.array([float(i % 3) for i in range(N)])
    data = read_table(write(tmp_path, number=number, tags=cells), tags="tags")
    model = fit_model(RakelClassifier(k=2, random_state=0), data)
    write_predictions(model, data, tmp_path / "p.csv")
    assert read_table(tmp_path / "p.csv", tags="tags").label_names == ["p;x", "q|r"]
