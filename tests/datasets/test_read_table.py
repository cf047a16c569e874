"""Tables as people have them: what is found out, what can be said, what is refused."""

import gzip
import random

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelcover import RakelClassifier
from labelcover.datasets import DataError, feature_words, read_table
from labelcover.models import fit_model
from labelcover.predictions import write_predictions

TEXT = "a,b,tags\n1,x y,p;q\n2,y z,q\n3,z x,p\n4,x x,p;q\n"


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def kinds_of(dataset):
    return {kind.name: kind.kind for kind in dataset.encoder.kinds}


def column(cells, folder, **options):
    """Read one column beside a column of tags; return what it was read as, and its features."""
    lines = [f'"{cell}";{("p", "p|q", "q")[i % 3]};{i}.5' for i, cell in enumerate(cells)]
    path = write(folder, "cell;tags;other\n" + "\n".join(lines) + "\n")
    dataset = read_table(path, tags="tags", **options)
    names = [name for name in dataset.feature_names if name.startswith("cell")]
    at = [dataset.feature_names.index(name) for name in names]
    X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    return kinds_of(dataset)["cell"], dict(zip(names, X[:, at].T.tolist(), strict=True))


def test_what_is_said_of_a_file_is_taken(tmp_path):
    path = write(tmp_path, "a_b_tags\n1_5,5_p\n2_6_q,r\n3_7_p\n4_8_q\n".encode("utf-16-le"))
    said = {"delimiter": "_", "encoding": "utf-16-le", "separator": ","}
    with pytest.warns(UserWarning, match=r"1 tag in one row only, which is .*: r"):
        dataset = read_table(path, tags="tags", decimal=",", **said)
    assert dataset.label_names == ["p", "q"]
    assert dataset.X.tolist() == [[1, 5.5], [2, 6], [3, 7], [4, 8]]


def test_an_empty_column_of_strings_that_is_given_as_a_date_is_named(tmp_path):
    path = tmp_path / "t.parquet"
    when = pd.array([None] * 6, dtype="string")
    pd.DataFrame({"when": when, "hours": range(6), "tags": ["a", "b"] * 3}).to_parquet(path)
    with pytest.raises(DataError, match=r"t\.parquet.*column 'when'.* and no cell of it is"):
        read_table(path, tags="tags", date=["when"])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"delimiter": ",,"}, "delimiter must be one character"),
        ({"decimal": ";"}, "decimal must be one of '.', ','"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows"),
        ({"encoding": ""}, "encoding must be one that Python knows.*got ''"),
        ({"encoding": "ascii"}, "t.csv:1: not a text file in ascii"),
        ({"separator": ""}, "separator must be one or more characters"),
        ({"labels": ["a"]}, "tags='tags' is given and labels"),
        ({"text": "b"}, "text must be a list of names of columns, got 'b'"),
        ({"text": ["b"], "drop": ["b"]}, "drop names column 'b', which is given for text too"),
        ({"number": ["c"]}, "no column 'c', expected number to name columns of the file: a, b"),
        ({"id": "c"}, "no column 'c', expected id to name"),
        ({"text": [2]}, "no column 2, expected text to name columns of the file: a, b"),
        ({"id": b"b"}, "no column b'b', expected id to name columns of the file: a, b"),
        ({"number": ["b"]}, "t.csv:2: column 'b' holds 'ä y', and no cell of it is readable"),
        ({"date": ["b"]}, "t.csv:2: column 'b' holds 'ä y', .* expected dates such as"),
        ({"drop": ["a", "b"]}, r"no column can be used as a feature.*a \(as given\)"),
    ],
)
def test_wrong_options_are_refused_with_what_is_accepted(tmp_path, said, message):
    path = write(tmp_path, TEXT.replace("x y", "ä y"))
    with pytest.raises(ValueError, match=message):
        read_table(path, tags="tags", **said)


