"""What separates tags is found from all cells, and asked where two readings are near."""

import random

import pytest

from labelcover._tag_separators import (
    Separators,
    UnclearSeparators,
    found_separators,
    with_phrases,
)
from labelcover.datasets import load

GENRES = [
    "Drama",
    "Comedy",
    "Action",
    "Thriller",
    "Science Fiction",
    "Horror",
    "Romance",
    "War",
    "Western",
    "Music",
]
INGREDIENTS = [
    "salt",
    "olive oil",
    "garlic",
    "onion",
    "black pepper",
    "butter",
    "sugar",
    "flour",
    "eggs",
    "milk",
    "tomato",
    "basil",
    "rice",
    "lemon juice",
    "soy sauce",
    "ginger",
    "chicken breast",
    "ground beef",
    "bay leaf",
    "white wine",
]
WORDS = [
    "python",
    "numpy",
    "web",
    "django",
    "sql",
    "docker",
    "linux",
    "regex",
    "html",
    "css",
    "react",
    "testing",
    "json",
    "csv",
]
WINE = ["red", "white", "dry", "sweet", "oaky", "fruity"]
SKILLS = ["A/B testing", "SEO", "R&D", "CI/CD", "Content marketing", "Sales & Marketing", "C++"]
SOLVENTS = ["1,2-dichloroethane", "benzene", "2,4-D", "N,N-dimethylformamide", "1,4-dioxane"]
MOODS = ["amazed-surprised", "happy-pleased", "relaxing-calm", "quiet-still", "sad-lonely"]
CAFES = ["National chain (e.g. Redbean, Cupley)", "Local cafe", "Drive-through", "Other shop"]
ADDITIONS = ["Black", "Milk, dairy alternative, or coffee creamer", "Sugar or sweetener", "Syrup"]

PLACES = [
    "New York",
    "New Orleans",
    "San Francisco",
    "San Diego",
    "San Jose",
    "Boston",
    "Salt Lake City",
]
GRADES = ["Very good", "Good", "Neither good nor bad", "Bad", "Very bad"]
JOBS = [
    "Software Engineer",
    "Senior Software Engineer",
    "Data Scientist",
    "Senior Data Scientist",
    "Designer",
    "Product Manager",
    "Senior Product Manager",
    "Data Engineer",
    "Sales Manager",
    "Accountant",
]
MUSIC = ["R&B/Soul", "Hip-Hop/Rap", "Rock", "Pop", "Electronic/Dance", "Jazz", "Folk & Country"]
SPECIES = [
    f"{genus} {kind}"
    for genus in ("Quercus", "Acer", "Salix", "Rosa")
    for kind in ("alba", "rubra", "repens", "arvensis", "vulgaris")
]


def drawn(tags, n, mean, seed=0):
    """Return rows of tags, frequent ones first, in any order."""
    source = random.Random(seed)
    weights = [1 / (1 + j) for j in range(len(tags))]
    rows = []
    for _ in range(n):
        size = min(len(tags), 1 + sum(source.random() < 0.5 for _ in range(2 * (mean - 1))))
        row: dict[str, None] = {}
        while len(row) < size:
            row[source.choices(tags, weights)[0]] = None
        rows.append(list(row))
    return rows


def found(cells):
    separators = found_separators(cells)
    return [separators.split(cell) for cell in cells]


@pytest.mark.parametrize("n", [20, 300])
@pytest.mark.parametrize(
    ("tags", "mean"),
    [(GENRES, 2), (INGREDIENTS, 6), (WORDS, 3), (WINE, 2), (MOODS, 2), (CAFES, 2)],
    ids=["genres", "ingredients", "words", "wine", "moods", "cafes"],
)
@pytest.mark.parametrize("mark", ["; ", ", ", ",", "|", "\n", "\t", "/", " / ", " & ", " + ", " "])
def test_tags_are_found_whatever_separates_them(tags, mean, mark, n):
    if mark == " " and any(" " in tag for tag in tags):
        pytest.skip("tags of several words are not separated by blanks")
    rows = drawn(tags, n, mean)
    assert found([mark.join(row) for row in rows]) == rows


