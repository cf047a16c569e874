"""One table through every format gives the same model."""

import io
import sqlite3
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest

from labelcover.datasets import DataError, is_table, local_file, read_raw, read_table
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.models import fit_model

N = 40


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    words = ["printer", "password", "paper", "login", "screen"]
    return pd.DataFrame(
        {
            "subject": [" ".join([*random.choice(words, 3), f"nr{i}"]) for i in range(N)],
            "colour": random.choice(["red", "green"], N),
            "hours": [None if i % 5 == 0 else i / 4 for i in range(N)],
            "opened": [f"2024-{i % 12 + 1:02}-{i % 27 + 1:02}" for i in range(N)],
            "tags": [("hardware", "account; urgent", "urgent", "")[i % 4] for i in range(N)],
        }
    )


def write_sqlite(frame, folder):
    with sqlite3.connect(folder / "t.db") as database:
        frame.to_sql("tickets", database, index=False)
    database.close()
    return f"sqlite:///{folder / 't.db'}#tickets"


def write_query(frame, folder):
    return write_sqlite(frame, folder).replace("#tickets", "#select * from tickets where 1 = 1")


def write_excel(frame, folder):
    with pd.ExcelWriter(folder / "t.xlsx", engine="openpyxl") as book:
        pd.DataFrame({"nothing": [1]}).to_excel(book, sheet_name="first", index=False)
        frame.to_excel(book, sheet_name="tickets of May", index=False)
    return f"{folder / 't.xlsx'}#tickets of May"


def write_json(frame, folder):
    frame.to_json(folder / "t.json", orient="records")
    return folder / "t.json"


def write_lines(frame, folder):
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    return folder / "t.jsonl"


def write_parquet(frame, folder):
    frame.to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize(
    ("write", "needs"),
    [
        (write_sqlite, "sqlalchemy"),
        (write_query, "sqlalchemy"),
        (write_excel, "openpyxl"),
        (write_json, "json"),
        (write_lines, "json"),
        (write_parquet, "json"),
    ],
)
def test_every_format_gives_the_same_model(frame, tmp_path, write, needs):
    pytest.importorskip(needs)
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected, found = (
        fit_model(BinaryRelevanceClassifier(), read_table(path, tags="tags"))
        for path in (tmp_path / "t.csv", write(frame, tmp_path))
    )
    assert [(k.name, k.kind) for k in found.columns_] == [
        (k.name, k.kind) for k in expected.columns_
    ]
    np.testing.assert_array_equal(found.predict_proba(frame), expected.predict_proba(frame))


def test_what_is_no_table_is_a_sentence(frame, tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match=r"a.json: no list of objects, expected a JSON array"):
        read_raw(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("[{]")
    with pytest.raises(DataError, match=r"b.json: .*, expected a JSON array of objects"):
        read_raw(tmp_path / "b.json")
    (tmp_path / "c.json").write_text("[]")
    with pytest.raises(DataError, match=r"c.json: no row follows the names, expected at least"):
        read_raw(tmp_path / "c.json")
    assert is_table("postgresql://me:secret@there/db#tickets")


def test_a_sheet_or_a_table_that_is_not_there_is_named_without_the_password(frame, tmp_path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("sqlalchemy")
    book = write_excel(frame, tmp_path).replace("#tickets of May", "#June")
    with pytest.raises(DataError, match=r"t.xlsx#June: .*, expected a sheet of an Excel file"):
        read_raw(book)
    database = write_sqlite(frame, tmp_path)
    with pytest.raises(DataError, match=r"t.db#orders: .*, expected a table or a query"):
        read_raw(database.replace("#tickets", "#orders"))
    with pytest.raises(DataError, match=r"no 'orders' among tickets"):
        read_raw(database.replace("#tickets", "#orders"))
    with pytest.raises(DataError, match=r"none.db#tickets: no such file, expected a table"):
        read_raw(database.replace("t.db", "none.db"))
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(DataError, match=r"nowhere:///a#b: .*, expected a table or a query"):
        read_raw("nowhere:///a#b")
    with pytest.raises(DataError, match=r"t.db: no table, expected its name, or a query, after"):
        read_raw(database.replace("#tickets", ""))
    with pytest.raises(DataError, match=r"me:\*\*\*@"):
        read_raw("sqlite://me:secret@there/db")


def test_a_query_changes_nothing(frame, tmp_path):
    pytest.importorskip("sqlalchemy")
    database = write_sqlite(frame, tmp_path)
    for query in (
        "delete from tickets",
        "drop table tickets",
        "with a as (select 1) delete from tickets",
    ):
        with pytest.raises(DataError, match="expected a table or a query"):
            read_raw(database.replace("#tickets", f"#{query}"))
    assert len(read_raw(database)) == len(frame)


def test_a_book_that_unpacks_to_too_much_is_refused_before_it_is_read(frame, tmp_path):
    pytest.importorskip("openpyxl")
    path = write_excel(frame, tmp_path).partition("#")[0]
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet9.xml", bytes(200_000_000))
    with pytest.raises(DataError, match="what the archive unpacks to would take 200 MB"):
        read_raw(path)


def test_standard_input_is_read_for_what_it_is(frame, tmp_path, command, monkeypatch):
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.skops"
    words = ["--tags", "tags", "--method", "BR", "-o", model]
    assert command("train", tmp_path / "t.csv", *words)[0] == 0
    written = []
    for content in (frame.to_csv(index=False), frame.to_json(orient="records")):
        local_file.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        code, _, said = command("predict", model, "-", "-o", tmp_path / "p.csv")
        assert code == 0, said
        written.append((tmp_path / "p.csv").read_text())
    assert written[0] == written[1]
    local_file.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    code, _, said = command("predict", model, "-", "-o", tmp_path / "p.csv")
    assert (code, said) == (2, "labelcover: -: nothing came in, expected a table.\n")
    local_file.cache_clear()
