"""Dates as people write them, one order a column: read back, or not taken for dates."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.datasets import read_table
from labelcover.tables._date_cells import find_dates

ENGLISH = "January February March April May June July August September October November December"
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
SHORT = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
SHORT_GERMAN = "Jän. Feb. Mär. Apr. Mai Jun. Jul. Aug. Sept. Okt. Nov. Dez."
SHORT_FRENCH = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
NAMES = [text.split() for text in (ENGLISH, GERMAN, FRENCH, SHORT, SHORT_GERMAN, SHORT_FRENCH)]
STYLES = [
    lambda d, m: f"{d:%Y-%m-%d}",
    lambda d, m: f"{d:%Y/%m/%d}",
    lambda d, m: f"{d:%d.%m.%Y}",
    lambda d, m: f"{d.day}.{d.month}.{d:%y}",
    lambda d, m: f"{d:%d/%m/%Y}",
    lambda d, m: f"{d:%m/%d/%y}",
    lambda d, m: f"{d.month}-{d.day}-{d.year}",
    lambda d, m: f"{d.day:02d}-{m}-{d:%y}",
    lambda d, m: f"{d.day}. {m} {d.year}",
    lambda d, m: f"{d.day} {m} {d.year}",
    lambda d, m: f"{m} {d.day}, {d.year}",
    lambda d, m: f"{d:%A}, {d.day} {m} {d.year}",
    lambda d, m: f"{m} {d.day}th, {d.year}",
    lambda d, m: f"{d.year}-{m}-{d.day:02d}",
]
CLOCKS = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", ", %I:%M:%S %p"]
# One that shows the order wherever it has to be shown.
CLEAR = datetime(1999, 12, 31, 13, 59, 58)


def read(*cells, **known):
    written = find_dates(list(cells), [1] * len(cells), **known).format
    days = [written.read(cell) for cell in cells]
    return [
        None if day is None else datetime.fromtimestamp(day, UTC).replace(tzinfo=None)
        for day in days
    ]


@given(
    st.lists(st.datetimes(datetime(1950, 1, 1), datetime(2049, 12, 31)), min_size=1, max_size=9),
    st.sampled_from(STYLES),
    st.sampled_from(NAMES),
    st.sampled_from(CLOCKS),
)
def test_dates_in_any_style_are_read_back(times, style, names, clock):
    times = [time.replace(microsecond=0) for time in [*times, CLEAR]]
    cells = [style(time, names[time.month - 1]) + time.strftime(clock) for time in times]
    parts = {"hour": 0, "minute": 0, "second": 0}
    if clock:
        parts = {} if "%S" in clock else {"second": 0}
    assert read(*cells) == [time.replace(**parts) for time in times]


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["26-Oct-12", "14-Mar-17", "01-Jan-99"], ["2012-10-26", "2017-03-14", "1999-01-01"]),
        (["12/31/2019", "03/04/2019"], ["2019-12-31", "2019-03-04"]),
        (["31/12/2019", "03/04/2019"], ["2019-12-31", "2019-04-03"]),
        (["99-12-31", "01-02-03"], ["1999-12-31", "2001-02-03"]),
        (["1er février 2021", "mar. 5 mars 2012"], ["2021-02-01", "2012-03-05"]),
        (["Mar 5, 2012", "Mar. 14, 2017"], ["2012-03-05", "2017-03-14"]),
        (["Di. 26.10.2012 14:30 Uhr"], ["2012-10-26T14:30"]),
        (
            ["2024-12-31T23:59:59.123Z", "2024-12-31 23:59+02:00"],
            ["2024-12-31T23:59:59", "2024-12-31T21:59"],
        ),
        (["5/6/2020 12:05 a.m.", "13/6/2020 12:05pm"], ["2020-06-05T00:05", "2020-06-13T12:05"]),
        (["Oct-12", "Mai-97", "Sept. '03"], ["2012-10-01", "1997-05-01", "2003-09-01"]),
        (["05/2021", "11.1999", "1-2003"], ["2021-05-01", "1999-11-01", "2003-01-01"]),
        (["20241231", "19990101"], ["2024-12-31", "1999-01-01"]),
        (
            ["Wed Oct 10 20:19:24 +0000 2018", "Mon Jan  5 10:11:12 2015"],
            ["2018-10-10T20:19:24", "2015-01-05T10:11:12"],
        ),
        (["Oktober 2012", "2003-05", "1998"], ["2012-10-01", "2003-05-01", "1998-01-01"]),
    ],
)
def test_the_order_follows_from_all_cells(cells, days):
    assert read(*cells) == [datetime.fromisoformat(day) for day in days]


@pytest.mark.parametrize(
    "cell",
    ["31.2.2024", "12:30", "1.2.3", "192.168.1.1", "26 Foo 2012", "May 12", "0000-00-00", "99999"],
)
def test_what_no_calendar_has_is_no_date(cell):
    assert read(cell) == [None]


def test_a_column_that_shows_no_order_has_two_readings():
    found = find_dates(["05/06/2020", "01/01/2020"], [1, 1])
    assert found.both == (
        "'05/06/2020' is read as 2020-06-05, day first, and may be 2020-05-06, month first"
    )
    assert read("05/06/2020", likely="mdy") == [datetime(2020, 5, 6)]
    for cell in ("05.06.2020", "26-Oct-12", "2020-05-06", "01/01/2020"):
        assert not find_dates([cell], [1]).both


def table(folder, **columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    rows = [{**row, "n": i % 7, "tags": "pq"[i % 2]} for i, row in enumerate(rows)]
    path = folder / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def days_of(dataset, name):
    newest = dataset.encoder.encoders[0].newest
    at = dataset.feature_names.index(f"{name} (age in days)")
    oldest = date(1970, 1, 1) + timedelta(seconds=newest)
    return [oldest - timedelta(days=age) for age in dataset.X[:, at]]


@pytest.mark.parametrize("given", [[], ["day"]])
def test_dates_with_short_names_of_months_are_dates(tmp_path, given):
    cells = ["26-Oct-12", "14-Mar-17", "01-Jan-99", "31-Dec-65"] * 3
    dataset = read_table(table(tmp_path, day=cells), tags="tags", date=given)
    kind = dataset.encoder.kinds[0]
    assert (kind.kind, kind.why) == ("date", "such as '26-Oct-12'")
    assert days_of(dataset, "day")[:2] == [date(2012, 10, 26), date(2017, 3, 14)]
    assert dataset.ids is None


def test_years_are_dates_among_dates_and_else_numbers(tmp_path):
    years = ["1998", "2003", "2010", "1987"] * 3
    dataset = read_table(
        table(tmp_path, day=["2003-05-12", *years], year=["1999", *years]), tags="tags"
    )
    assert [kind.kind for kind in dataset.encoder.kinds[:2]] == ["date", "number"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_months_and_days_without_signs_are_dates_not_numbers(tmp_path, suffix):
    rows = [(f"{1 + i % 12:02d}.{2001 + i}", f"{2001 + i}{1 + i % 12:02d}17") for i in range(20)]
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        lines = [f"{month},{day},{'pq'[i % 2]}" for i, (month, day) in enumerate(rows)]
        path.write_text("\n".join(["month,day,tags", *lines]))
    else:
        cells = [{"month": m, "day": int(d), "tags": "pq"[i % 2]} for i, (m, d) in enumerate(rows)]
        path.write_text("\n".join(map(json.dumps, cells)))
    dataset = read_table(path, tags="tags")
    assert [kind.kind for kind in dataset.encoder.kinds] == ["date", "date"]
    years = dataset.X[:, dataset.feature_names.index("month (year)")]
    assert years.tolist() == list(range(2001, 2021))
    again = dataset.reading.read(path, with_labels=False)
    assert (again.X == dataset.X).all()
    if suffix == "csv":  # a row alone, whose month looks like a number
        path.write_text("month,day\n11.2011,20111117\n")
        assert (dataset.X[10] == dataset.reading.read(path, with_labels=False).X).all()


def test_two_readings_of_dates_are_said_and_decided_by_other_columns(tmp_path):
    cells = ["05/06/2020", "01/02/2020", "11/12/2020"] * 3
    message = r"column 'a': '05/06/2020' is read as 2020-06-05, day first, and may be 2020-05-06"
    with pytest.warns(UserWarning, match=message):
        dataset = read_table(table(tmp_path, a=cells), tags="tags")
    assert days_of(dataset, "a")[0] == date(2020, 6, 5)
    with pytest.warns(UserWarning, match="is read as 2020-05-06, month first"):
        dataset = read_table(
            table(tmp_path, a=cells, b=["12/31/2020"] * 8 + ["1/1/2020"]), tags="tags"
        )
    assert days_of(dataset, "a")[0] == date(2020, 5, 6)


def test_training_decides_the_order_of_further_files(tmp_path):
    reading = read_table(
        table(tmp_path, a=["12/31/2020", "1/2/2020", "5/6/2021"] * 3), tags="tags"
    ).reading
    read = reading.read(table(tmp_path, a=["3/4/2020"]), with_labels=False)
    assert read.X[0, read.feature_names.index("a (month = May)")] == 0
    with pytest.warns(UserWarning, match=r"'a' holds '31/12/2020' in row 1, expected a date; this"):
        reading.read(table(tmp_path, a=["31/12/2020"]), with_labels=False)