@pytest.mark.parametrize(
    "mark", [" · ", " > ", "~", "*", "\\", "_", ":", "、", "；", " and ", " und ", " et "]
)
def test_marks_that_few_people_use_are_found_too(mark):
    rows = drawn(WINE, 60, 2)
    assert found([mark.join(row) for row in rows]) == rows


@pytest.mark.parametrize("last", [" and ", ", and ", " und ", " & "])
def test_the_last_of_several_tags_may_follow_a_word(last):
    rows = drawn(WINE, 60, 3)
    cells = [last.join(filter(None, [", ".join(row[:-1]), row[-1]])) for row in rows]
    assert found(cells) == rows


def test_few_cells_that_recur_and_whose_parts_are_never_alone_have_two_readings():
    places = ["Salem, Oregon", "Boston, Texas", "Salem, Texas", "Austin, Texas", "Bend, Oregon"]
    with pytest.raises(UnclearSeparators, match=r"separated by ',' .* or one in a cell"):
        found_separators(places * 6)


def test_words_between_parts_of_names_separate_nothing():
    names = ["Trinidad and Tobago", "Bosnia and Herzegovina", "Cuba", "Chad", "snake_case", "a:b"]
    cells = random.Random(0).choices(names, k=100)
    assert found(cells) == [[cell] for cell in cells]
    rows = drawn(["Food and Drink", "Arts and Crafts", "Music", "Sport", "role::game"], 60, 2)
    assert found([", ".join(row) for row in rows]) == rows


@pytest.mark.parametrize("mark", ["; ", "|", "\n"])
@pytest.mark.parametrize("tags", [SKILLS, SOLVENTS, ADDITIONS, MUSIC])
def test_marks_inside_tags_separate_nothing_where_another_mark_separates(tags, mark):
    rows = drawn(tags, 100, 2)
    assert found([mark.join(row) for row in rows]) == rows


def test_a_comma_without_a_blank_is_part_of_names_where_a_comma_with_one_separates():
    rows = drawn(SOLVENTS, 60, 2)
    assert found([", ".join(row) for row in rows]) == rows


@pytest.mark.parametrize(
    "names",
    [PLACES, GRADES, JOBS, MUSIC, SPECIES, SKILLS, MOODS, WORDS, INGREDIENTS],
    ids=["places", "grades", "jobs", "music", "species", "skills", "moods", "words", "ingredients"],
)
def test_a_column_of_one_label_a_row_is_not_split(names):
    cells = random.Random(0).choices(names, k=200)
    assert found(cells) == [[cell] for cell in cells]


@pytest.mark.parametrize("marks", [(", ", "; "), (", ", " & "), ("; ", "/")])
def test_two_separators_in_one_cell_are_found(marks):
    source = random.Random(0)
    rows = drawn(GENRES, 60, 3)
    cells = ["".join(tag + source.choice(marks) for tag in row).rstrip(" ,;&/") for row in rows]
    assert found(cells) == rows


def test_the_real_tags_of_debian_packages_are_found_whatever_separates_them():
    data = load("debtags")
    rows = [[data.label_names[j] for j in bits.nonzero()[0]] for bits in data.Y[:400]]
    rows = [row for row in rows if row]
    for mark in (", ", ",", " ", "; ", "|"):
        assert found([mark.join(row) for row in rows]) == rows


def test_nothing_is_split_inside_brackets_and_quotes():
    comma = Separators((",",))
    assert comma.split("wind (north, east), [a, b], {c, d}, f(g(h, i), j)") == [
        "wind (north, east)",
        "[a, b]",
        "{c, d}",
        "f(g(h, i), j)",
    ]
    assert comma.split("""'New York, NY', "Salem, OR", Boston""") == [
        "New York, NY",
        "Salem, OR",
        "Boston",
    ]
    # A quote that belongs to a word, an inch or a bracket that is never closed protects nothing.
    assert comma.split("rock 'n' roll, '90s, '80s, 5\" pipe, 6\" pipe, a (b, c") == [
        "rock 'n' roll",
        "'90s",
        "'80s",
        '5" pipe',
        '6" pipe',
        "a (b",
        "c",
    ]