@pytest.mark.parametrize(
    ("cells", "kind", "names"),
    [
        (["1.5", "2", "NA", "4"] * 3, "number", ["cell"]),
        (["1,5", "2,25", "3,0", "1.204,5"] * 3, "number", ["cell"]),
        (["yes", "No", "", "YES"] * 3, "truth value", ["cell"]),
        (["y", "n", "n", "y"] * 3, "truth value", ["cell"]),
        (["True", "False"] * 6, "truth value", ["cell"]),
        (["red", "blue", "blue", "red"] * 3, "category", ["cell = blue", "cell = red"]),
        (["deep red", "", "blue"] * 4, "category", ["cell = (missing)", "cell = blue"]),
        (["only"] * 12, "not used", []),
        ([""] * 12, "not used", []),
        ([f"k{i}-x" for i in range(40)], "id, not used", []),
        (list(range(7, 30)), "id, not used", []),
        ([3, 1, 7, 9, 20, 15, 4] * 2, "number", ["cell"]),
        ([f"word{i % 3} or word{i % 7} nr {i}" for i in range(40)], "text", ["cell: or"]),
    ],
)
def test_columns_are_read_for_what_they_are(tmp_path, cells, kind, names):
    found, features = column(cells, tmp_path)
    assert found == kind
    assert set(names) <= set(features)
    assert bool(features) == (not kind.endswith("not used"))


@pytest.mark.parametrize(
    ("cells", "year"),
    [
        (["2021-12-31", "2022-01-01", "2022-05-06"], 2021),
        (["2021-12-31T10:00:00", "2022-01-01T00:00:00", "2022-05-06T07:01:02"], 2021),
        (["31.12.2021", "1.1.2022", "6.5.2022"], 2021),
        (["31/12/2021 10:00", "1/1/2022 00:00", "6/5/2022 07:00"], 2021),
        (["12/31/2021", "1/1/2022", "5/6/2022"], 2021),
        (["31 Dec 2021", "1 Jan 2022", "6 May 2022"], 2021),
    ],
)
def test_dates_become_parts_and_an_age(tmp_path, cells, year):
    kind, features = column(cells * 2, tmp_path)
    assert kind == "date"
    assert features["cell (year)"][:3] == [year, 2022, 2022]
    assert features["cell (month = Dec)"][:3] == [1, 0, 0]
    assert features["cell (weekday = Fri)"][:3] == [1, 0, 1]
    newest = pd.Timestamp("2022-05-06")
    assert round(features["cell (age in days)"][1]) == (newest - pd.Timestamp("2022-01-01")).days
    assert ("cell (hour)" in features) == (":" in cells[0])


def test_what_was_found_can_be_overruled(tmp_path):
    cells = ["3", "4", "5", "3", "4", "5", "3", "4", "5"]
    assert column(cells, tmp_path)[0] == "number"
    kind, features = column(cells, tmp_path, category=["cell"])
    assert kind == "category"
    assert list(features) == ["cell = 3", "cell = 4", "cell = 5"]
    assert column(cells, tmp_path, drop=["cell"]) == ("not used", {})
    assert column(cells, tmp_path, id="cell") == ("id, not used", {})


def test_text_that_is_all_numbers_is_a_warning(tmp_path):
    with pytest.warns(UserWarning, match=r"'cell' is read as text.*'3' in line 2; given as number"):
        kind, features = column(["3", "4", "3", "4"] * 3, tmp_path, text=["cell"])
    assert kind == "text"
    assert set(features) == {"cell: 3", "cell: 4"}


def test_text_is_what_scikit_learn_makes_of_it(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    random = np.random.default_rng(0)
    words = ["".join(random.choice(["ab", "ba"], size=8)) for _ in range(30)]
    texts = [" ".join(random.choice(words, size=6)) for _ in range(60)]
    lines = "".join(f"{text},{'p' if words[0] in text else 'q'}\n" for text in texts)
    dataset = read_table(write(tmp_path, "note,tags\n" + lines), tags="tags", text=["note"])
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\b\w+\b"
    )
    expected = vectorizer.fit_transform(texts)
    assert dataset.feature_names == [f"note: {w}" for w in vectorizer.get_feature_names_out()]
    np.testing.assert_allclose(dataset.X.toarray(), expected.toarray())
    assert dataset.texts == {"note": texts}


