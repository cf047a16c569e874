"""Figure 1: the simulation is exact where it can be counted, and Lemma 1 bounds what it says."""

from itertools import combinations

import numpy as np
import pytest

from labelcover.covers.bounds import pair_coverage_probability
from labelcover.experiments._paper.coverage_figure import (
    coverage_curves,
    curve_sizes,
    draw_curves,
    simulated_coverage,
)
from labelcover.experiments._paper.paper_tables import Sheet
from labelcover.experiments._paper.reproduce import Reproduction


def plain_coverage(m, k, size, *, replacement, draws, seed):
    """The same simulation, labelset by labelset, in plain Python."""
    random = np.random.default_rng(seed)
    sets = list(combinations(range(m), k))
    hits = 0
    for _ in range(draws):
        chosen = random.choice(len(sets), size, replace=replacement)
        pairs = {pair for j in chosen for pair in combinations(sets[j], 2)}
        hits += len(pairs) == m * (m - 1) // 2
    return hits / draws


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("m", "k", "size"), [(5, 3, 6), (6, 3, 12), (7, 4, 9)])
def test_the_simulation_agrees_with_a_plain_one(m, k, size, replacement):
    ours = simulated_coverage(m, k, [size], replacement=replacement, draws=4000)[0]
    plain = plain_coverage(m, k, size, replacement=replacement, draws=1500, seed=1)
    assert abs(ours - plain) < 4 * np.sqrt(0.25 / 1500 + 0.25 / 4000)


def test_without_replacement_it_is_the_share_that_can_be_counted():
    """With m = 6, k = 3 and 15 of 20 labelsets: 1 − 15·16/C(20, 5), see docs/paper-notes.md."""
    found = simulated_coverage(6, 3, [15], replacement=False, draws=20_000)[0]
    assert found == pytest.approx(0.9845, abs=0.004)
    assert pair_coverage_probability(6, 3, 15) == pytest.approx(0.587, abs=0.001)


def test_the_bound_holds_with_replacement_and_fails_without():
    curves = coverage_curves(draws=3000, panels={6: (3,), 9: (3, 4)})
    error = 4 * np.sqrt(0.25 / 3000)
    assert (curves["with replacement"] <= curves["bound"] + error).all()
    assert (curves["without replacement"] > curves["bound"] + error).any()


def test_sizes_run_to_where_the_bound_is_nearly_certain():
    sizes = curve_sizes(14, 4)
    assert sizes[0] == 1
    assert pair_coverage_probability(14, 4, sizes[-1]) >= 0.999
    assert pair_coverage_probability(14, 4, sizes[-1] - 1) < 0.999


def test_a_panel_for_each_m_and_a_line_for_each_k():
    figure = draw_curves(coverage_curves(draws=20, panels={5: (3,), 6: (3, 4)}))
    assert [axes.get_title() for axes in figure.axes] == ["m = 5 labels", "m = 6 labels"]
    assert [len(axes.lines) for axes in figure.axes] == [3, 6]


def test_more_labelsets_than_there_are_cannot_be_drawn_without_replacement():
    with pytest.raises(ValueError, match="larger sample than population"):
        simulated_coverage(5, 3, [11], replacement=False)


def test_the_page_explains_letters_and_names_of_methods_where_they_stand(tmp_path):
    sheets = [
        Sheet("Table 9", ["data set", "k", "σ", "DD-BALANCOR", "EPS"], [["a"] * 5]),
        Sheet("Sizes", ["data set", "rows"], [["a", "2"]]),
    ]
    Reproduction("table9", sheets).write_page(tmp_path / "page.html")
    first, second = (tmp_path / "page.html").read_text(encoding="utf-8").split("Sizes</h3>")
    for text in (
        "k: number of labels in a labelset.",
        "σ: number of labelsets.",
        "DD-BALANCOR: BALANCOR, dependent labels together.",
        "EPS: ensemble of pruned sets.",
    ):
        assert text in first
        assert text not in second
    assert "balanced cover of all pairs" not in first


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_letters_of_the_figure_can_be_read_on_any_page(
    browser, overflowing, tmp_path, width, scheme
):
    path = tmp_path / "page.html"
    curves = coverage_curves(draws=20, panels={6: (3,), 9: (3, 4)})
    sheet = Sheet("Figure 1: σ random labelsets", [], [], ["Lines: the bound."])
    Reproduction("figure1", [sheet]).write_page(path, curves=curves)
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(path.as_uri())
    heights = page.evaluate(
        """() => [...document.querySelectorAll("svg text")].map(text => {
             const turned = text.getScreenCTM();
             return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(turned.a, turned.b);
           })"""
    )
    found = page.evaluate(overflowing)
    page.close()
    assert not found
    assert min(heights) >= 8, sorted(heights)[:3]
