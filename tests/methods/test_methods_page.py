"""The page of methods is that of the classes that there are."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from labelcover.experiments.named_methods import METHODS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    path = ROOT / "tools" / "make_methods_table.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


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
