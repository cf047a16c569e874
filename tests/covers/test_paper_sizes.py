"""Which σ of the paper no cover can have: the errata of docs/paper-notes.md."""

import csv
from math import comb

from labelcover.covers.bounds import lower_bound

LABELS = {
    "emotions": 6, "scene": 6, "yeast": 14, "slashdot": 22, "ohsumed": 23, "genbase": 27,
    "medical": 45, "enron": 53, "mediamill": 101, "delicious": 983,
}  # fmt: skip


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_one_size_for_pairs_is_impossible(paper_tables):
    impossible = set()
    for name in ("table7_SMO.csv", "table8_J48.csv"):
        for row in rows_of(paper_tables / name):
            m, k, size = LABELS[row["dataset"].lower()], int(row["k"]), int(row["sigma"])
            if size < lower_bound(m, k, 2):
                impossible.add((m, k, size))
    for row in rows_of(paper_tables / "table10.csv"):
        m, k, size = LABELS[row["dataset"].lower()], int(row["k"]), int(row["sigma r=2"])
        assert size >= lower_bound(m, k, 2)
    assert impossible == {(983, 6, 12441)}


def test_eight_sizes_for_triples_are_impossible(paper_tables):
    impossible = set()
    for row in rows_of(paper_tables / "table10.csv"):
        m, k, size = LABELS[row["dataset"].lower()], int(row["k"]), int(row["sigma r=3"])
        assert size == comb(m, 3) // comb(k, 3) + 1
        if size < lower_bound(m, k, 3):
            impossible.add((m, k))
    assert impossible == {
        (14, 6), (14, 7), (22, 5), (22, 7), (23, 4), (23, 5), (23, 6), (23, 7)
    }  # fmt: skip
