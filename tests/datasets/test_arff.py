"""ARFF files are read as WEKA, MULAN and MEKA mean them."""

import arff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelcover.datasets import DataError, read_arff

HEADER = """% a comment
@relation 'Toy: -C 2 -split-number 2' % a remark

@attribute rain {0,1}
@attribute 'cold \\'wind\\' ' {1,0}
@ATTRIBUTE\theight\tNUMERIC
@attribute sky {clear, 'half clear', cloudy}
@data
"""


def write(folder, text, name="toy.arff"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def labels_xml(*names):
    inside = "\n".join(f'<label name="{name}"></label>' for name in names)
    return f'<?xml version="1.0"?>\n<labels xmlns="x">\n{inside}\n</labels>\n'


def test_meka_labels_come_first_and_split_is_kept(tmp_path):
    path = write(
        tmp_path, HEADER + "1,1,2.5,clear\n% note\n\n0,0,?,'half clear'\n0,1,-1e3,cloudy\n"
    )
    dataset = read_arff(path)
    assert dataset.label_names == ["rain", "cold \\'wind\\' "]
    assert dataset.Y.tolist() == [[1, 1], [0, 0], [0, 1]]
    np.testing.assert_array_equal(dataset.X, [[2.5, 0], [np.nan, 1], [-1000, 2]])
    assert dataset.feature_names == ["height", "sky"]
    assert dataset.categorical.tolist() == [False, True]
    assert dataset.categories == {"sky": ("clear", "half clear", "cloudy")}
    assert dataset.train_rows.tolist() == [0, 1]
    assert dataset.test_rows.tolist() == [2]


def test_negative_label_count_means_the_last_attributes(tmp_path):
    text = "@relation 'x: -C -1'\n@attribute a numeric\n@attribute l {0,1}\n@data\n3,1\n4,0\n"
    dataset = read_arff(write(tmp_path, text))
    assert dataset.label_names == ["l"]
    assert dataset.X.tolist() == [[3], [4]]


def test_cells_that_a_sparse_file_leaves_out_are_zero_or_the_first_value(tmp_path):
    rows = "{}\n{0 1, 1 0}\n{1 0,2 -7.5,3 cloudy}\n{3 'half clear'}\n"
    dataset = read_arff(write(tmp_path, HEADER + rows))
    assert dataset.Y.tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    assert X.tolist() == [[0, 0], [0, 0], [-7.5, 2], [0, 1]]


def test_label_file_beside_decides_which_labels_and_their_order(tmp_path):
    rows = "1,0,2,clear\n"
    write(tmp_path, labels_xml("cold 'wind' ", "rain"), "toy.xml")
    dataset = read_arff(write(tmp_path, HEADER.replace("-split-number 2", "") + rows))
    assert dataset.label_names == ["cold 'wind' ", "rain"]
    assert dataset.Y.tolist() == [[0, 1]]


def test_names_with_backslashes_are_found_as_in_delicious(shared_data):
    dataset = read_arff(shared_data / "delicious" / "delicious-test.arff")
    assert {r"TAG_dise\~no", r"TAG_m\'usica", "TAG_???"} <= set(dataset.label_names)
    assert len(dataset.label_names) == 983


@pytest.mark.parametrize("sparse_rows", [False, True])
@given(table=arrays(np.float64, (4, 3), elements=st.floats(-1e6, 1e6)), data=st.data())
def test_rows_are_read_as_liac_arff_reads_them(tmp_path_factory, sparse_rows, table, data):
    bits = data.draw(arrays(np.uint8, (4, 1), elements=st.integers(0, 1)))
    attributes = [(f"a{j}", "REAL") for j in range(3)] + [("l", ["0", "1"])]
    rows = [[*map(float, x), str(b[0])] for x, b in zip(table, bits, strict=True)]
    if sparse_rows:
        rows = [{j: v for j, v in enumerate(row) if v not in (0, "0")} for row in rows]
    text = arff.dumps({"relation": "r", "attributes": attributes, "data": rows})
    path = write(tmp_path_factory.mktemp("liac"), text)
    dataset = read_arff(path, labels=["l"])
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    np.testing.assert_array_equal(X, table + 0.0)
    np.testing.assert_array_equal(dataset.Y, bits)


def test_attributes_can_be_dropped_or_picked_in_order(tmp_path):
    path = write(tmp_path, HEADER + "1,1,2.5,clear\n0,1,3,cloudy\n0,0,4,clear\n")
    assert read_arff(path, drop=["height"]).feature_names == ["sky"]
    picked = read_arff(path, labels=[], features=["sky", "height"])
    assert picked.X.tolist() == [[0, 2.5], [2, 3], [0, 4]]
    assert picked.Y.shape == (3, 0)


def test_text_attributes_must_be_dropped(tmp_path):
    text = (
        "@relation 'r: -C 1'\n@attribute l {0,1}\n@attribute t string\n@attribute x real\n@data\n"
    )
    path = write(tmp_path, text + "1,'so, so',3\n0,no,4\n")
    with pytest.raises(DataError, match=r"toy.arff:3: attribute 't' is text"):
        read_arff(path)
    assert read_arff(path, drop=["t"]).X.tolist() == [[3], [4]]


BAD = {
    "ends in the header": (HEADER[:60], r":\d: the file ends before @data"),
    "ends in a dense row": (HEADER + "1,1,2,clear\n0,1,2\n", r":10: 3 values, expected 4"),
    "ends in a sparse row": (HEADER + "{0 1}\n{0 1,2", r":10: the row does not end, expected '}'"),
    "sparse index out of range": (
        HEADER + "{0 1}\n{4 1}\n",
        r":10: index 4 is out of range, expected 0 to 3",
    ),
    "negative sparse index": (HEADER + "{-1 1}\n", ":9: index -1 is out of range"),
    "repeated sparse index": (HEADER + "{2 1,2 3}\n", ":9: an index is repeated"),
    "undeclared value": (
        HEADER + "1,1,2,green\n",
        ":9: attribute 'sky' holds 'green', expected one of clear, half clear, cloudy",
    ),
    "undeclared value in a sparse row": (
        HEADER + "{3 green}\n",
        ":9: attribute 'sky' holds 'green'",
    ),
    "undeclared value in quotes": (HEADER + "1,1,2,'dark green'\n", ":9: .*dark green.*expected"),
    "no pair in a sparse row": (HEADER + "{3}\n", ":9: not a sparse row, expected {index value"),
    "text for a number": (
        HEADER + "1,1,tall,clear\n",
        ":9: attribute 'height' holds 'tall', expected a number",
    ),
    "no rows": (HEADER, ":8: no row follows @data"),
    "mixed rows": (HEADER + "1,1,2,clear\n{0 1}\n", ":10: dense and sparse rows are mixed"),
    "not ARFF": ("hello\nworld\n@data\n", ":1: no @relation"),
    "duplicate attribute": (
        "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
        ":3: .*a",
    ),
    "label is no bit": (HEADER.replace("rain {0,1}", "rain real") + "2,1,1,clear\n", ":9: .*is 2"),
    "label missing": (
        HEADER + "?,1,1,clear\n",
        ": 50% of the label cells are empty",
    ),
    "labels not said": (
        HEADER.replace("-C 2", "") + "1,1,1,clear\n",
        ": does not say which attributes are lab",
    ),
    "too many labels": (HEADER.replace("-C 2", "-C 4") + "1,1,1,clear\n", ": 4 labels, expected"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_file_line_and_what_was_expected(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(DataError, match=r"toy.arff" + message) as caught:
        read_arff(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "toy.arff"
    path.write_bytes(b"@relation x\n\x00\x01\x02")
    with pytest.raises(DataError, match=r"toy.arff:2: not a text file, expected ARFF"):
        read_arff(path)


BOMB = """<?xml version="1.0"?>
<!DOCTYPE labels [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<labels><label name="&b;"></label></labels>
"""

BAD_XML = {
    "label missing from the ARFF file": (labels_xml("rain", "fog"), r":4: label 'fog' is not in"),
    "entity bomb": (BOMB, ": declares an XML entity"),
    "cut off": (labels_xml("rain")[:-12], r":\d: not XML"),
    "no labels": ("<labels></labels>", ": lists no label"),
    "repeated label": (labels_xml("rain", "rain"), ":4: label 'rain' is already on line 3"),
}


@pytest.mark.parametrize("case", BAD_XML)
def test_a_bad_label_file_is_refused(tmp_path, case):
    text, message = BAD_XML[case]
    path = write(tmp_path, HEADER + "1,1,1,clear\n0,1,1,clear\n0,1,1,clear\n")
    with pytest.raises(DataError, match=r"toy.xml" + message):
        read_arff(path, write(tmp_path, text, "toy.xml"))