def test_groups_of_characters_are_taken_where_they_predict_better(tmp_path):
    """The end of each word says the tag, and hardly a word recurs."""
    random = np.random.default_rng(0)
    rows = []
    for _ in range(200):
        tag = str(random.choice(["p", "q"]))
        stems = ["".join(random.choice(list("abcdefghijkl"), size=5)) for _ in range(3)]
        rows.append(" ".join(stem + {"p": "ion", "q": "ung"}[tag] for stem in stems) + f",{tag}\n")
    dataset = read_table(write(tmp_path, "note,tags\n" + "".join(rows)), tags="tags")
    (kind,) = dataset.encoder.kinds
    assert kind.why.endswith("groups of characters")
    assert "note: ung " in dataset.feature_names


def test_missing_values_are_marked_only_where_they_tell_something(tmp_path):
    random = np.random.default_rng(0)
    lines = []
    for i in range(200):
        tag = "p" if random.random() < 0.5 else "q"
        told = "" if tag == "p" and i % 3 else i / 7
        silent = "" if random.random() < 0.3 else i / 9
        lines.append(f"{told},{silent},{tag}\n")
    dataset = read_table(write(tmp_path, "told,silent,tags\n" + "".join(lines)), tags="tags")
    assert dataset.feature_names == ["told", "told (missing)", "silent"]
    assert not np.isnan(dataset.X).any()
    silent = [float(line.split(",")[1]) for line in lines if line.split(",")[1]]
    missing = [not line.split(",")[1] for line in lines]
    assert set(dataset.X[missing, 2]) == {np.median(silent)}


def test_rare_categories_are_one_feature(tmp_path):
    cells = ["red"] * 10 + ["blue"] * 10 + ["pink", "mauve"]
    _, features = column(cells, tmp_path)
    assert list(features) == ["cell = blue", "cell = red", "cell = (rare)"]
    assert features["cell = (rare)"] == [0] * 20 + [1, 1]


def test_a_table_of_numbers_is_taken_as_it_is(tmp_path):
    path = write(tmp_path, "a,is:l,b,is:m\n1.5,yes,2,0\n2.5,no,-3e2,1\n")
    dataset = read_table(path, label_prefix="is:")
    assert dataset.X.tolist() == [[1.5, 2], [2.5, -300]]
    assert dataset.Y.tolist() == [[1, 0], [0, 1]]
    assert dataset.feature_names == ["a", "b"]
    assert read_table(path, labels=["is:m"], drop=["is:l"]).label_names == ["is:m"]


def test_new_rows_are_encoded_as_in_training(tmp_path):
    head = "id,note,colour,size,day,tags\n"
    rows = [
        f"{i},word{i % 5} and word{i % 3} nr {i},{('red', 'blue')[i % 2]},{i % 7},"
        f"2022-01-{i % 27 + 1:02d},{('p', 'q', 'p;q')[i % 3]}\n"
        for i in range(40)
    ]
    dataset = read_table(write(tmp_path, head + "".join(rows)), tags="tags")
    some = write(tmp_path, head + "".join(rows[7:11]), "some.csv")
    again = dataset.reading.read(some, with_labels=True)
    np.testing.assert_array_equal(again.X.toarray(), dataset.X[7:11].toarray())
    np.testing.assert_array_equal(again.Y, dataset.Y[7:11])
    assert again.ids == ["7", "8", "9", "10"]
    assert again.texts == {"note": dataset.texts["note"][7:11]}
    strange = "note,day,size,colour\nnothing known,never,big,mauve\n"
    with pytest.warns(UserWarning, match="this cell counts as missing") as caught:
        unseen = dataset.reading.read(write(tmp_path, strange, "x.csv"), with_labels=False)
    said = [str(warning.message) for warning in caught]
    assert any("column 'size' holds 'big' in line 2, expected a number" in text for text in said)
    assert any("column 'day' holds 'never' in line 2, expected a date" in text for text in said)
    assert unseen.X.shape == (1, dataset.X.shape[1])
    assert unseen.ids is None
    with pytest.raises(DataError, match=r"no column 'note', which was text in training, expected"):
        dataset.reading.read(write(tmp_path, "size\n1\n", "y.csv"), with_labels=False)


