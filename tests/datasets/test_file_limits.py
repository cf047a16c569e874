"""Files that are long, which is fine, and files that would take too much memory or time."""

import gzip
import os

import pytest

from labelcover.datasets import DataError, read, read_table
from labelcover.datasets._raw_tables import read_raw

TEXT = "a,b,tags\n1,x y,p;q\n2,y z,q\n3,z x,p\n4,x x,p;q\n"


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_rows_and_names_may_be_longer_than_a_megabyte(tmp_path):
    names = ",".join(f"{'x' * 2000}{j}" for j in range(800))
    path = write(tmp_path, names + "\n" + ",".join(["1"] * 800) + "\n")
    assert len(read_raw(path)) == 1
    rows = ["1;x"] * 300_000 + ["2;" + "y" * 5_000_000, "3;z"]
    table = read_raw(write(tmp_path, "a;b\n" + "\n".join(rows)))
    assert len(table.columns.column("b")[300_000].as_py()) == 5_000_000
    lines = ['{"a": "x"}', '{"a": "' + "y" * 3_000_000 + '"}', '{"a": "z"}']
    table = read_raw(write(tmp_path, "\n".join(lines), "t.jsonl"))
    assert len(table.columns.column("a")[1].as_py()) == 3_000_000


LARGE = {
    "nested.jsonl": (
        b'{"a": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
        "nested.jsonl:1: values nested 100001 deep, expected at most 100",
    ),
    "hidden.jsonl": (
        b'{"a": ' + b'["]",' * 200 + b"1" + b"]" * 200 + b"}",
        "hidden.jsonl:1: values nested 201 deep",
    ),
    "keys.jsonl": (
        b"\n".join(b'{"k%d": 1}' % i for i in range(20_000)),
        "a table of 19999 lines and 19999 keys would take 6.4 GB",
    ),
    "escaped-keys.jsonl": (
        b"\n".join(b'{"\\u006b%d": 1}' % i for i in range(20_000)),
        "a table of 19999 lines and 19999 keys would take 6.4 GB",
    ),
    "rows.csv.gz": (
        gzip.compress(b"a,tags\n" + b"1,p\n" * 3_000_000, 1),
        "the tags of 3000000 rows would take 192 MB",
    ),
    "list.jsonl.gz": (
        gzip.compress(b'{"a": 1, "tags": ["p"' + b',"p"' * 3_000_000 + b"]}\n", 1),
        "the tags of 1 rows would take 192 MB",
    ),
    "breaks.csv": (b"a,b\n" + b"\n" * 3_000_000 + b"1,2\n", "a megabyte of blank lines in a row"),
    "breaks.svm": (b"1 1:1\n" + b"\n" * 3_000_000, "a megabyte of blank lines in a row"),
    "values.csv": (
        b",".join(b"c%d" % j for j in range(30))
        + b",tags\n"
        + b"".join(
            b"v%d," % (i % 999) * 30 + b"p;q\np"[: 3 - i % 2 * 2] + b"\n" for i in range(3000)
        ),
        "a table of 3000 rows and 29970 features would take 719 MB",
    ),
    "tags.csv": (
        b"a,tags\n" + b"".join(b"1,t%d\n" % (i // 2) for i in range(60_000)),
        "a table of 60000 rows and 30000 tags would take 1.8 GB",
    ),
}


@pytest.mark.filterwarnings("ignore:.*tag")
@pytest.mark.parametrize("name", LARGE)
def test_what_would_take_too_much_is_refused_with_a_sentence(tmp_path, name):
    content, message = LARGE[name]
    path = write(tmp_path, content, name)
    with pytest.raises(DataError, match=message):
        read(path) if name.endswith(".svm") else read_table(path, tags="tags")


def test_the_bound_of_what_is_read_can_be_set(tmp_path, monkeypatch):
    path = write(tmp_path, gzip.compress(TEXT.encode() * 100), "t.csv.gz")
    monkeypatch.setenv("LABELCOVER_MAX_BYTES", "1000")
    with pytest.raises(DataError, match=r"what it unpacks to would take .*MAX_BYTES"):
        read_raw(path)
    monkeypatch.setenv("LABELCOVER_MAX_BYTES", "much")
    with pytest.raises(ValueError, match="LABELCOVER_MAX_BYTES must be a positive number of bytes"):
        read_raw(path)
    monkeypatch.setenv("LABELCOVER_MAX_BYTES", "1000000")
    assert len(read_raw(path)) > 400


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.svm", "t.arff", "t.csv.gz"])
def test_a_pipe_is_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="a named pipe, expected an ordinary file"):
        read(tmp_path / name)


def test_the_depth_of_a_very_long_line_takes_little_memory(tmp_path):
    tracemalloc = pytest.importorskip("tracemalloc")
    line = b'{"a": [["p"' + b',"p"' * 2_000_000 + b"]" + b',["[["]' * 200 + b"]}\n"
    tracemalloc.start()
    table = read_raw(write(tmp_path, line, "t.jsonl"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(table) == 1
    assert peak < 4 * len(line)
