"""Tables as people have them: one function per kind of mess, each writes a file and returns it.

All hold the same sixty tickets, whose tags follow from the words of the subject, the colour and
the hours, so that a model that reads the columns can learn them.
"""

import gzip
import json
from datetime import date, timedelta

import numpy as np

WORDS = {
    "hardware": ("printer", "screen", "mouse", "paper"),
    "account": ("password", "login", "reset", "user"),
    "urgent": ("now", "today", "fire", "please"),
}
N = 60


def tickets():
    """Return the rows: plain Python values by column."""
    random = np.random.default_rng(0)
    rows = []
    for i in range(N):
        tags = [tag for tag in WORDS if random.random() < 0.5] or ["account"]
        words = [str(random.choice(WORDS[tag])) for tag in tags for _ in range(3)]
        random.shuffle(words)
        rows.append(
            {
                "ticket": f"T-{i:04d}",
                "subject": " ".join(words),
                "colour": "red" if "urgent" in tags else str(random.choice(["blue", "green"])),
                "hours": round(float(random.normal(3 if "hardware" in tags else 1, 0.2)), 2),
                "opened": date(2023, 1, 1) + timedelta(days=int(random.integers(700))),
                "paid": bool(random.random() < 0.5),
                "tags": "; ".join(tags),
            }
        )
    return rows


def as_csv(rows, delimiter=","):
    names = list(rows[0])
    lines = [names, *([str(row[name]) for name in names] for row in rows)]
    return "".join(delimiter.join(line) + "\n" for line in lines)


def plain(folder):
    path = folder / "plain.csv"
    path.write_text(as_csv(tickets()))
    return path


def semicolons_and_decimal_commas(folder):
    rows = tickets()
    for row in rows:
        row["hours"] = str(row["hours"]).replace(".", ",")
        row["opened"] = row["opened"].strftime("%d.%m.%Y")
        row["tags"] = row["tags"].replace(";", "|")
    path = folder / "semicolons.csv"
    path.write_text(as_csv(rows, ";"))
    return path


def latin_1_in_gzip(folder):
    rows = tickets()
    for row in rows:
        row["subject"] += " grüße"
        row["größe"] = "groß" if row.pop("paid") else "klein"
    path = folder / "latin.csv.gz"
    path.write_bytes(gzip.compress(as_csv(rows).encode("latin-1")))
    return path


def utf_16_with_tabs(folder):
    path = folder / "excel.csv"
    path.write_bytes(as_csv(tickets(), "\t").encode("utf-16"))
    return path


def na_and_empty_cells(folder):
    rows = tickets()
    for i, row in enumerate(rows):
        row["hours"] = ("NA", "", "n/a", "?")[i % 4] if i % 3 == 0 else row["hours"]
        row["colour"] = "" if i % 5 == 0 else row["colour"]
        row["opened"] = "" if i % 7 == 0 else row["opened"]
        row["paid"] = "" if i % 6 == 0 else ("yes" if row["paid"] else "no")
        row["tags"] = "" if i % 20 == 0 else row["tags"]
        row["nothing"] = ""
        row["same"] = "x"
    path = folder / "holes.csv"
    path.write_text("\ufeff" + as_csv(rows))
    return path


def parquet(folder):
    import pandas as pd

    frame = pd.DataFrame(tickets())
    frame["colour"] = frame["colour"].astype("category")
    frame["opened"] = pd.to_datetime(frame["opened"])
    frame["tags"] = [row.split("; ") for row in frame["tags"]]
    path = folder / "tickets.parquet"
    frame.to_parquet(path)
    return path


def json_lines(folder):
    rows = tickets()
    for i, row in enumerate(rows):
        row["opened"] = row["opened"].isoformat()
        row["tags"] = row["tags"].split("; ")
        if i % 4 == 0:
            del row["hours"]
        row["more"] = {"nested": [i]}
    path = folder / "tickets.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def spaces_and_repeats_in_tags(folder):
    rows = tickets()
    for row in rows:
        tags = row["tags"].split("; ")
        row["tags"] = '"' + " , ".join([*tags, tags[0], "", "very important"]) + ' "'
    path = folder / "repeats.csv"
    path.write_text(as_csv(rows))
    return path


def line_breaks_and_an_index(folder):
    rows = [{"": i, **row} for i, row in enumerate(tickets())]
    for row in rows:
        row["subject"] = '"' + row["subject"].replace(" ", "\n", 1) + ', and ""more"""'
    path = folder / "index.csv"
    path.write_text(as_csv(rows))
    return path


def unreadable_date_and_number(folder):
    rows = tickets()
    rows[3]["opened"] = "soon"
    rows[5]["hours"] = "a few"
    path = folder / "mistakes.csv"
    path.write_text(as_csv(rows))
    return path


def rare_tags(folder):
    rows = tickets()
    rows[7]["tags"] += "; unheard-of"
    path = folder / "rare.csv"
    path.write_text(as_csv(rows))
    return path


def one_tag_only(folder):
    rows = tickets()
    for row in rows:
        row["tags"] = "urgent" if "urgent" in row["tags"] else ""
    path = folder / "one.csv"
    path.write_text(as_csv(rows))
    return path


def all_together(folder):
    rows = tickets()
    for i, row in enumerate(rows):
        row["hours"] = "NA" if i % 9 == 0 else str(row["hours"]).replace(".", ",")
        row["opened"] = "" if i % 8 == 0 else row["opened"].strftime("%d/%m/%Y %H:%M")
        row["paid"] = "Yes" if row["paid"] else "No"
        row["größe"] = f"größer {i}" if i % 2 else ""
        row["tags"] = row["tags"].replace("; ", " | ") + " | "
    path = folder / "together.csv.gz"
    path.write_bytes(gzip.compress(as_csv(rows, ";").encode("cp1252")))
    return path


#: Each goes through train, predict and evaluate with no option but --tags.
MESSY = (
    plain,
    semicolons_and_decimal_commas,
    latin_1_in_gzip,
    utf_16_with_tabs,
    na_and_empty_cells,
    parquet,
    json_lines,
    spaces_and_repeats_in_tags,
    line_breaks_and_an_index,
    unreadable_date_and_number,
    rare_tags,
    one_tag_only,
    all_together,
)