def test_unknown_tags_are_said_and_not_counted(tmp_path):
    dataset = read_table(write(tmp_path, TEXT), tags="tags")
    path = write(tmp_path, "a,b,tags\n1,x y,p; new\n", "new.csv")
    with pytest.warns(UserWarning, match="1 tag that the model does not know.*: new"):
        assert dataset.reading.read(path, with_labels=True).Y.tolist() == [[1, 0]]


BAD = {
    "no tags": ("a,tags\n1,\n2,NA\n", "column 'tags' has no tags in 2 rows, expected some"),
    "tags once": ("a,tags\n1,x\n2,y\n", "2 tags, each in one row only .x, y., expected tags that"),
    "tags missing": ("a,b\n1,x\n", "no column 'tags', expected tags to name one of a, b"),
    "one name twice": ("a,a,tags\n1,2,x\n", ":1: column 'a' is there twice.*column 1 and column 2"),
    "short row": ("a,b,tags\n1,2,x\n1,x\n", ":3: 2 cells, expected 3 as in line 1"),
    "no rows": ("a,tags\n", ":1: no row follows the names"),
    "no row, nor a line end": ("a,tags", ":1: no row follows the names"),
    "no UTF-16": ("a,tags\n1,x\n".encode("utf-16")[:-3], "t.csv: ends in the middle of a char"),
    "binary": (b"a,tags\n1\x00,x\n", ":2: not a text file"),
    "not gzip": (b"a,tags\n1,x\n", "expected a gzip file"),
    "cut gzip": (gzip.compress(b"a,tags\n1,x\n" * 100)[:-9], "expected a gzip file"),
    "not JSON": ("{}\n{'a'", "expected JSON lines"),
    "mixed JSON": ('{"a": 1, "tags": "x"}\n{"a": "b", "tags": "x"}\n', "expected JSON lines"),
    "not Parquet": (b"PAR1 nonsense", "expected a Parquet file"),
    "half a list in tags": (
        """a,tags\n1,"['x']"\n2,"['x', y]"\n""",
        r":3: column 'tags' holds the list \['x', y\], .*expected all in quotes, or none",
    ),
    "listed tags": (
        '{"a": 1, "tags": [["x"]]}\n{"a": 2, "tags": [["x"]]}\n',
        "column 'tags' holds list<item: list<item: string>>, expected tags: lists of strings",
    ),
    "nested tags": ('{"a": 1, "tags": {"x": 1}}\n', "column 'tags' holds struct.*expected tags"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_in_one_line(tmp_path, case):
    text, message = BAD[case]
    suffix = {"gzip": "csv.gz", "JSON": "jsonl", "Parquet": "parquet", "tags": "jsonl"}
    name = suffix.get(case.split()[-1], "csv") if case.split()[0] != "no" else "csv"
    name = "csv" if case in ("tags missing", "half a list in tags") else name
    with pytest.raises(DataError, match=message) as caught:
        read_table(write(tmp_path, text, f"t.{name}"), tags="tags")
    assert "\n" not in str(caught.value)


def test_the_place_of_a_mistake_is_a_line_of_the_file(tmp_path):
    """Cells with line breaks and empty lines move rows down."""
    path = write(tmp_path, 'a,l\n"x\ny",1\n\n"z",7\n')
    with pytest.raises(DataError, match=r"t.csv:5: label 'l' is 7, expected 0 or 1"):
        read_table(path, labels=["l"])


@pytest.mark.parametrize("name", ["text", "category", "number", "date", "drop"])
def test_a_column_of_labels_is_nothing_else(tmp_path, name):
    path = write(tmp_path, TEXT)
    with pytest.raises(ValueError, match=f"{name} names column 'tags', which is given for tags"):
        read_table(path, tags="tags", **{name: ["tags"]})
    with pytest.raises(ValueError, match=f"{name} names column 'a', which is given for labels"):
        read_table(path, labels=["a"], **{name: ["a"]})


def test_labels_that_are_not_given_are_asked_for(tmp_path):
    with pytest.raises(DataError, match=r"\(tags, for tables\), .* \(labels\), .*label_prefix"):
        read_table(write(tmp_path, TEXT))


def test_days_that_no_calendar_has_are_not_read(tmp_path):
    days = [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(59)]
    with pytest.warns(
        UserWarning, match=r"holds '31.2.2024' in line 61, expected a date; this cell"
    ):
        kind, _ = column([*days, "31.2.2024"], tmp_path)
    assert kind == "date"
    assert column([*days, "29.2.2024"], tmp_path)[0] == "date"  # there is one


def test_rows_of_json_lines_are_counted_from_1(tmp_path):
    path = write(tmp_path, b'{"a":1,"tags":["x"]}\n{"a":\n', "t.jsonl")
    with pytest.raises(DataError, match="in row 2, expected JSON lines"):
        read_table(path, tags="tags")


def test_features_are_told_in_the_words_of_the_table(tmp_path):
    lines = [
        f"{'' if i % 7 == 3 else i * 1.5 + 0.25};{'red' if i % 2 else 'green'};"
        f"2024-0{1 + i % 3}-05;"
        f"{'printer burns' if i % 2 else 'login fails'} again {i};{'p' if i % 7 == 3 else 'q'}"
        for i in range(60)
    ]
    text = "hours;colour;opened;subject;tags\n" + "\n".join(lines) + "\n"
    dataset = read_table(write(tmp_path, text), tags="tags")
    assert sparse.issparse(dataset.X)  # numbers are scaled, as there is text
    told = dataset.encoder.words()

    def words(row):
        values = dataset.X[[row]].toarray()[0].tolist()
        return {
            name: told(f, value)
            for f, (name, value) in enumerate(zip(dataset.feature_names, values, strict=True))
        }

    assert words(1)["hours"] == "hours = 1.75"
    assert words(1)["hours (missing)"] == "not hours (missing)"
    assert words(3)["hours (missing)"] == "hours (missing)"
    assert words(1)["colour = red"] == "colour = red"
    assert words(2)["colour = red"] == "not colour = red"
    assert words(0)["opened (age in days)"] == "opened (age in days) = 60"
    assert words(0)["opened (month = Jan)"] == "opened (month = Jan)"
    assert words(1)["opened (month = Jan)"] == "not opened (month = Jan)"
    text = [name for name in dataset.feature_names if name.startswith("subject")]
    assert {words(row)[name] for row in (0, 1) for name in text} > set(text)


def test_numbers_alone_are_told_as_they_are(tmp_path):
    dataset = read_table(
        write(tmp_path, "a,b,tags\n" + "1,2,p\n3,40000.5,p;q\n2,1,q\n"), tags="tags"
    )
    told = dataset.encoder.words()
    assert told(1, dataset.X[1, 1]) == "b = 40000.5"


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (["x", "", "x"], "column 'tags' has one tag only, 'x', expected several"),
        (["x;y", "x", "x;y"], "column 'tags' has 1 tag in all 3 rows, of which nothing can be"),
    ],
)
def test_tags_of_which_little_can_be_learned_are_a_warning(tmp_path, tags, message):
    path = write(tmp_path, "a,tags\n" + "".join(f"{i},{tag}\n" for i, tag in enumerate(tags)))
    with pytest.warns(UserWarning, match=f"t.csv: {message}"):
        read_table(path, tags="tags")


