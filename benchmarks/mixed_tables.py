"""Ten tables with text beside numbers and categories, made from data that are here.

Four are real: packages of the machine's own Debian index, and functions of installed packages. Five
join real numbers or real words of a data set with a made-up other half, and one is simulated as a
whole; each says which. Labels, numbers and texts are drawn with fixed seeds.
"""

import ast
import re
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from labelcover.datasets import load

PACKAGES = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "networkx", "joblib")
SECTIONS = ("Parameters", "Returns", "Raises", "Notes", "Examples", "See Also", "References")
SIZES = {"installed": "Installed-Size", "size": "Size"}
LISTS = {"depends": "Depends", "recommends": "Recommends", "suggests": "Suggests"}


class MixedTable(NamedTuple):
    """A frame without labels, which of its columns are text, and its labels."""

    frame: pd.DataFrame
    texts: tuple[str, ...]
    Y: Any


def packages() -> MixedTable:
    """6,000 packages, real: description, sizes, numbers of dependencies, section; 20 tags."""
    found = _packages(6000, seed=0)
    frame = pd.DataFrame({"description": [f["Description"].strip() for f in found]})
    return MixedTable(frame.join(_package_numbers(found)), ("description",), _tags(found, 20))


def package_names() -> MixedTable:
    """2,500 packages, real: name, maintainer, sizes, numbers of dependencies; 15 tags."""
    found = _packages(2500, seed=1)
    titles = {
        "name": [re.sub(r"\W+", " ", f["Package"]).strip() for f in found],
        "maintainer": [re.sub(r"<.*", "", f.get("Maintainer", "")).strip() for f in found],
    }
    numbers = _package_numbers(found).drop(columns="section")
    return MixedTable(pd.DataFrame(titles).join(numbers), tuple(titles), _tags(found, 15))


def docstrings() -> MixedTable:
    """2,500 functions, real: description and counts of code; tags are packages and sections."""
    found = _functions(2500, seed=0)
    texts = [
        " ".join(re.split(r"\n\s*\w[\w ]+\n\s*-{3,}", text)[0].split()) for _, _, text in found
    ]
    frame = pd.DataFrame({"description": texts}).join(_code_numbers([node for _, node, _ in found]))
    packages = np.array([[name == own for own in PACKAGES] for name, _, _ in found])
    sections = np.array([[f"{own}\n" in text for own in SECTIONS] for _, _, text in found])
    return MixedTable(frame, ("description",), np.hstack([packages, sections]).astype(int))


def functions() -> MixedTable:
    """2,500 functions, real: name, first line of the docstring, counts; tags are what code does."""
    found = _functions(2500, seed=1)
    nodes = [node for _, node, _ in found]
    titles = {
        "name": [node.name.strip("_").replace("_", " ") for node in nodes],
        "title": [text.strip().split("\n")[0] for _, _, text in found],
    }
    done = (ast.Raise, ast.For, ast.With, ast.Try, ast.Lambda, ast.Assert, ast.Yield, ast.ListComp)
    kinds = [{type(each) for each in ast.walk(node)} for node in nodes]
    Y = np.array([[kind in own for kind in done] for own in kinds]).astype(int)
    return MixedTable(pd.DataFrame(titles).join(_code_numbers(nodes)), tuple(titles), Y)


def emotions_with_titles() -> MixedTable:
    """593 songs, real numbers; three columns of titles drawn at random: numbers say it all."""
    return _with_titles("emotions", 3, seed=0)


def yeast_with_titles() -> MixedTable:
    """2,417 genes, real numbers; two columns of titles drawn at random: numbers say it all."""
    return _with_titles("yeast", 2, seed=1)


def scene_with_captions() -> MixedTable:
    """2,407 pictures, real numbers; made-up captions, of which one word in four is of a label."""
    data, random = load("scene"), np.random.default_rng(2)
    n = len(data.Y)
    words = random.integers(1000, size=(n, 6))
    for i, own in enumerate(data.Y):
        told = random.random(6) < 0.25
        if own.any():
            words[i, told] = 1000 + 20 * random.choice(np.flatnonzero(own), told.sum())
            words[i, told] += random.integers(20, size=told.sum())
    captions = [" ".join(f"word{j}" for j in row) for row in words]
    numbers = pd.DataFrame(data.X, columns=data.feature_names)
    numbers.insert(0, "caption", captions)
    return MixedTable(numbers, ("caption",), data.Y)


def slashdot_with_noise() -> MixedTable:
    """2,500 posts, real words; numbers, categories and titles at random: the posts say it all."""
    data, random = load("slashdot"), np.random.default_rng(3)
    rows = random.permutation(len(data.Y))[:2500]
    noise = {f"number{j}": random.normal(size=2500) for j in range(12)}
    noise |= {f"kind{j}": random.choice(list("abcdefgh"), 2500) for j in range(3)}
    lines = [text.strip().split("\n")[0] for _, _, text in _documented()]
    titles = random.choice(lines, 2500)
    texts = pd.DataFrame({"post": _words(data, rows), "title": titles})
    return MixedTable(texts.join(pd.DataFrame(noise)), ("post", "title"), data.Y[rows])


def medical_with_values() -> MixedTable:
    """978 reports, real words; made-up values that follow from five labels each, with noise."""
    data, random = load("medical"), np.random.default_rng(4)
    n, m = data.Y.shape
    values = {}
    for j in range(8):
        own = random.choice(m, 5, replace=False)
        values[f"value{j}"] = data.Y[:, own] @ random.normal(0, 2, 5) + random.normal(size=n)
    texts = pd.DataFrame({"report": _words(data, np.arange(n))})
    return MixedTable(texts.join(pd.DataFrame(values)), ("report",), data.Y)


