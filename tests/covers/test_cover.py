import json
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.covers import Cover

TABLE_4 = [[0, 1, 2], [0, 1, 3], [0, 2, 3]]
TABLE_1 = """
    100001110 010110110 101001010 110010000 010110110 101001000 010111100 111011110
"""
# The file of Table 4 as it was written before labelsets could differ in size.
VERSION_1 = """{
 "format": "labelcover-cover",
 "version": 1,
 "n_labels": 4,
 "k": 3,
 "size": 3,
 "method": "inlac",
 "lower_bound": null,
 "checksum": "sha256:5a70595833593d43ac4d52f7158ee919ba169407392f8a350629410f9dee5618",
 "labelsets": [
  [0, 1, 2],
  [0, 1, 3],
  [0, 2, 3]
 ]
}
"""
UNEQUAL = [[0, 1, 2], [4, 3], [5], [1, 3]]


@st.composite
def covers(draw):
    m = draw(st.integers(1, 9))
    least = draw(st.integers(1, m))
    most = draw(st.sampled_from([least, m]))
    labels = st.integers(0, m - 1)
    rows = draw(st.lists(st.sets(labels, min_size=least, max_size=most), min_size=1))
    return Cover([list(row) for row in rows], m)


@given(covers())
def test_coverage_and_uncovered_agree_with_plain_enumeration(cover):
    rows = [set(labels.tolist()) for labels in cover]
    for r in range(1, cover.n_labels + 1):
        everything = list(combinations(range(cover.n_labels), r))
        missing = [s for s in everything if not any(set(s) <= row for row in rows)]
        assert cover.uncovered(r).tolist() == [list(s) for s in missing]
        assert cover.coverage(r) == pytest.approx(1 - len(missing) / len(everything))


@given(covers(), st.randoms(use_true_random=False))
def test_permuting_changes_neither_coverage_nor_imbalance(cover, random):
    p = list(range(cover.n_labels))
    random.shuffle(p)
    permuted = cover.permute(p)
    assert permuted.imbalance == cover.imbalance
    assert [permuted.coverage(r) for r in range(1, cover.n_labels + 1)] == [
        cover.coverage(r) for r in range(1, cover.n_labels + 1)
    ]
    inverse = np.argsort(p)
    assert permuted.permute(inverse) == cover


@given(covers())
def test_a_cover_survives_its_file_its_matrix_and_a_pickle(tmp_path_factory, cover):
    path = tmp_path_factory.mktemp("covers") / "cover.json"
    cover.save(path)
    assert Cover.load(path) == cover
    assert Cover.from_matrix(cover.matrix()) == cover
    assert Cover.load(path).checksum == cover.checksum
    copy = pickle.loads(pickle.dumps(cover))
    assert copy == cover
    assert hash(copy) == hash(cover)


@given(covers(), st.data())
def test_some_labelsets_of_a_cover_are_a_cover(cover, data):
    rows = [labels.tolist() for labels in cover]
    chosen = data.draw(st.lists(st.integers(0, len(cover) - 1), min_size=1, unique=True))
    assert cover.take(chosen) == Cover([rows[i] for i in chosen], cover.n_labels)
    mask = np.isin(np.arange(len(cover)), chosen)
    assert cover.take(mask) == cover.take(sorted(chosen))


@given(covers())
def test_sizes_and_counts_are_those_of_the_matrix(cover):
    matrix = cover.matrix()
    assert cover.labelset_sizes.tolist() == matrix.sum(axis=1).tolist()
    assert cover.label_counts.tolist() == matrix.sum(axis=0).tolist()
    assert cover.k == cover.labelset_sizes.max() == cover.labelsets.shape[1]
    assert cover.has_one_size == (len(set(cover.labelset_sizes.tolist())) == 1)
    assert [labels.tolist() for labels in cover] == [np.flatnonzero(row).tolist() for row in matrix]


def test_table_1_is_a_cover():
    matrix = np.array([[int(bit) for bit in row] for row in TABLE_1.split()])
    cover = Cover.from_matrix(matrix)
    assert np.array_equal(cover.matrix(), matrix)
    assert (cover.n_labels, len(cover), cover.k) == (9, 8, 7)
    assert cover.labelset_sizes.tolist() == [4, 5, 4, 3, 5, 3, 5, 7]
    # "The sixth ensemble member is constructed based on the label subset {λ1, λ3, λ6}."
    assert (list(cover)[5] + 1).tolist() == [1, 3, 6]
    # "A zero sum indicates that the label is not covered by any of the subsets (λ9)."
    assert (np.flatnonzero(cover.label_counts == 0) + 1).tolist() == [9]
    # "None of the ensemble members cover both" λ1 and λ4.
    assert [1, 4] in (cover.uncovered(2) + 1).tolist()


