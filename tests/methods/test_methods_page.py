"""The page of methods is that of the classes that there are."""

import re
from pathlib import Path

import pytest

from labelcover.experiments.named_methods import METHODS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(load_tool):
    return load_tool("make_methods_table")


def test_the_page_is_up_to_date(tool):
    assert (ROOT / "docs" / "methods.md").read_text(encoding="utf-8") == tool.page()


def test_every_named_method_has_a_row_with_its_name(tool):
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", tool.page(), re.MULTILINE))
    assert sorted(rows) == sorted(tool.offered_classes())
    for name, kind in METHODS.items():
        assert rows[kind.__name__] == name


def test_a_class_without_an_entry_is_noticed(tool, monkeypatch):
    monkeypatch.delitem(tool.ENTRIES, "BinaryRelevanceClassifier")
    with pytest.raises(ValueError, match="an entry for BinaryRelevanceClassifier"):
        tool.page()
