"""Benchmarks and tools are run by hand: what they import must be there all the same."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = [
    path.relative_to(ROOT)
    for folder in ("benchmarks", "tools")
    for path in sorted((ROOT / folder).glob("*.py"))
]


@pytest.mark.parametrize("path", SCRIPTS, ids=str)
def test_it_can_be_imported(path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    import_module(".".join(path.with_suffix("").parts))
    # Also what is imported inside its functions.
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("labelcover"):
            module = import_module(node.module)
            missing = [each.name for each in node.names if not _has(module, each.name)]
            assert not missing, f"{path}:{node.lineno}: {node.module} has no {missing}"


def _has(module, name):
    if hasattr(module, name):
        return True
    try:
        import_module(f"{module.__name__}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_the_tables_of_the_quality_page_are_those_of_its_scores(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT))
    page = import_module("benchmarks.quality_page")
    sets = import_module("benchmarks.bench_quality").SETS
    text = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    copy = tmp_path / "quality.md"
    copy.write_text(text, encoding="utf-8")
    page.write_page(ROOT / "docs" / "results" / "quality.csv", copy, sets)
    assert copy.read_text(encoding="utf-8") == text