def test_an_option_that_holds_the_separator_is_joined_again_and_named():
    rows = drawn(ADDITIONS, 60, 2)
    cells = [", ".join(row) for row in rows]
    separators = found_separators(cells)
    assert [separators.split(cell) for cell in cells] == rows
    assert separators.phrases == (ADDITIONS[1],)
    assert ADDITIONS[1] in separators.told_phrases()
    assert separators.split("Syrup, Milk,dairy alternative ,  or coffee creamer") == [
        "Syrup",
        ADDITIONS[1],
    ]
    # A part alone, in a file to predict, is not the option.
    assert separators.split("Milk, Syrup") == ["Milk", "Syrup"]


def test_tags_that_are_neighbours_in_the_alphabet_or_codes_are_not_joined():
    rows = [["a b", "c d"], ["a b", "c d", "e"], ["a b", "c d", "f"], ["e"], ["f"]]
    assert with_phrases([", ".join(row) for row in rows], [","]).phrases == ()
    rows = [["z1", "a1"], ["z1", "a1", "b1"], ["c1", "z1", "a1"], ["b1", "c1"]]
    assert with_phrases([", ".join(row) for row in rows], [","]).phrases == ()


@pytest.mark.parametrize(
    "names",
    [
        [
            "Salem, Oregon",
            "Salem, Texas",
            "Dover, Texas",
            "Dover, Ohio",
            "Lima, Ohio",
            "Lima, Iowa",
        ],
        [
            "Chronic kidney disease, stage 3",
            "Type 2 diabetes mellitus",
            "Pneumonia, unspecified",
            "Urinary tract infection, site not specified",
            "Acute kidney failure, unspecified",
            "Anemia, unspecified",
            "Atrial fibrillation",
        ],
    ],
    ids=["town and state", "diagnoses"],
)
def test_two_readings_that_are_near_are_an_error_that_shows_both(names):
    cells = random.Random(0).choices(names, k=100)
    with pytest.raises(UnclearSeparators) as error:
        found_separators(cells)
    assert {each.marks for each, _ in error.value.readings} == {(",",), ()}
    shown = next(name for name in names if repr(name) in str(error.value))
    assert " + ".join(map(repr, shown.split(", "))) in str(error.value)


def test_few_cells_are_split_by_what_separates_tags_most_often():
    assert found(["rain; wind", "snow", "fog"]) == [["rain", "wind"], ["snow"], ["fog"]]
    assert found(["rain, wind", "snow"]) == [["rain", "wind"], ["snow"]]
    assert found(["hardware"] * 20 + ["account, urgent"] * 20)[-1] == ["account", "urgent"]
    assert found(["rain|wind"]) == [["rain", "wind"]]
    assert found([]) == []


def test_separators_of_other_kinds_can_be_given():
    separators = with_phrases(["rain and wind", "sandy // fog"], [" and ", "//"])
    assert separators.split("rain and wind") == ["rain", "wind"]
    assert separators.split("sandy // fog") == ["sandy", "fog"]
    assert Separators((" ",)).split("a  b\u00a0c") == ["a", "b", "c"]


def test_a_hundred_thousand_cells_are_read_from_a_sample():
    rows = drawn(INGREDIENTS, 5000, 6)
    cells = [f"{', '.join(row)}, n{i}" for i, row in enumerate(rows * 20)]
    assert found_separators(cells).marks == (",",)


def test_so_many_long_cells_that_a_sample_is_taken():
    # 276 cells of 1500 characters: by floats the place of the last cell was one too far.
    cells = [f"{i:04d};" + "tag" * 498 + "t;" for i in range(276)]
    assert {len(cell) for cell in cells} == {1501}
    assert found_separators([cell[:-1] for cell in cells]).marks == (";",)
