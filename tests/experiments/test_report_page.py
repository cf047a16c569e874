"""The report as a reader sees it: opened in a real browser, on a phone and on a desk.

`conftest.py` says which browser.
"""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from labelcover import LabelCoverClassifier, RakelClassifier, _picture_style
from labelcover.covers import Cover
from labelcover.datasets import Dataset, load
from labelcover.experiments._report import comparison_page as page_module
from labelcover.experiments._report import page_parts
from labelcover.experiments._report.page_parts import HERE
from labelcover.experiments._running import cover_file
from labelcover.experiments.comparing import compare
from labelcover.methods import BinaryRelevanceClassifier

WIDTHS = (390, 1280)
LONG = "a_name_of_85_characters_that_an_export_of_a_database_gives_to_a_column_of_tags_{:05d}"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A real comparison of four methods, one of which fails, on two data sets."""
    full = load("debtags-words")
    small = Dataset(
        "debtags, some <rows> & labels",
        full.X[:200],
        full.Y[:200, :6],
        full.feature_names,
        full.label_names[:6],
        full.categorical,
        description=full.description,
    )
    other = Dataset(
        "more",
        full.X[200:350],
        full.Y[200:350],
        full.feature_names,
        [LONG.format(j) for j in range(full.Y.shape[1])],
        full.categorical,
    )
    methods = {
        "RAKEL": RakelClassifier(size=6),
        "a method with quite a long name": RakelClassifier(k=2, threshold=0.4),
        "LabelCover": LabelCoverClassifier(),
        "BR": BinaryRelevanceClassifier(),
        "fails": LabelCoverClassifier(k="seven"),
    }
    folder = tmp_path_factory.mktemp("report")
    command = "labelcover compare some.csv more.csv --methods " + ",".join(methods) + " -o out"
    return compare(methods, [small, other], folder, n_folds=3, command=command).report


@pytest.fixture
def open_page(browser, report):
    """Open the report; afterwards no error was logged and no request left the page."""
    contexts, errors, requests = [], [], []

    def open_at(width, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report.as_uri())
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert errors == []
    assert set(requests) <= {report.as_uri()}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_overflows(open_page, overflowing, width):
    page = open_page(width, "light")
    assert page.evaluate(overflowing) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(overflowing) == []


def test_long_names_leave_room_for_pictures_and_scores(open_page):
    page = open_page(390)
    shares = page.evaluate(
        """() => [...document.querySelectorAll("svg")].map((svg) => {
          const drawn = [...svg.querySelectorAll("path, use")]
            .map((part) => part.getBoundingClientRect());
          const left = Math.min(...drawn.map((box) => box.left));
          const right = Math.max(...drawn.map((box) => box.right));
          return (right - left) / svg.getBoundingClientRect().width;
        })"""
    )
    assert min(shares) > 0.5
    widths = page.evaluate(
        """() => [...document.querySelectorAll("tbody th:first-child")]
          .map((cell) => cell.getBoundingClientRect().width)"""
    )
    assert max(widths) < 390 / 2
    assert LONG.format(3) in page.locator("body").inner_text(), "in tables names are whole"


def column(page, heading):
    """Return the values of a column of the first table, from top to bottom."""
    return page.evaluate(
        """(heading) => {
          const table = document.querySelector("table.sortable");
          const cells = [...table.tHead.rows[0].cells];
          const at = cells.findIndex((cell) => cell.textContent.trim() === heading);
          return [...table.tBodies[0].rows].map((row) => row.cells[at].dataset.value
            ?? row.cells[at].textContent.trim());
        }""",
        heading,
    )


def test_a_heading_sorts_the_table_both_ways(open_page):
    page = open_page(1280)
    before = column(page, "micro-F1")
    button = page.locator("table.sortable").first.get_by_role("button", name="micro-F1")
    button.click()
    values = [float(value) for value in column(page, "micro-F1")]
    good = values[:-1]
    assert np.isnan(values[-1]), "what failed comes last"
    assert good == sorted(good, reverse=True), "the best first"
    assert [float(v) for v in before if v != "nan"] != good, "the order was another one before"
    assert page.locator('th[aria-sort="descending"]').count() == 1
    button.click()
    values = [float(value) for value in column(page, "micro-F1")]
    assert values[:-1] == sorted(good)
    assert np.isnan(values[-1])
    page.locator("table.sortable").first.get_by_role("button", name="method").click()
    names = [name.split()[0].lower() for name in column(page, "method")]
    assert names == sorted(names)


def test_the_table_can_be_sorted_with_the_keyboard(open_page):
    page = open_page(390)
    button = page.locator("table.sortable").first.get_by_role("button", name="Hamming loss")
    button.focus()
    page.keyboard.press("Enter")
    values = [float(value) for value in column(page, "Hamming loss")][:-1]
    assert values == sorted(values), "of a loss the smallest is best and comes first"


def test_every_picture_has_a_text_alternative(open_page):
    page = open_page(1280)
    pictures_found = page.evaluate(
        """() => [...document.querySelectorAll("svg")].map((svg) => ({
          role: svg.getAttribute("role"),
          texts: svg.getAttribute("aria-labelledby").split(" ")
            .map((id) => document.getElementById(id).textContent),
        }))"""
    )
    assert len(pictures_found) >= 6
    for picture in pictures_found:
        assert picture["role"] == "img"
        assert all(len(text) > 15 for text in picture["texts"])
    assert page.evaluate("document.querySelectorAll('img, canvas').length") == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_the_page_tells_what_was_compared_and_how_to_repeat_it(open_page):
    text = open_page(1280).locator("body").inner_text()
    for piece in (
        "debtags, some <rows> & labels",
        "labelcover compare some.csv more.csv",
        "Friedman test",
        "critical difference",
        "F1 of each label",
        "Dependence between labels",
        "labelsets of",
        "scikit-learn",
        "kfold-3",
        "fails failed in 3 of 3 fits",
        "RakelClassifier(random_state=0, size=6)",
    ):
        assert piece in text, piece


def test_colours_follow_the_theme(open_page):
    seen = {}
    for scheme in ("light", "dark"):
        page = open_page(390, scheme)
        seen[scheme] = page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
                      getComputedStyle(document.querySelector("svg text")).fill]"""
        )
    light, dark = seen["light"], seen["dark"]
    assert light[0] != dark[0]
    assert light[1] != dark[1]


