"""The catalogue: what it must hold, and what happens to a damaged entry."""

import json
import runpy
import warnings
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from labelcover.covers import Cover, best_cover
from labelcover.covers import _catalogue as catalogue
from labelcover.covers._catalogue import (
    ALPHABET,
    DamagedEntry,
    catalogued_cover,
    cover_of,
    read_catalogue,
    read_entries,
)
from labelcover.covers.bounds import lower_bound

# The catalogue is written by a tool; the library only reads it.
TOOL = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "build_catalogue.py"))
entry_of, write_entries = (TOOL[x] for x in ("entry_of", "write_entries"))

# Rows the catalogue must not exceed, all with imbalance 1 at most.
PAIRS = {
    (6, 3): 6, (6, 4): 3, (14, 3): 33, (14, 4): 18, (14, 5): 12, (14, 6): 7, (14, 7): 6,
    (22, 3): 81, (22, 4): 39, (22, 5): 27, (22, 6): 19, (22, 7): 13, (23, 3): 85, (23, 4): 46,
    (23, 5): 28, (23, 6): 21, (23, 7): 16, (27, 3): 117, (27, 4): 62, (27, 5): 39, (27, 6): 27,
    (27, 7): 20, (45, 3): 330, (45, 4): 169, (45, 5): 99, (53, 3): 460, (53, 4): 239,
    (53, 5): 143, (101, 5): 505, (983, 6): 32_703,
}  # fmt: skip
TRIPLES = {
    (6, 4): 6, (14, 4): 91, (14, 5): 43, (14, 6): 25, (14, 7): 15, (22, 4): 385, (22, 5): 187,
    (22, 6): 77, (22, 7): 63, (23, 4): 466, (23, 5): 187, (23, 6): 104, (23, 7): 70,
}  # fmt: skip


def is_cover(rows, n_labels, r):
    covered = set()
    for row in rows.tolist():
        assert len(set(row)) == len(row)
        covered.update(combinations(sorted(row), r))
    return covered == set(combinations(range(n_labels), r))


@pytest.mark.parametrize(("key", "size"), PAIRS.items())
def test_pairs_of_the_papers_data_sets_are_covered(key, size):
    cover = catalogued_cover(*key, 2)
    assert len(cover) <= size
    assert is_cover(cover.labelsets, key[0], 2)
    counts = np.bincount(cover.labelsets.ravel(), minlength=key[0])
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("key", "size"), TRIPLES.items())
def test_triples_of_the_papers_data_sets_are_covered(key, size):
    cover = catalogued_cover(*key, 3)
    assert len(cover) <= size
    assert is_cover(cover.labelsets, key[0], 3)


def test_the_promised_ranges_are_held():
    keys = set(read_catalogue())
    assert {(m, k, 2) for m in range(3, 65) for k in range(3, min(m, 7) + 1)} <= keys
    assert {(m, k, 3) for m in range(4, 25) for k in range(4, min(m, 7) + 1)} <= keys


def test_every_entry_is_a_cover_of_its_size():
    for m, k, r in read_catalogue():
        cover = catalogued_cover(m, k, r)
        assert cover.lower_bound == lower_bound(m, k, r) <= len(cover)
        if m < 128:
            assert is_cover(cover.labelsets, m, r)


def test_more_labels_never_take_fewer_rows():
    keys = set(read_catalogue())
    for m, k, r in keys:
        if (m + 1, k, r) in keys:
            assert len(catalogued_cover(m, k, r)) <= len(catalogued_cover(m + 1, k, r))


def test_the_file_is_small():
    assert len((files("labelcover.covers") / catalogue.FILE).read_bytes()) < 300_000


def test_an_entry_comes_back_from_text():
    cover = Cover([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], 4, method="by hand", lower_bound=3)
    entries = {(4, 3, 2): entry_of(cover, 2)}
    again = read_entries(write_entries(entries))
    assert again == entries
    assert cover_of(again[4, 3, 2]) == cover


def test_91_labels_in_quadruples_leave_one_pair_covered_four_times():
    # What Mills' bound leaves: every pair once, but for one pair.
    rows = catalogued_cover(91, 4, 2).labelsets.tolist()
    pairs = [pair for row in rows for pair in combinations(row, 2)]
    times = np.unique(pairs, axis=0, return_counts=True)[1]
    assert sorted(times)[-2:] == [1, 4]


def damaged_entries():
    good = entry_of(catalogued_cover(14, 5, 2), 2)
    yield dict(good, rows=good["rows"][:-1])
    yield dict(good, rows=good["rows"][1:] + "0")
    for change in ({"size": good["size"] + 1}, {"imbalance": 9}, {"rows": "?" * 60}, {"m": 15}):
        yield {**good, **change}
    missing = [ALPHABET[x] for row in [[0, 1, 2, 3, 4]] * good["size"] for x in row]
    yield {**good, "rows": "".join(missing)}  # covers next to nothing


@pytest.mark.parametrize("entry", list(damaged_entries()))
def test_a_damaged_entry_is_refused_by_name(entry):
    with pytest.raises(DamagedEntry, match=r"catalogue entry \(1[45], 5, 2\) is damaged"):
        cover_of(entry)


def test_the_library_builds_what_the_catalogue_lost(monkeypatch):
    entry = json.loads(json.dumps(entry_of(catalogued_cover(14, 5, 2), 2)))
    entry["rows"] = "0" * len(entry["rows"])
    monkeypatch.setattr(catalogue, "read_catalogue", lambda: {(14, 5, 2): entry})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cover = best_cover(14, 5, effort=500_000, random_state=0)
    assert [str(w.message) for w in caught] == [
        "catalogue entry (14, 5, 2) is damaged: labelsets must not repeat a label in a row, got "
        "[0, 0, 0, 0, 0] in row 0. The cover is built instead."
    ]
    assert is_cover(cover.labelsets, 14, 2)
    assert len(cover) <= 13