def test_digits_with_a_zero_in_front_are_codes(tmp_path):
    codes = [f"{i % 3:05d}" for i in range(12)]
    kind, features = column(codes, tmp_path)
    assert kind == "category"
    assert list(features) == ["cell = 00000", "cell = 00001", "cell = 00002"]
    numbers = [f"{3 * i:04d}" for i in range(40)]
    lines = "".join(f"{n},{i % 7},{'p' if i % 2 else 'q'}\n" for i, n in enumerate(numbers))
    dataset = read_table(write(tmp_path, "number,b,tags\n" + lines), tags="tags")
    assert dataset.ids == numbers
    assert column(["0.5", "0", "10"] * 4, tmp_path)[0] == "number"


def test_columns_of_predictions_have_names_of_their_own(tmp_path):
    lines = "".join(f"key{i},{i % 7},{'key' if i % 2 else 'tags;b'}\n" for i in range(60))
    path = write(tmp_path, "key,a,tags\n" + lines)
    dataset = read_table(path, tags="tags")
    model = fit_model(RakelClassifier(k=2, random_state=0), dataset)
    write_predictions(model, dataset, tmp_path / "p.csv", more={"b": ["-"] * 60})
    names = (tmp_path / "p.csv").read_text().splitlines()[0].split(",")
    assert names[:5] == ["key", "tags", "b (label)", "key (label)", "tags (label)"]
    assert len(names) == len(set(names))


