"""CONTRIBUTING shows the real code of a strategy."""

import ast
import re
from pathlib import Path

from labelcover.covers import strategies

ROOT = Path(__file__).resolve().parents[2]


def functions(source):
    """The functions of a module without their docstrings, by name."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = ast.unparse(node)
    return found


def test_the_example_of_a_strategy_is_the_real_code():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## How to add a cover strategy")[1].split("\n## ")[0]
    (snippet,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    shown = functions(snippet)
    real = functions(Path(strategies.__file__).read_text(encoding="utf-8"))
    assert list(shown) == ["inlac_cover", "_search"]
    assert shown == {name: real[name] for name in shown}
