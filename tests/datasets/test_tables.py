"""CSV, TSV, Parquet and LIBSVM files."""

import numpy as np
import pandas as pd
import pytest

from labelcover.datasets import DataError, read, read_csv, read_libsvm, read_parquet, read_table

TEXT = "height,width,is:rain,is:wind\n1.5,2,0,1\n,-3e2,1,1\n"


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("how", [{"labels": ["is:rain", "is:wind"]}, {"label_prefix": "is:"}])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_labels_are_named_or_share_a_prefix(tmp_path, kind, how):
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        frame = pd.read_csv(write(tmp_path, TEXT))
        frame["is:rain"] = frame["is:rain"].astype(bool)
        frame.to_parquet(path)
    else:
        path.write_text(TEXT if kind == "csv" else TEXT.replace(",", "\t"))
    dataset = read(path, **how)
    np.testing.assert_array_equal(dataset.X, [[1.5, 2], [np.nan, -300]])
    assert dataset.Y.tolist() == [[0, 1], [1, 1]]
    assert dataset.feature_names == ["height", "width"]
    assert dataset.label_names == ["is:rain", "is:wind"]


def test_order_of_named_labels_and_features_is_kept(tmp_path):
    path = write(tmp_path, TEXT)
    dataset = read_csv(path, ["is:wind", "is:rain"], features=["width", "height"])
    assert dataset.label_names == ["is:wind", "is:rain"]
    assert dataset.X[0].tolist() == [2, 1.5]
    assert read_csv(path, [], drop=["height"]).feature_names == ["width", "is:rain", "is:wind"]


