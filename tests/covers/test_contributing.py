"""CONTRIBUTING shows the real code of a strategy and of a learner."""

import ast
import re
from pathlib import Path

import pytest

from labelcover.covers import _strategies as strategies
from labelcover.learners._c45 import c45_classifier

ROOT = Path(__file__).resolve().parents[2]


def functions(source):
    """The functions and methods of a module without their docstrings, by name."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = ast.unparse(node)
    return found


def shown_in(heading):
    """The functions that a section of CONTRIBUTING shows."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    (snippet,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return functions(snippet)


@pytest.mark.parametrize(
    ("heading", "module", "names"),
    [
        ("How to add a cover strategy", strategies, ["inlac_cover"]),
        ("How to add a learner", c45_classifier, ["fit_problems"]),
    ],
    ids=["strategy", "learner"],
)
def test_the_example_is_the_real_code(heading, module, names):
    shown = shown_in(heading)
    real = functions(Path(module.__file__).read_text(encoding="utf-8"))
    assert list(shown) == names
    assert shown == {name: real[name] for name in names}
