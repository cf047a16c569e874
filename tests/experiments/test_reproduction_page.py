"""The tables of docs/reproduction.md are those of the results file beside it."""

from pathlib import Path

import pytest

from labelcover.experiments._paper.paper_tables import compared
from labelcover.experiments.results import read_results

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def tool(load_tool):
    return load_tool("make_reproduction_tables")


def test_the_page_has_the_tables_of_the_results_file(tool):
    results = read_results(DOCS / "results" / "paper-folds.csv")
    frames = {table: compared(table, results) for table in tool.TABLES}
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert tool.page(text, tool.parts(frames)) == text


def test_a_row_counts_when_it_has_all_its_folds(tool):
    results = read_results(DOCS / "results" / "paper-folds.csv")
    first = results[(results["dataset"] == "emotions") & (results["fold"] < 9)]
    with_nine = tool.parts({table: compared(table, first) for table in tool.TABLES})
    assert "emotions" not in with_nine["state"]


def test_a_page_without_marks_is_refused(tool):
    with pytest.raises(ValueError, match=r"needs the marks <!-- state: begin -->"):
        tool.page("no marks", {"state": "nothing"})