BAD = {
    "text for a number": (TEXT + "tall,1,0,0\n", ":4: column 'height' holds 'tall', expected a n"),
    "duplicate column": ("a,a,l\n1,2,0\n", ":1: column 'a' is there twice, expected once"),
    "unnamed column": ("a,,l\n1,2,0\n", ":1: column 2 has no name"),
    "short row": (TEXT + "1,2,0\n", ":4: 3 cells, expected 4 as in line 1"),
    "label is no bit": (TEXT + "1,2,0,7\n", ":4: label 'is:wind' is 7, expected 0 or 1"),
    "label is empty": (TEXT + "1,2,,1\n", r": 17% of the label cells are empty \('is:rain' 33%\)"),
    "binary": (b"a,is:l\n1,\x00\n", ":2: not a text file"),
    "odd letters": (b"a,is:l\n\xff\xfe,1\n", ":2: column 'a' holds 'ÿþ', expected a number"),
    "no labels": ("a,b\n1,2\n", ": no column starts with 'is:'"),
    "no rows": ("a,is:l\n", ":1: no row follows the names"),
    "empty": ("", ":1: the file is empty"),
    "open quote": ('a,is:l\n"1,0\n', ":2: a quote in the row that begins here is never closed"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_csv_is_refused_with_line_and_what_was_expected(tmp_path, case):
    text, message = BAD[case]
    with pytest.raises(DataError, match=r"t.csv" + message) as caught:
        read_csv(write(tmp_path, text), label_prefix="is:")
    assert "\n" not in str(caught.value)


def test_a_bad_parquet_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"expected a Parquet file"):
        read_parquet(write(tmp_path, b"PAR1 nonsense", "t.parquet"), ["l"])
    path = tmp_path / "u.parquet"
    pd.DataFrame({"a": ["x", "y"], "l": [0, 1]}).to_parquet(path)
    with pytest.raises(DataError, match=r"column 'a' in row 1 holds 'x', expected a number"):
        read_parquet(path, ["l"])
    pd.DataFrame({"a": [1, 2], "l": [0, 3]}).to_parquet(path)
    with pytest.raises(DataError, match=r"label 'l' in row 2 is 3, expected 0 or 1"):
        read_parquet(path, ["l"])


def test_libsvm_rows_start_with_their_labels(tmp_path):
    dataset = read(write(tmp_path, "3,1 1:0.5 4:2\n 2:1\n1 4:-1\n", "t.libsvm"))
    assert dataset.label_names == ["1", "3"]
    assert dataset.Y.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert dataset.feature_names == ["1", "2", "3", "4"]
    assert dataset.X.toarray().tolist() == [[0.5, 0, 0, 2], [0, 1, 0, 0], [0, 0, 0, -1]]


def test_libsvm_for_a_model_has_the_features_of_the_model(tmp_path):
    path = write(tmp_path, "7 2:1\n", "t.libsvm")
    dataset = read_libsvm(path, [], features=["1", "2", "3"])
    assert dataset.X.toarray().tolist() == [[0, 1, 0]]
    with pytest.raises(DataError, match=r"t.libsvm:1: .*indices up to 1"):
        read_libsvm(path, [], features=["1"])
    with pytest.raises(DataError, match=r"row 1 has the label 7"):
        read_libsvm(path, ["1"])


def test_labels_of_libsvm_keep_all_their_digits(tmp_path):
    big = 2**60 + 1
    text = f"1000001 1:1\n1000002,{big} 1:2\n+1000001,{big - 1}.0,0.25 2:1\n"
    dataset = read(write(tmp_path, text, "t.svm"))
    assert dataset.label_names == ["0.25", "1000001", "1000002", str(big - 1), str(big)]
    assert dataset.Y.tolist() == [[0, 1, 0, 0, 0], [0, 0, 1, 0, 1], [1, 1, 0, 1, 0]]


@pytest.mark.parametrize("label", ["nan", "inf", "-inf", "1,NaN"])
def test_a_label_of_libsvm_is_a_number(tmp_path, label):
    with pytest.raises(DataError, match=r"t.svm:2: the label '.*' is no number"):
        read(write(tmp_path, f"1 1:1\n{label} 1:1\n", "t.svm"))


def test_a_remark_in_libsvm_names_no_feature(tmp_path):
    dataset = read(write(tmp_path, "1 1:5 # see 0:1\n2 2:7\n", "t.svm"))
    assert dataset.feature_names == ["1", "2"]
    dataset = read(write(tmp_path, "1 0:5\n2 2:7\n", "t.svm"))
    assert dataset.feature_names == ["0", "1", "2"]
    assert dataset.X.toarray().tolist() == [[5, 0, 0], [0, 0, 7]]
    path = write(tmp_path, "1 0:5\n", "t.svm")
    with pytest.raises(DataError, match="index 0, expected 1 to 2 as in training"):
        read_libsvm(path, [], features=["1", "2"])


def test_a_great_index_of_libsvm_is_refused_before_it_takes_memory(tmp_path):
    path = write(tmp_path, "1 2147483646:1\n", "t.svm")
    with pytest.raises(DataError, match=r"2147483647 features would take 137.4 GB.*MAX_BYTES"):
        read(path)


def test_a_bad_libsvm_line_is_named(tmp_path):
    with pytest.raises(DataError, match=r"t.svm:2: '1 x:y' cannot be read, expected labels"):
        read(write(tmp_path, "1 1:1\n1 x:y\n", "t.svm"))


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"unknown kind of file, expected one of .arff"):
        read(tmp_path / "t.doc")


def test_a_quote_that_is_never_closed_is_named(tmp_path):
    """Arrow takes all lines after it for one cell."""
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{i % 5},{'p;q' if i % 2 else 'r'}\n" for i in range(20))
    path.write_text("a,b,tags\n" + rows + '1,2,"p;q\n' + rows)
    with pytest.raises(DataError, match=r"t.csv:22: a quote in the row that begins here is never"):
        read_table(path, tags="tags")
    path.write_text("a,b,tags\n" + rows + '1,2,"p;\nq"\n')
    assert len(read_table(path, tags="tags").Y) == 21


def test_blanks_around_names_of_columns_are_no_part_of_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a, b , tags\n" + "".join(f"{i}, {i % 5}, p;q\n{i}, 3, p\n" for i in range(9)))
    with pytest.warns(UserWarning, match="1 tag in all 18 rows"):
        data = read_table(path, tags="tags", category=["b"])
    assert [kind.name for kind in data.encoder.kinds] == ["a", "b"]


def test_an_encoding_of_no_text_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,0\n")
    with pytest.raises(ValueError, match=r"encoding must be one that Python knows.*got 'base64'"):
        read_table(path, labels=["b"], encoding="base64")