def films() -> MixedTable:
    """2,000 films, simulated: steps of numbers and categories decide, three titles say little."""
    random = np.random.default_rng(5)
    n, m = 2000, 12
    numbers = {
        "year": random.integers(1950, 2024, n),
        "minutes": random.normal(105, 20, n).round(),
        "budget": random.lognormal(16, 1.5, n),
        "votes": random.lognormal(8, 2, n),
        "rating": random.normal(6.3, 1, n).round(1),
    }
    kinds = {"country": random.integers(12, size=n), "studio": random.integers(40, size=n)}
    scores = random.normal(0, 0.6, (12, m))[kinds["country"]]
    scores += random.normal(0, 0.6, (40, m))[kinds["studio"]]
    for cells in numbers.values():
        places = np.argsort(np.argsort(cells)) / n
        for _ in range(2):
            low, high = np.sort(random.random((2, m)), axis=0)
            inside = (places[:, None] > low) & (places[:, None] < high)
            scores += inside * random.normal(0, 1.5, m)
    said = random.normal(0, 0.25, (3000, m))
    titles = {}
    for name, width in {"title": 3, "original title": 3, "tagline": 7}.items():
        words = (3000 * random.random((n, width)) ** 2).astype(int)
        scores += said[words].sum(axis=1)
        titles[name] = [" ".join(f"word{j}" for j in row) for row in words]
    Y = scores + random.logistic(size=scores.shape) > np.quantile(scores, 0.8, axis=0)
    frame = pd.DataFrame(
        {**titles, **numbers, **{k: [f"{k}{v}" for v in c] for k, c in kinds.items()}}
    )
    return MixedTable(frame, tuple(titles), Y.astype(int))


TABLES: dict[str, Callable[[], MixedTable]] = {
    made.__name__: made
    for made in (
        packages,
        package_names,
        docstrings,
        functions,
        emotions_with_titles,
        yeast_with_titles,
        scene_with_captions,
        slashdot_with_noise,
        medical_with_values,
        films,
    )
}


def _packages(n: int, seed: int) -> list[dict[str, str]]:
    """Return the fields of some packages that have tags, in an order of chance."""
    command = ["apt-cache", "dumpavail"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        key = ""
        for line in block.split("\n"):
            if line.startswith(" ") and key:
                fields[key] += line
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value
        if "Tag" in fields and "Description" in fields:
            found.append(fields)
    order = np.random.default_rng(seed).permutation(len(found))[:n]
    return [found[i] for i in order]


def _package_numbers(found: list[dict[str, str]]) -> pd.DataFrame:
    sizes = {name: [float(f.get(own, "nan")) for f in found] for name, own in SIZES.items()}
    lists = {name: [f.get(own, "").count(",") for f in found] for name, own in LISTS.items()}
    section = [f.get("Section", "").strip() for f in found]
    return pd.DataFrame({**sizes, **lists, "section": section})


def _tags(found: list[dict[str, str]], n: int) -> Any:
    """Return which of the most frequent tags packages have."""
    own = [set(re.split(r"[,\s]+", re.sub(r"\{[^}]*\}", "", f["Tag"]))) for f in found]
    counts = pd.Series([tag for tags in own for tag in sorted(tags) if "::" in tag]).value_counts()
    names = counts.index[:n]
    return np.array([[name in tags for name in names] for tags in own]).astype(int)


def _functions(n: int, seed: int) -> list[tuple[str, Any, str]]:
    """Return the package, the syntax tree and the docstring of some documented functions."""
    found = _documented()
    order = np.random.default_rng(seed).permutation(len(found))[:n]
    return [found[i] for i in order]


@cache
def _documented() -> list[tuple[str, Any, str]]:
    """Return all documented functions of some packages, tests left out."""
    found: dict[str, tuple[str, Any, str]] = {}
    for package in PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for path in sorted(Path(spec.origin).parent.rglob("*.py")):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                text = ast.get_docstring(node) or "" if isinstance(node, ast.FunctionDef) else ""
                if len(text.split()) >= 8:
                    found.setdefault(text, (package, node, text))
    return list(found.values())


def _code_numbers(nodes: list[Any]) -> pd.DataFrame:
    """Return counts of the code of functions."""
    walked = [list(ast.walk(node)) for node in nodes]
    counted = {"calls": ast.Call, "names": ast.Name, "ifs": ast.If, "returns": ast.Return}
    counts = {
        name: [sum(isinstance(each, kind) for each in own) for own in walked]
        for name, kind in counted.items()
    }
    arguments = [len(node.args.args) + len(node.args.kwonlyargs) for node in nodes]
    lines = [node.end_lineno - node.lineno for node in nodes]
    first = [node.args.args[0].arg if node.args.args else "none" for node in nodes]
    return pd.DataFrame({**counts, "arguments": arguments, "lines": lines, "first": first})


def _with_titles(name: str, n_titles: int, seed: int) -> MixedTable:
    """Return a data set of numbers with titles that have nothing to do with them."""
    data, random = load(name), np.random.default_rng(seed)
    lines = [text.strip().split("\n")[0] for _, _, text in _documented()]
    titles = {f"title{j}": random.choice(lines, len(data.Y)) for j in range(n_titles)}
    numbers = pd.DataFrame(data.X, columns=data.feature_names)
    return MixedTable(pd.DataFrame(titles).join(numbers), tuple(titles), data.Y)


def _words(data: Any, rows: Any) -> list[str]:
    """Return the words of some rows of a table of words, as texts."""
    names = np.array([re.sub(r"\W+", "", name) for name in data.feature_names])
    X = data.X[rows]
    X = X.toarray() if hasattr(X, "toarray") else X
    return [" ".join(names[row > 0]) for row in X]