def words_of(dataset, row, **how):
    """Return what is told of a row whose features all have the part 1."""
    n = dataset.X.shape[1]
    values = dataset.X[[row]].toarray()[0] if sparse.issparse(dataset.X) else dataset.X[row]
    parts, counts, name = feature_words(dataset).units(row, np.arange(n), np.ones(n), values, **how)
    assert parts.sum() == pytest.approx(n)
    return {name(u): (float(parts[u]), int(counts[u])) for u in range(len(parts))}


def test_features_of_a_column_are_told_by_what_is_there(tmp_path):
    lines = [
        f"{'' if i % 7 == 3 else i * 0.25 + 1.5};{('red', 'green', 'blue')[i % 3]};"
        f"2024-0{1 + i % 3}-05;"
        f"{'the printer burns' if i % 2 else 'the login fails'} again {i};"
        f"{'p' if i % 7 == 3 else 'q'}"
        for i in range(60)
    ]
    text = "hours;colour;opened;subject;tags\n" + "\n".join(lines) + "\n"
    dataset = read_table(write(tmp_path, text), tags="tags")
    told = words_of(dataset, 1)
    assert told["hours = 1.75"] == (2, 2)  # with the mark that it is not missing
    assert told["colour = green"] == (3, 3)
    assert "colour = red" not in told
    assert told["opened (month = Feb)"] == (3, 3)
    assert "subject: printer" in told
    assert "subject: login" not in told
    assert "subject: the" not in told  # in all rows, and a stop word
    absent = [name for name in dataset.feature_names if "login" in name or "fails" in name]
    assert told["subject: what is not there"][1] >= len(absent)
    assert "hours (missing)" in words_of(dataset, 3)
    columns = words_of(dataset, 1, whole_columns=True)
    assert set(columns) == {"hours", "colour", "opened", "subject"}


def test_groups_of_characters_are_told_as_the_words_that_hold_them(tmp_path):
    chooser = random.Random(0)
    roots = {"p": ["kalor", "termin", "flogi"], "q": ["hydro", "nivos", "glaci"]}
    lines = []
    for _ in range(80):
        tag = chooser.choice("pq")
        ends = ["".join(chooser.choices("abcdefghij", k=2)) for _ in range(3)]
        own = [chooser.choice(roots[tag]) + end for end in ends]
        lines.append(f"{' '.join(own)},{tag}")
    dataset = read_table(write(tmp_path, "text,tags\n" + "\n".join(lines) + "\n"), tags="tags")
    (column,) = dataset.encoder.encoders
    assert column.kind != "words"
    told = words_of(dataset, 0)
    own = set(lines[0].partition(",")[0].split())
    assert {f"text: {word}" for word in own} <= set(told)
    assert set(told) <= {*(f"text: {word}" for word in own), "text: what is not there"}
    some = feature_words(dataset).of_rows([5])
    assert some.texts["text"] == [lines[5].partition(",")[0]]
