"""The walls between the rooms of the package: who may import what.

The table "Where things are" in CONTRIBUTING.md says it; here the imports are read and compared.
"""

import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "labelcover"
SOURCE = ROOT / "src" / PACKAGE
OWN_FILES = "_*.py"  # the row of the files beside the rooms whose names start with an underscore


@dataclass(frozen=True)
class Row:
    """What a room may use: None stands for all rooms, or for any library."""

    rooms: frozenset[str] | None
    libraries: frozenset[str] | None


@dataclass(frozen=True)
class Import:
    """A module or a name that a file imports, by its full name."""

    line: int
    name: str


def read_table(text):
    """Return the row of every room of the table, in the order: room, question, rooms, libraries."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if "rooms it may use" in line) + 2
    rows = [cells(line) for line in takewhile(lambda line: line.startswith("|"), lines[start:])]
    every_room = {row[0].strip("`") for row in rows}
    table = {}
    for room, _, rooms, libraries in rows:
        table[room.strip("`")] = Row(
            allowed_rooms(rooms, every_room),
            None if libraries == "any" else frozenset(names(libraries)),
        )
    return table


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def names(cell):
    """Return the names between commas; a dash means none."""
    return {name.strip().strip("`") for name in cell.split(",")} - {"–"}


def allowed_rooms(cell, every_room):
    if cell == "all":
        return None
    if cell.startswith("all but "):
        return frozenset(every_room - names(cell.removeprefix("all but ")))
    return frozenset(names(cell))


def room_of(file, source):
    """Return the table's name for the room of a file: its first folder, or itself."""
    first, *rest = file.relative_to(source).parts
    if rest:
        return f"{first}/"
    return OWN_FILES if re.match("_(?!_)", first) else first