def test_labelsets_of_different_sizes_are_one_table_filled_up():
    cover = Cover(UNEQUAL, 6)
    table = [[0, 1, 2], [3, 4, -1], [5, -1, -1], [1, 3, -1]]
    assert cover.labelsets.tolist() == table
    assert cover.labelset_sizes.tolist() == [3, 2, 1, 2]
    assert cover.k_text == "1 to 3"
    assert cover.label_counts.tolist() == [1, 2, 1, 2, 1, 1]
    assert cover != Cover([[0, 1, 2], [3, 4, 5]], 6)
    assert Cover(np.array(UNEQUAL, dtype=object), 6) == cover
    # What is left may have one size again.
    assert cover.take([1, 3]) == Cover([[3, 4], [1, 3]], 6)
    assert cover.take([1, 3]).labelsets.shape == (2, 2)


def test_files_and_checksums_of_one_size_stay_as_they_were(tmp_path):
    cover = Cover(TABLE_4, 4, method="inlac")
    cover.save(tmp_path / "cover.json")
    assert (tmp_path / "cover.json").read_text() == VERSION_1
    assert hash(cover) == hash((4, (3, 3), np.array(TABLE_4, dtype=np.int32).tobytes()))


def test_files_of_different_sizes_say_so_in_their_version(tmp_path):
    Cover(UNEQUAL, 6).save(tmp_path / "cover.json")
    document = json.loads((tmp_path / "cover.json").read_text())
    assert document["version"] == 2
    assert document["labelsets"] == [[0, 1, 2], [3, 4], [5], [1, 3]]


def test_large_covers_count_coverage_without_a_table(monkeypatch):
    cover = Cover([[0, 1, 2], [1, 2, 3], [7, 8, 9]], 10)
    by_table = [cover.coverage(r) for r in (1, 2, 3)]
    monkeypatch.setattr("labelcover.covers._cover.TABLE_LIMIT", 0)
    assert [cover.coverage(r) for r in (1, 2, 3)] == by_table
    with pytest.raises(ValueError, match="too many to list"):
        cover.uncovered(2)


def test_coverage_is_counted_in_a_table_where_that_is_small(monkeypatch):
    # The list of all labelsets that are covered would be many times as long.
    monkeypatch.setattr("labelcover.covers._cover.labelset_ranks", None)
    assert Cover([[0, 1, 2, 3]] * 1000, 5).coverage(3) == 0.4


def test_counts_and_imbalance_are_those_of_the_matrix():
    cover = Cover(TABLE_4, 4)
    assert cover.label_counts.tolist() == cover.matrix().sum(axis=0).tolist() == [3, 2, 2, 2]
    assert cover.imbalance == 1
    assert (cover.n_labels, cover.k, len(cover)) == (4, 3, 3)


def test_rows_keep_their_order_and_are_sorted_inside():
    assert Cover([[3, 1], [2, 0]], 4).labelsets.tolist() == [[1, 3], [0, 2]]


def test_a_cover_cannot_be_changed():
    cover = Cover(TABLE_4, 4)
    with pytest.raises(ValueError, match="read-only"):
        cover.labelsets[0, 0] = 1
    with pytest.raises(AttributeError):
        cover.n_labels = 5


def test_the_source_array_is_not_shared():
    rows = np.array(TABLE_4, dtype=np.int32)
    cover = Cover(rows, 4)
    rows[:] = 0
    assert cover.labelsets.tolist() == TABLE_4


def test_bound_and_method_are_shown_and_saved_but_not_compared(tmp_path):
    cover = Cover(TABLE_4, 4, method="inlac", lower_bound=3)
    assert cover == Cover(TABLE_4, 4)
    assert cover.gap == 0
    assert repr(cover) == (
        "Cover(n_labels=4, k=3, size=3, imbalance=1, method='inlac', lower_bound=3)"
    )
    cover.save(tmp_path / "c.json")
    loaded = Cover.load(tmp_path / "c.json")
    assert (loaded.method, loaded.lower_bound) == ("inlac", 3)
    assert Cover(TABLE_4, 4).gap is None


