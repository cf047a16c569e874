"""Numbers as people write them, one way a column: read back, or not taken for numbers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.datasets import read_csv, read_table
from labelcover.tables._number_cells import NumberFormat, find_numbers

TAGS = ("p", "p|q", "q")


def found(*cells, **known):
    return find_numbers(list(cells), [1] * len(cells), **known)


def numbers(*cells, **known):
    written = found(*cells, **known).format
    return [written.read(cell) for cell in cells]


def table(folder, name="t.jsonl", **columns):
    """Write columns of strings, which are taken as they are, beside a column of tags."""
    n = len(next(iter(columns.values())))
    columns |= {"other": [i % 7 for i in range(n)], "tags": [TAGS[i % 3] for i in range(n)]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def kind_of(dataset, name):
    return next(kind for kind in dataset.encoder.kinds if kind.name == name)


def values(dataset, name):
    return dataset.X[:, dataset.feature_names.index(name)].tolist()


def written(number, decimal, thousands, places):
    """Return a number in a style: groups of three, a decimal sign, so many places."""
    whole, _, rest = f"{abs(number):,.{places}f}".partition(".")
    sign = "-" if number < 0 else ""
    return sign + whole.replace(",", thousands) + (decimal + rest if places else "")


STYLES = [
    (d, t) for d in ".," for t in ("", ",", ".", " ", "\u00a0", "\u202f", "'", "’", "_") if d != t
]
AFFIXES = [
    ("", ""),
    ("$", ""),
    ("", " €"),
    ("CHF ", ""),
    ("", "%"),
    ("", " min"),
    ("", "kg"),
    ("£ ", ""),
]


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20),
    st.sampled_from(STYLES),
    st.sampled_from([1, 2]),
    st.sampled_from(AFFIXES),
)
def test_numbers_in_any_style_are_read_back(hundredths, style, places, affixes):
    true = [round(number / 10**places, places) for number in hundredths]
    before, after = affixes
    cells = []
    for number in true:
        text = written(number, *style, places)
        sign = "-" if text.startswith("-") else ""
        cells.append(sign + before + text.removeprefix("-") + after)
    np.testing.assert_allclose(numbers(*cells), true)
    assert not found(*cells).both


@given(st.lists(st.integers(1, 10**7), min_size=1), st.sampled_from([",", "."]))
def test_whole_numbers_with_several_groups_decide_for_a_column(whole, thousands):
    cells = [written(number, "", thousands, 0) for number in [*whole, 1_234_567]]
    assert numbers(*cells) == [*whole, 1_234_567]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_python_writes_is_read_back(floats):
    assert numbers(*map(repr, floats), "0.5") == [*floats, 0.5]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0.63", "0.189"], [0.63, 0.189]),
        (["0,101", "1,100"], [0.101, 1.1]),
        (["1,100", "2,200.5"], [1100, 2200.5]),
        (["12,34,567", "1,234"], [1234567, 1234]),
        (["(1,234.00)", "5-", "−0.4", "+2.5"], [-1234, -5, -0.4, 2.5]),
        (["($ 5)", "-$3", "$ -2", "1"], [-5, -3, -2, 1]),
        (["40-46%", "33 %", "40% – 46%"], [43, 33, 43]),
        (["$5-$10", "$1,000 to $2,000"], [7.5, 1500]),
        (["91 min", "104 mins", "88min."], [91, 104, 88]),
        (["CHF 1'250.50", "990.- Fr."], [1250.5, 990]),
        (["1,2e-5", "3E2"], [1.2e-5, 300]),
        (["$1.2M", "$300K", "$1bn", "$2B"], [1.2e6, 3e5, 1e9, 2e9]),
        (["1.2K", "3M", "500"], [1200, 3e6, 500]),
        (["2,5 Mio. €", "EUR 3"], [2.5e6, 3]),
        (["18-24", "65+"], [21, 65]),
        (["<5.5", "> 7", "~ 40", "≈3", "≤ 2", "ca. 30", "approx. 12"], [5.5, 7, 40, 3, 2, 30, 12]),
        (["1,200 sq ft", "800 sq ft"], [1200, 800]),
        (["12.5% vol", "13% vol."], [12.5, 13]),
        (["7/10", "8.5/10"], [7, 8.5]),
        (["4 out of 5", "2 out of 5"], [4, 2]),
        (["1h 45min", "50 min", "2h", "2 hrs 5 mins"], [105, 50, 120, 125]),
        (["12:30", "7:05", "2:30 PM"], [750, 425, 870]),
        (["1:02:03", "0:59:59"], [3723, 3599]),
        (["3,4", "3.5", "12"], [3.4, 3.5, 12]),
    ],
)
def test_cells_of_a_column_are_read_in_one_way(cells, expected):
    assert numbers(*cells) == pytest.approx(expected)


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "1.10.0", "2.0.11"],
        ["192.168.100.101", "192.168.100.120"],
        ["5-2010", "11-2009"],
        ["2024-12-31", "31.12.2024", "26-Oct-12", "1/2/2020"],
        ["+49 170 1234567", "030 123 456", "555-1234", "555-123-4567"],
        ["T-0003", "A4", "v2", "No. 5"],
        ["3-1", "5-2"],
        ["5 ft 11", "4 x 4", "2 of 5"],
        ["9e3779b1-9e37", "²", "1e999"],
    ],
)
def test_what_only_looks_like_numbers_is_none(cells):
    assert numbers(*cells) == [None] * len(cells)


def test_units_are_not_mixed():
    assert numbers("5 kg", "300 g", "2 kg") == [5, None, 2]
    assert numbers("$5", "€6", "$7") == [5, None, 7]
    assert found("5", "6", "7 min").format.unit == ""  # one cell is no unit of the column
    assert found("5 min", "6 min", "7").format.words == "in min"
    assert numbers("45%", "0.45", "50%") == [45, None, 50]  # which may be 45 % or less than one


def test_both_decimal_signs_are_said_and_never_beside_thousands():
    assert found("3,4", "3.5").format.words == "decimal sign '.' or ','"
    assert found("1,234.5", "2,5").format == NumberFormat(".", ",")
    assert numbers("3,4", "3.5", decimal=",") == [3.4, None]


def test_a_bound_is_said_to_be_read_as_its_number():
    assert found("<5", "7").words == "'<5' is read as the number alone"


def test_a_column_of_groups_of_three_only_has_two_readings():
    assert found("1,234", "2,310").both == "'1,234' is read as 1234, and may be 1.234"
    assert found("1.234", "12.310").both == "'1.234' is read as 1.234, and may be 1234"
    assert numbers("1.234", likely=",") == [1234]
    assert found("1.234", likely=",").both == "'1.234' is read as 1234, and may be 1.234"
    assert numbers("1.234", decimal=",") == [1234]
    assert not found("1.234", decimal=",").both


def test_a_format_reads_a_cell_whatever_the_others_are():
    comma = NumberFormat(",", ".", "min")
    assert [comma.read(cell) for cell in ("1.234", "1,5 min", "2", "1.5", "3 kg")] == [
        1234,
        1.5,
        2,
        None,
        None,
    ]


def test_two_readings_are_said_and_decided_by_other_columns(tmp_path):
    cells = [f"{1 + i},{100 + 7 * i}" for i in range(9)]
    with pytest.warns(
        UserWarning, match=r"column 'a': '1,100' is read as 1100, and .* 1\.1; .*decimal"
    ):
        dataset = read_table(table(tmp_path, a=cells), tags="tags")
    assert "'1,100' is read as 1100, and may be 1.1" in kind_of(dataset, "a").why
    with pytest.warns(UserWarning, match=r"columns? 'a': '1,100' is read as 1.1, and may be 1100"):
        dataset = read_table(table(tmp_path, a=cells, b=["0,5", "1,75", "2"] * 3), tags="tags")
    assert values(dataset, "a")[0] == 1.1


def test_money_minutes_and_percent_are_numbers(tmp_path):
    money = ["$3,400,000", "$950,000", "$12,000,000"] * 3
    path = table(
        tmp_path, money=money, time=["91 min", "104 min", "88 min"] * 3, score=["76%"] * 8 + ["5%"]
    )
    dataset = read_table(path, tags="tags", number=["money", "score"])
    assert values(dataset, "money")[:3] == [3.4e6, 9.5e5, 1.2e7]
    assert values(dataset, "time")[:3] == [91, 104, 88]
    assert kind_of(dataset, "time").why == "in min"
    assert values(dataset, "score")[-2:] == [76, 5]


def test_mixed_units_are_no_numbers_unless_asked_for(tmp_path):
    path = table(tmp_path, weight=["5 kg", "300 g", "2 kg"] * 4)
    assert kind_of(read_table(path, tags="tags"), "weight").kind == "category"
    with pytest.warns(
        UserWarning, match=r"holds '300 g' in row 2, expected a number; 4 such cells"
    ):
        dataset = read_table(path, tags="tags", number=["weight"])
    assert kind_of(dataset, "weight").why.startswith("as given, in kg")


def test_words_that_recur_among_numbers_are_missing_and_said(tmp_path):
    cells = [str(100 + 37 * i % 61) for i in range(93)] + ["unknown"] * 4 + ["tba"] * 3
    with pytest.warns(
        UserWarning, match=r"holds 'unknown' in row 94, .*; 7 such cells count as mis"
    ):
        dataset = read_table(table(tmp_path, a=cells), tags="tags")
    kind = kind_of(dataset, "a")
    assert kind.kind == "number"
    assert kind.missing == ("unknown", "tba")
    assert "'unknown', 'tba' taken for missing" in kind.why
    known = table(tmp_path, "known.jsonl", a=["unknown", "5", "6"])
    dataset.reading.read(known, with_labels=False)  # without a warning
    with pytest.warns(UserWarning, match=r"holds 'much' in row 2, expected a number; this cell"):
        dataset.reading.read(table(tmp_path, a=["unknown", "much"]), with_labels=False)


def test_many_words_among_numbers_are_categories(tmp_path):
    sizes = ["38", "40", "42", "S", "M", "L"] * 5
    assert kind_of(read_table(table(tmp_path, size=sizes), tags="tags"), "size").kind == "category"


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_training_decides_how_numbers_of_further_files_are_written(tmp_path, suffix):
    def write(name, cells):
        if suffix == "jsonl":
            return table(tmp_path, f"{name}.jsonl", a=cells, more=["0.5"] * len(cells))
        path = tmp_path / f"{name}.csv"
        rows = [f"{cell};0.5;{i % 7};{TAGS[i % 3]}" for i, cell in enumerate(cells)]
        path.write_text("\n".join(["a;more;other;tags", *rows]))
        return path

    train = write("train", ["0,5", "1.250,75", "3"] * 4)
    reading = read_table(train, tags="tags").reading
    alone = reading.read(write("alone", ["1.234"]), with_labels=False)
    among = reading.read(write("among", ["1.234", "7", "8,5"]), with_labels=False)
    assert values(alone, "a") == [1234]
    assert values(among, "a") == [1234, 7, 8.5]
    with pytest.warns(
        UserWarning, match=r"'a' holds '1\.5' in .*expected a number; this cell counts"
    ):
        reading.read(write("strange", ["1.5", "7"]), with_labels=False)


def test_whole_numbers_of_a_file_with_decimal_commas_may_get_some(tmp_path):
    train = table(tmp_path, a=["0,5", "1,75", "3"] * 4, b=["1", "2", "3"] * 4)
    reading = read_table(train, tags="tags").reading
    read = reading.read(table(tmp_path, "n.jsonl", a=["1", "2"], b=["2,5", "3"]), with_labels=False)
    assert values(read, "b") == [2.5, 3]


def test_two_readings_of_a_table_of_numbers_are_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;l\n1,234;0\n2,500;1\n")
    with pytest.warns(UserWarning, match=r"column 'a': '1,234' is read as 1234, and may be 1.234"):
        assert read_csv(path, ["l"]).X[:, 0].tolist() == [1234, 2500]
