"""The shape of the house: ceilings that may be lowered freely.

Raising one needs a line in docs/decisions.md that says what it bought.
"""

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "labelcover"
FILES = sorted(SOURCE.rglob("*.py"))
# What a dense and a sparse default fit enter, and how often code asks what a view, a learner or a
# table is.
MOST_ENTERED = {"dense": 44, "sparse": 47}
MOST_QUESTIONS = 5
MOST_LOOSE_NAMES = 108
MOST_FILES, MOST_LINES, MOST_FILE_LINES, MOST_KERNELS = 195, 45_100, 450, 177
QUESTIONING = ("ensemble", "learners", "methods", "many_labels", "audit", "chunks")

ENTERED = """
import json, os, sys, threading
import numpy as np
from scipy import sparse
import labelcover
from labelcover import LabelCoverClassifier

random = np.random.default_rng(0)
X = random.normal(size=(120, 8))
Y = (X @ random.normal(size=(8, 5)) > 0).astype(int)
words = sparse.csr_array(random.poisson(0.1, (120, 40)).astype(float))
root = os.path.dirname(labelcover.__file__)

def entered(table):
    LabelCoverClassifier(random_state=0).fit(table, Y)  # what is imported and compiled once
    found = set()
    def called(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            found.add(name)
    sys.setprofile(called)
    threading.setprofile(called)
    LabelCoverClassifier(random_state=0).fit(table, Y)
    sys.setprofile(None)
    threading.setprofile(None)
    return sorted(name[len(root) + 1:] for name in found)

print(json.dumps({"dense": entered(X), "sparse": entered(words)}))
"""


@cache
def trees():
    """Return the parsed files; not when tests are collected, which every process does."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


@pytest.fixture(scope="module")
def entered():
    command = [sys.executable, "-c", ENTERED]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("table", MOST_ENTERED)
def test_a_default_fit_enters_few_files(entered, table):
    assert "ensemble/_plan.py" in entered[table]
    assert len(entered[table]) <= MOST_ENTERED[table]


def own_classes():
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


def questions():
    """Yield where an object is asked whether it is one of our own classes."""
    classes = own_classes()
    for path, tree in trees().items():
        if path.relative_to(SOURCE).parts[0] not in QUESTIONING:
            continue
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id == "isinstance":
                asked = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                if asked & (classes | {"self", "cls"}):  # or by an attribute that holds some
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}"


def test_views_learners_and_tables_are_rarely_asked_what_they_are():
    assert len(list(questions())) <= MOST_QUESTIONS


def test_every_cliff_of_the_default_stands_in_the_plan():
    """Numbers of the plan are read elsewhere only by name, never written again."""
    plan = trees()[SOURCE / "ensemble" / "_plan.py"]
    names = {
        target.id
        for node in plan.body
        if isinstance(node, ast.Assign)
        for each in node.targets
        for target in ast.walk(each)
        if isinstance(target, ast.Name) and target.id.isupper()
        if not isinstance(node.value, ast.Constant) or not isinstance(node.value.value, str)
    }
    assert "WIDE" in names
    again = {
        f"{path.relative_to(SOURCE)}: {target.id}"
        for path, tree in trees().items()
        if path.parent.name == "ensemble" and path.name != "_plan.py"
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in ast.walk(node.targets[0])
        if isinstance(target, ast.Name) and target.id in names
    }
    assert again == set()


def test_the_house_has_few_files_lines_and_kernels():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    kernels = [
        node
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("njit" in ast.unparse(each) for each in node.decorator_list)
    ]
    assert len(FILES) <= MOST_FILES
    assert sum(lines.values()) <= MOST_LINES
    assert max(lines.values()) <= MOST_FILE_LINES
    assert 0 < len(kernels) <= MOST_KERNELS


@pytest.mark.parametrize("word", ["ctypes", "builtins"])
def test_no_file_imports_what_a_library_must_not_touch(word):
    imported = {
        name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(each.name for each in node.names)]
    }
    assert word not in imported


def exported(tree):
    """Return the names of a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def loose_names():
    """Yield top-level names of open modules that are neither exported nor underscored."""
    for path, tree in trees().items():
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        rooms = [trees()[path.parent / "__init__.py"], tree]
        known = set().union(*(exported(each) for each in rooms))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [each.id for t in targets for each in ast.walk(t) if hasattr(each, "id")]
            else:
                continue
            yield from (
                f"{'/'.join(parts)}: {name}"
                for name in names
                if not name.startswith("_") and name not in known
            )


def test_what_is_public_is_exported():
    found = list(loose_names())
    assert len(found) <= MOST_LOOSE_NAMES, "\n".join(found)