def imports_of(file, source):
    """Yield every import of a file, wherever it stands, by full names."""
    package = (source.name, *file.relative_to(source).parent.parts)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (Import(node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and called(node).endswith("import_module"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant):  # a name that is computed cannot be read here
                yield Import(node.lineno, first.value)


def called(node):
    """Return the last part of the name of what is called; nothing where it has none."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def file_of(name, source):
    """Return the file that an import of the package reads; the last part may be a name in it."""
    place = source
    for part in name.split(".")[1:]:
        if (place / part).is_dir():
            place = place / part
        elif (place / f"{part}.py").exists():
            return place / f"{part}.py"
        else:
            break
    return place / "__init__.py"


def is_private(name):
    return any(re.match("_(?!_)", part) for part in name.split("."))


def wall_breaks(source, table):
    """Return a line for every import that the table does not allow."""
    found = []
    for file in sorted(source.rglob("*.py")):
        room = room_of(file, source)
        if room not in table:
            found.append(f"{file.relative_to(source)}: the table has no row for {room}")
            continue
        for imported in imports_of(file, source):
            problem = forbidden(imported.name, file, table[room], source)
            if problem:
                found.append(f"{file.relative_to(source)}:{imported.line}: {room} {problem}")
    return found


def forbidden(name, file, row, source):
    """Return what is wrong with importing `name` into `file`, or None."""
    room, top = room_of(file, source), name.split(".")[0]
    if top != source.name:
        if top in sys.stdlib_module_names or row.libraries is None or top in row.libraries:
            return None
        return f"may not use {top}"
    from_file = file_of(name, source)
    other = room_of(from_file, source)
    if other in (room, OWN_FILES):
        return None
    if row.rooms is not None and other not in row.rooms:
        return f"may not use {other} ({name})"
    if file.stem.endswith("_kernels") and from_file.stem.endswith("_kernels"):
        return None  # a compiled loop can call another one only where it is defined
    return f"may not use the private {name}" if is_private(name) else None


def missing_rooms(source, table):
    """Return the rooms of the table that are not there."""
    here = {room_of(file, source) for file in source.rglob("*.py")}
    return sorted(set(table) - here)


def near_twins(source):
    """Return groups of files and folders whose names differ only in a folder or an underscore."""
    by_name = defaultdict(list)
    for file in sorted(source.rglob("*.py")):
        if file.name != "__init__.py":
            by_name[file.stem.lstrip("_")].append(str(file.relative_to(source)))
    for folder in sorted({file.parent for file in source.rglob("*.py")} - {source}):
        by_name[folder.name.lstrip("_")].append(f"{folder.relative_to(source)}/")
    return [group for group in by_name.values() if len(group) > 1]


@pytest.fixture(scope="module")
def table():
    return read_table((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_every_import_is_allowed_by_the_table(table):
    found = wall_breaks(SOURCE, table)
    assert not found, "\n".join(found)


def test_every_room_of_the_table_exists(table):
    assert missing_rooms(SOURCE, table) == []


def test_no_two_files_differ_only_in_an_underscore_or_a_folder():
    found = near_twins(SOURCE)
    assert not found, "\n".join(map(" and ".join, found))


def compiled_files(source):
    return [f for f in sorted(source.rglob("*.py")) if "@njit" in f.read_text(encoding="utf-8")]


def test_compiled_functions_are_in_files_that_end_in_kernels():
    others = [f for f in compiled_files(SOURCE) if not f.stem.endswith("_kernels")]
    assert not others, "\n".join(str(f.relative_to(SOURCE)) for f in others)


def test_compiled_files_import_only_compiled_files_of_the_package():
    """Or the cache of the tests would not notice an edit of what they import."""
    noticed = [f for f in SOURCE.rglob("*.py") if b"njit" in f.read_bytes()]
    found = [
        f"{file.relative_to(SOURCE)}:{imported.line}: {imported.name}"
        for file in compiled_files(SOURCE)
        for imported in imports_of(file, SOURCE)
        if imported.name.startswith(f"{PACKAGE}.") and file_of(imported.name, SOURCE) not in noticed
    ]
    assert not found, "\n".join(found)


TABLE = """
| room | it answers | rooms it may use | libraries |
|---|---|---|---|
| `below/` | What? | – | numpy |
| `above/` | Which? | `below/`, `alone.py` | numpy, sklearn |
| `alone.py` | Whether? | – | – |
| `top.py` | How? | all | any |
| `wide.py` | When? | all but `top.py` | any |
| `_*.py` | Own files | – | – |

| another | table |
|---|---|
"""


def tree(folder, files):
    """Write a package `small` of these files and return its folder."""
    source = folder / "small"
    rooms = ["below/__init__.py", "below/_inner.py", "below/open.py", "above/__init__.py"]
    every = dict.fromkeys([*rooms, "alone.py", "top.py", "wide.py", "_own.py"], "")
    for name, text in (every | files).items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    return source


def test_the_table_is_read():
    small = read_table(TABLE)
    assert set(small) == {"below/", "above/", "alone.py", "top.py", "wide.py", "_*.py"}
    assert small["above/"] == Row(
        frozenset({"below/", "alone.py"}), frozenset({"numpy", "sklearn"})
    )
    assert small["alone.py"] == Row(frozenset(), frozenset())
    assert small["top.py"] == Row(None, None)
    assert small["wide.py"].rooms == frozenset({"below/", "above/", "alone.py", "wide.py", "_*.py"})


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("above/a.py", "import os.path\nimport numpy as np\nfrom sklearn.base import clone"),
        ("above/a.py", "from small.below import thing\nfrom small import alone, _own"),
        ("above/a.py", "from small.below.open import thing\nimport small._own"),
        ("above/a.py", "from . import b\nfrom .b import c\nfrom ..below import open"),
        ("above/deep/a.py", "from small.above._inner import x\nfrom .._inner import x"),
        ("below/a.py", "from small.below._inner import x"),
        ("top.py", "import torch\nfrom small.wide import x\nfrom small.below.open import y"),
        ("wide.py", "from small.above import x"),
        ("above/_a_kernels.py", "from small.below._b_kernels import f"),
    ],
)
def test_what_the_table_allows_passes(tmp_path, file, text):
    source = tree(
        tmp_path, {"above/_inner.py": "", "above/b.py": "", "below/_b_kernels.py": "", file: text}
    )
    assert wall_breaks(source, read_table(TABLE)) == []


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("below/a.py", "import sklearn.base", "below/ may not use sklearn"),
        ("below/a.py", "from small.above import x", "below/ may not use above/ (small.above.x)"),
        ("below/a.py", "from small import above", "below/ may not use above/ (small.above)"),
        ("below/a.py", "import small.above", "below/ may not use above/ (small.above)"),
        ("below/a.py", "from ..above import x", "below/ may not use above/ (small.above.x)"),
        ("below/a.py", "from .. import alone", "below/ may not use alone.py (small.alone)"),
        ("below/__init__.py", "from ..above import x", "below/ may not use above/ (small.above.x)"),
        ("below/a.py", "def f():\n    import torch", "below/ may not use torch"),
        ("below/a.py", "if TYPE_CHECKING:\n    import torch", "below/ may not use torch"),
        (
            "below/a.py",
            "importlib.import_module('small.above')",
            "below/ may not use above/ (small.above)",
        ),
        (
            "above/a.py",
            "from small.below._inner import x",
            "above/ may not use the private small.below._inner.x",
        ),
        (
            "above/a.py",
            "from small.below import _inner",
            "above/ may not use the private small.below._inner",
        ),
        (
            "top.py",
            "from small.below.open import _x",
            "top.py may not use the private small.below.open._x",
        ),
        ("wide.py", "from small.top import x", "wide.py may not use top.py (small.top.x)"),
        ("_own.py", "import small.alone", "_*.py may not use alone.py (small.alone)"),
        ("new/a.py", "", "the table has no row for new/"),
    ],
)
def test_what_the_table_does_not_allow_is_found(tmp_path, file, text, message):
    found = wall_breaks(tree(tmp_path, {file: text}), read_table(TABLE))
    assert len(found) == 1
    assert found[0].startswith(file)
    assert found[0].endswith(message)


def test_rooms_that_went_away_are_found(tmp_path):
    source = tree(tmp_path, {})
    (source / "alone.py").unlink()
    assert missing_rooms(source, read_table(TABLE)) == ["alone.py"]


@pytest.mark.parametrize(
    ("files", "group"),
    [
        (["below/search.py", "below/_search.py"], ["below/_search.py", "below/search.py"]),
        (["below/search.py", "above/search.py"], ["above/search.py", "below/search.py"]),
        (["above/below.py"], ["above/below.py", "below/"]),
        (["above/deep/a.py", "below/deep/b.py"], ["above/deep/", "below/deep/"]),
    ],
)
def test_names_that_differ_only_in_a_folder_or_an_underscore_are_found(tmp_path, files, group):
    assert near_twins(tree(tmp_path, dict.fromkeys(files, ""))) == [group]


def test_other_names_are_no_twins(tmp_path):
    assert near_twins(tree(tmp_path, {"below/search.py": "", "below/search_kernels.py": ""})) == []