def test_names_beside_points_are_moved_apart():
    places = np.array([0.1, 0.5, 0.5, 0.51, 0.99])
    moved = page_parts.spread_out(places, (0.0, 1.0), 0.1)
    assert (np.diff(moved) >= 0.1 - 1e-9).all()
    assert moved[0] == pytest.approx(0.1)
    assert moved[-1] <= 0.95 + 1e-9


def test_ticks_are_round_and_inside():
    assert page_parts.nice_ticks(0.3, 4) == [0.5, 1, 2, 5]
    assert page_parts.nice_ticks(0.001, 1000) == pytest.approx([1e-3, 1e-2, 0.1, 1, 10, 100, 1000])


@pytest.mark.parametrize("low", [0.011, 0.3, 1.3, 2.6, 770.0])
@pytest.mark.parametrize("times", [1.0, 1.3, 1.6, 4.0])
def test_an_axis_of_time_has_two_to_six_ticks(low, times):
    ticks = page_parts.nice_ticks(low, low * times)
    assert 2 <= len(ticks) <= 6
    assert all(float(f"{tick:.2g}") == pytest.approx(tick) for tick in ticks)


def test_one_labelset_is_one(tmp_path):
    path = cover_file(tmp_path, "few", "RAKEL")
    path.parent.mkdir(parents=True, exist_ok=True)
    Cover([[0, 1]], 2).save(path)
    few = Dataset("few", np.eye(2), np.eye(2, dtype=np.uint8), ["x", "z"], ["a", "b"], np.zeros(2))
    picture = page_module._cover(0, few, pd.DataFrame({"method": ["RAKEL"]}), tmp_path)
    assert picture["text"].startswith("1 labelset of 2 out of 2 labels")


@pytest.mark.parametrize(("n_labels", "n_labelsets"), [(2, 1), (5, 4), (30, 150), (200, 500)])
def test_the_axis_of_a_cover_counts_labelsets(n_labels, n_labelsets):
    labelsets = [[j % n_labels, (j + 1) % n_labels] for j in range(n_labelsets)]
    cover = Cover(labelsets, n_labels)
    figure = page_parts.cover_picture(cover, [f"label {j}" for j in range(n_labels)])
    ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert ticks[0] == "1"
    assert ticks[-1] == str(min(n_labelsets, page_parts.MOST_LABELSETS))
    assert [int(tick) for tick in ticks] == sorted({int(tick) for tick in ticks})
    top, bottom = cover.plot().axes
    for axis in (top.yaxis, bottom.yaxis):
        assert all(float(tick).is_integer() for tick in axis.get_majorticklocs())


def test_a_heat_map_of_few_labels_is_small_and_letters_are_of_one_size():
    random = np.random.default_rng(0)
    sides, shares = [], []
    for m in (3, 5, 40):
        names = [f"tag {j}" for j in range(m)]
        figure = page_parts.dependence_picture(random.integers(0, 2, size=(50, m)), names)
        sides.append(figure.get_figwidth())
        svg = page_parts.to_svg(figure, "d", "A title", "Some text")
        width = float(re.search(r"max-width: ([\d.]+)rem", svg)[1])
        shares.append(width / figure.get_figwidth())
    assert sides[0] < sides[1] < page_parts.WIDTH / 2
    assert sides[2] == page_parts.WIDTH
    assert max(shares) - min(shares) < 0.1


def test_pictures_of_commands_have_the_colours_of_the_pages():
    css = (HERE / "style.css").read_text(encoding="utf-8")
    light = css[: css.index("@media")]
    for name, colour in (
        ("ink", _picture_style.INK),
        ("line", _picture_style.FAINT),
        ("accent", _picture_style.ACCENT),
        ("second", _picture_style.SECOND),
        ("card", _picture_style.PAPER),
    ):
        assert f"--{name}: {colour};" in light
    _, bottom = Cover([[0, 1], [1, 2]], 3).plot().axes
    assert bottom.patches[0].get_facecolor() == to_rgba(_picture_style.ACCENT)
