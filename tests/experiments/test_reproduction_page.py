"""The tables of docs/reproduction.md are those of the results file beside it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labelcover.datasets import load
from labelcover.experiments._fingerprints import method_fingerprint
from labelcover.experiments._paper.paper_fits import table_settings
from labelcover.experiments._paper.paper_tables import compared
from labelcover.experiments.results import read_results

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def tool(load_tool):
    return load_tool("make_reproduction_tables")


def test_the_page_has_the_tables_of_the_results_file(tool):
    results = read_results(DOCS / "results" / "paper-folds.csv")
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert tool.page(text, tool.parts(results)) == text
    for table in tool.TABLES:
        kept = pd.read_csv(DOCS / "results" / f"paper-{table}.csv")
        found = compared(table, results)
        assert kept.shape == found.shape
        np.testing.assert_allclose(kept["ours"], found["ours"], rtol=1e-5)


def test_the_verdicts_say_what_the_results_count(tool):
    text = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    for count in tool.said(read_results(DOCS / "results" / "paper-folds.csv")):
        assert count in text


def test_new_lines_take_the_place_of_old_ones(tool, tmp_path, monkeypatch):
    lines = pd.read_csv(DOCS / "results" / "paper-folds.csv", dtype=str, nrows=2)
    known, new = tmp_path / "known.csv", tmp_path / "new.csv"
    lines.to_csv(known, index=False)
    lines[:1].assign(method_fingerprint="changed").to_csv(new, index=False)
    monkeypatch.setattr(tool, "FOLDS", known)
    assert tool.add(new) == 1
    assert tool.add(new) == 0
    kept = read_results(known)["method_fingerprint"].tolist()
    assert kept == ["changed", lines["method_fingerprint"][1]]


def test_a_row_counts_when_it_has_all_its_folds(tool):
    results = read_results(DOCS / "results" / "paper-folds.csv")
    first = results[(results["dataset"] == "emotions") & (results["fold"] < 9)]
    with_nine = tool.parts(first)
    assert "emotions" not in with_nine["state"]
    assert "emotions" not in with_nine["paired-table7"]


@pytest.mark.parametrize("name", ["emotions", "medical"])
def test_the_results_file_is_resumed(shared_data, name):
    """Lines are of the methods as they are: nothing that has been run is run again."""
    data = load(name)  # emotions is numbers; all features of medical are nominal
    lines = read_results(DOCS / "results" / "paper-folds.csv")
    lines = lines[lines["dataset"] == name].set_index("method")["method_fingerprint"]
    for table in ("table7", "table8", "table10"):
        for setting in table_settings(table, name):
            if setting.name in lines.index:
                assert set(lines[setting.name]) == {method_fingerprint(setting.make(data))}


def test_a_page_without_marks_is_refused(tool):
    with pytest.raises(ValueError, match=r"needs the marks <!-- state: begin -->"):
        tool.page("no marks", {"state": "nothing"})