@pytest.mark.parametrize(
    ("labelsets", "n_labels", "message"),
    [
        ([[0, 4]], 4, "between 0 and 3, got 4 in row 0"),
        ([[0, 1], [-1, 2]], 4, "got -1 in row 1"),
        ([[0, 1], [2, 2]], 4, r"repeat a label in a row, got \[2, 2\] in row 1"),
        ([[0, 1], []], 4, r"at least one label in every row, got \[\] in row 1"),
        ([[0, 1], 2], 4, "at least one label in every row, got 2 in row 1"),
        ([[0, 1], [[2], [1, 0]]], 4, "at least one label in every row"),
        ([[0, 1], [-1]], 4, "between 0 and 3, got -1 in row 1"),
        ([[0, 1], [2, 3, -1]], 4, "between 0 and 3, got -1 in row 1"),
        ([[0, 1], [4]], 4, "between 0 and 3, got 4 in row 1"),
        ([[0, 1, 2], [2, 2]], 4, r"repeat a label in a row, got \[2, 2\] in row 1"),
        ([[0, 1], [2.0]], 4, "integers, got dtype float64"),
        ([[0, 1], [2, 1, 0]], 2, "between 0 and 1|at most n_labels=2"),
        ([], 4, "at least one row"),
        ([[0.0, 1.0]], 4, "integers, got dtype float64"),
        ([[0, 1, 0]], 2, "at most n_labels=2"),
        ([[0, 1]], 0, "n_labels must be an integer of at least 1, got 0"),
        ([[0, 1]], 2.5, "n_labels must be an integer of at least 1, got 2.5"),
        ([[0, 1]], True, "n_labels must be an integer"),
    ],
)
def test_invalid_covers_are_refused_with_a_reason(labelsets, n_labels, message):
    with pytest.raises(ValueError, match=message):
        Cover(labelsets, n_labels)


@pytest.mark.parametrize("p", [[0, 1, 2], [0, 1, 2, 2], [1, 2, 3, 4]])
def test_only_permutations_are_accepted(p):
    with pytest.raises(ValueError, match="permutation must hold each of"):
        Cover(TABLE_4, 4).permute(p)


@pytest.mark.parametrize("r", [0, 5, 1.5])
def test_an_impossible_order_is_refused(r):
    with pytest.raises(ValueError, match="r must be an integer between 1 and 4"):
        Cover(TABLE_4, 4).coverage(r)


def _edited(**changes):
    def edit(document):
        document.update(changes)
        return json.dumps(document)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: "{", "not a cover file, expected JSON"),
        (lambda d: "[1, 2]", "not a cover file"),
        (lambda d: json.dumps({"format": "something-else"}), "not a cover file"),
        (lambda d: json.dumps({k: v for k, v in d.items() if k != "labelsets"}), "missing"),
        (_edited(version=99), "version 99, expected 1 or 2"),
        (_edited(labelsets=[[0, 1, 3], [0, 1, 2], [0, 2, 3]]), "checksum"),
        (_edited(labelsets=[[0, 1, 9]]), "between 0 and 3"),
        (_edited(labelsets="abc"), "damaged cover file"),
        (_edited(labelsets=[[0, 1, 3], None]), "damaged cover file"),
        (_edited(labelsets=[[0, 1, 2], [0, 1], [0, 2, 3]]), "checksum"),
        (_edited(n_labels=5), "checksum"),
        (_edited(lower_bound="x"), "lower_bound must be an integer"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path, edit, message):
    path = tmp_path / "cover.json"
    Cover(TABLE_4, 4).save(path)
    path.write_text(edit(json.loads(path.read_text())))
    with pytest.raises(ValueError, match=message) as caught:
        Cover.load(path)
    assert str(path) in str(caught.value)


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "cover.json"
    path.write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(ValueError, match="not a cover file"):
        Cover.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "cover.json"
    Cover(TABLE_4, 4).save(path)
    before = path.read_bytes()

    def full_disk(*_args, **_kwargs):
        raise OSError("no space left")

    monkeypatch.setattr("pathlib.Path.write_text", full_disk)
    with pytest.raises(OSError, match="no space"):
        Cover([[0, 1]], 2).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_matrices_that_are_no_cover_are_refused():
    with pytest.raises(ValueError, match=r"a one in every row.* row 1 holds none"):
        Cover.from_matrix([[1, 0], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match="zeros and ones"):
        Cover.from_matrix([[0, 2], [1, 1]])


def test_the_picture_shows_matrix_and_frequencies():
    names = ["sun", "sea", "sky", "sand"]
    figure = Cover(TABLE_4, 4).plot(names)
    matrix, frequencies = figure.axes
    assert np.array_equal(matrix.images[0].get_array(), Cover(TABLE_4, 4).matrix())
    assert [bar.get_height() for bar in frequencies.patches] == [3, 2, 2, 2]
    assert [tick.get_text() for tick in frequencies.get_xticklabels()] == names
    with pytest.raises(ValueError, match="label_names must hold 4 names, got 1"):
        Cover(TABLE_4, 4).plot(["sun"])


def test_the_picture_of_different_sizes_says_so():
    assert "4 labelsets of 1 to 3 of 6 labels" in Cover(UNEQUAL, 6).plot().axes[0].get_title()


def test_the_picture_of_many_labelsets_shows_all_of_them():
    labelsets = [(a, b) for a in range(60) for b in range(a + 1, 60)]
    shown = Cover(labelsets, 60).plot().axes[0].images[0].get_array()
    assert len(shown) == 400
    np.testing.assert_allclose(shown.sum() * len(labelsets) / 400, 2 * len(labelsets), rtol=0.02)
    assert (shown.sum(axis=0) > 0).all()
