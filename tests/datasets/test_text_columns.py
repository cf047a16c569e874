"""Text, names and ids: words or characters, capital or small letters, by left-out error."""

import numpy as np
import pytest

from labelcover.datasets import DataError, read_table
from labelcover.tables._text_columns import (
    CASED,
    CHARACTERS,
    CHOICE_ROWS,
    WORDS,
    _Errors,
    choose_kind,
)

SYLLABLES = ["ober", "neu", "wald", "rosen", "falken", "nord", "erlen", "hohen", "licht", "alt"]
ENDINGS = {"bach": "water", "kirch": "church", "stein": "rock"}


def names(n, random):
    """Return names of places, and the tag that their endings say."""
    ends = random.choice(list(ENDINGS), size=n)
    starts = ["".join(random.choice(SYLLABLES, size=3, replace=False)) for _ in range(n)]
    return [start + end for start, end in zip(starts, ends, strict=True)], [
        ENDINGS[e] for e in ends
    ]


def table(folder, tags, **columns):
    path = folder / "t.csv"
    rows = zip(*columns.values(), tags, strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [[*columns, "tags"], *rows]))
    return path


def kind_of(dataset, name):
    return next(kind for kind in dataset.encoder.kinds if kind.name == name)


def test_names_whose_parts_predict_are_text_and_name_the_rows(tmp_path):
    places, tags = names(60, np.random.default_rng(0))
    dataset = read_table(table(tmp_path, tags, place=places), tags="tags")
    assert kind_of(dataset, "place").kind == "text"
    assert "place: bach" in {name.strip() for name in dataset.feature_names}
    assert dataset.ids == places


@pytest.mark.parametrize("key", ["T-{:04d}", "{:032x}", "user{}@mail"])
def test_keys_are_ids_even_where_rows_are_sorted_by_tags(tmp_path, key):
    random = np.random.default_rng(0)
    keys = [key.format(i if "x" not in key else random.integers(1 << 62)) for i in range(60)]
    tags = ["p"] * 30 + ["q"] * 30 if "x" not in key else random.choice(["p", "q"], size=60)
    path = table(tmp_path, tags, key=keys, number=random.random(60))
    dataset = read_table(path, tags="tags")
    assert kind_of(dataset, "key").kind == "id, not used"
    assert kind_of(dataset, "key").option == "text"
    assert dataset.ids == keys
    with pytest.raises(DataError, match=r"key \(60 different values in 60 cells; text takes it in"):
        read_table(path, tags="tags", drop=["number"])


def test_values_that_recur_are_categories_and_name_no_row(tmp_path):
    letters = [chr(97 + i) for i in range(26)]
    subtypes = letters[:12] * 3 + [f"{letter}{letter}" for letter in letters]
    tags = np.random.default_rng(0).choice(["p", "q"], size=62)
    path = table(tmp_path, tags, subtype=subtypes, n=[i % 9 for i in range(62)])
    dataset = read_table(path, tags="tags")
    assert 2 * len(set(subtypes)) > len(subtypes)
    assert kind_of(dataset, "subtype").kind == "category"
    assert dataset.ids is None


def test_values_that_are_all_rare_say_how_they_are_taken_in(tmp_path):
    letters = [chr(97 + i) for i in range(26)]
    path = table(tmp_path, ["p", "q"] * 26, a=letters * 2, n=[i % 9 for i in range(52)])
    kind = kind_of(read_table(path, tags="tags"), "a")
    assert (kind.kind, kind.option) == ("not used", "text")
    assert kind.why == "26 values, each in fewer than 3 rows"
    assert kind_of(read_table(path, tags="tags", category=["a"]), "a").kind == "category"


def test_rows_are_named_by_a_column_that_is_different_in_all_of_them(tmp_path):
    almost = [f"a{i}-k" for i in range(59)] + ["a0-k"]
    path = table(tmp_path, ["p", "q"] * 30, almost=almost, n=[i % 9 for i in range(60)])
    dataset = read_table(path, tags="tags")
    assert kind_of(dataset, "almost").kind == "id, not used"
    assert dataset.ids is None
    keys = [f"b{i}-k" for i in range(60)]
    path = table(tmp_path, ["p", "q"] * 30, almost=almost, key=keys, n=[i % 9 for i in range(60)])
    assert read_table(path, tags="tags").ids == keys


def test_numbers_of_rows_say_how_they_are_taken_in(tmp_path):
    path = table(tmp_path, ["p", "q"] * 10, row=range(20), n=[i % 9 for i in range(20)])
    kind = kind_of(read_table(path, tags="tags"), "row")
    assert (kind.kind, kind.option) == ("id, not used", "number")
    assert kind_of(read_table(path, tags="tags", number=["row"]), "row").kind == "number"


def test_groups_of_ages_are_categories(tmp_path):
    ages = ["18-24", "25-34", "35-44", "65+"] * 5
    path = table(tmp_path, ["p", "q"] * 10, age=ages)
    assert kind_of(read_table(path, tags="tags"), "age").kind == "category"
    numbers = read_table(path, tags="tags", number=["age"])
    assert numbers.X[:4, 0].tolist() == [21, 29.5, 39.5, 65]


def chains(n, random):
    """Return chains of capital and small letters, and whether they hold three small c in a row."""
    made = ["".join(random.choice(["C", "c", "O", "N", "1", "="], size=9)) for _ in range(n)]
    made = [text + random.choice(["ccc", "CCC", "cCc", "CcC"]) for text in made]
    return made, np.array([["ccc" in text, "CCC" in text] for text in made], dtype=np.uint8)


def test_the_case_of_letters_is_kept_where_it_says_something(tmp_path):
    texts, Y = chains(200, np.random.default_rng(0))
    assert choose_kind(texts, Y) == CASED
    tags = ["pi"[: 1 + a] if a else "n" for a in Y[:, 0]]
    dataset = read_table(table(tmp_path, tags, smiles=texts), tags="tags")
    assert {"smiles: ccc", "smiles: CCC"} <= set(dataset.feature_names)
    assert kind_of(dataset, "smiles").why.endswith("in capital or small letters")
    again = dataset.reading.read(tmp_path / "t.csv", with_labels=False)
    assert (again.X != dataset.X).nnz == 0


def test_case_that_says_nothing_is_not_kept():
    random = np.random.default_rng(0)
    places, tags = names(150, random)
    mixed = [place.upper() if random.random() < 0.5 else place for place in places]
    Y = np.array([[tag == t for t in ENDINGS.values()] for tag in tags], dtype=np.uint8)
    assert choose_kind(mixed, Y) == CHARACTERS


def test_words_are_taken_where_a_gain_is_within_its_noise():
    """Characters are better by 3 % in 103 rows, which is less than two standard errors."""
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcdefgh"), size=6)) for _ in range(40)]
    texts = [" ".join(random.choice(words, size=5)) for _ in range(130)]
    Y = np.array([[word in text for word in words[:4]] for text in texts], dtype=np.uint8)
    flips = random.random(Y.shape) < 0.1
    Y[flips] = 1 - Y[flips]
    assert choose_kind(texts[:103], Y[:103]) == WORDS


def test_one_row_more_changes_one_of_the_rows_that_decide():
    texts = [f"{i * i} words and {i % 7} more" for i in range(3000)]
    Y = np.zeros((3000, 2), dtype=np.uint8)
    before, after = (set(_Errors(texts[:n], Y[:n]).texts) for n in (2999, 3000))
    assert len(before) == len(after) == CHOICE_ROWS
    assert len(before - after) <= 1
