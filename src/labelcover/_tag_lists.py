"""Lists of tags that are written out in a cell: as Python, JSON or NumPy print them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from labelcover._tag_separators import Separators, Tags

# A string in quotes, in a list as Python, JSON or NumPy print it.
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'" + r'|"(?:[^"\\]|\\.)*"')
LIST = re.compile(r"\[[^][]*\]")
# A tuple or a set as Python prints it, or an array of a database, without its strings.
TUPLE_OR_SET = re.compile(r"\([^()]*\)|\{[^{}]*\}")
ASIDE = re.compile(r"\([^(),'\"]+\)")  # brackets that are part of a tag
EMPTY_SET = "set()"
OBJECTS = re.compile(r"\[\s*\{.*\}\s*\]|\[\s*\]|\{\s*[\"'].*:.*\}|\{\s*\}", re.DOTALL)
ANGLED = re.compile(r"(?:<[^<>]+>\s*)+")  # <python><numpy>, as question sites write tags
COMMA = Separators((",",))


class UnreadableTags(ValueError):
    """A cell of tags that cannot be read, and in which row it is."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(f"Y must hold tags in every row, got {text} in row {row}.")
        self.row, self.text = row, text


def listed_tags(cells: Sequence[str | None]) -> list[Tags] | None:
    """Return the tags of each cell if all that are filled are lists, else None.

    Of a list of JSON objects the name of each is a tag; of an object that has numbers or truth
    values, each name whose value is not 0 or false.

    Raises
    ------
    UnreadableTags
        If all cells are lists but one of them cannot be read.

    Examples
    --------
    >>> from labelcover._tag_lists import listed_tags
    >>> listed_tags(["['rain', 'wind']", "['rain' 'fog']", "[]", None, "[18, 35]"])
    [['rain', 'wind'], ['rain', 'fog'], [], [], ['18', '35']]
    >>> listed_tags(['[{"id": 18, "name": "Drama"}]', "<Drama><War>"]) is None
    True
    """
    plain = [(cell or "").strip() for cell in cells]
    filled = [cell for cell in plain if cell]
    if not filled:
        return None
    if all(map(ANGLED.fullmatch, filled)):
        return [_distinct(re.findall(r"<([^<>]+)>", cell)) for cell in plain]
    if any(":" in cell for cell in filled) and all(map(OBJECTS.fullmatch, filled)):
        return [_names(i, cell) for i, cell in enumerate(plain)]
    if all(map(_is_list, filled)) and not all(map(ASIDE.fullmatch, filled)):
        return [_listed(i, cell.removeprefix("set")) for i, cell in enumerate(plain)]
    return None


def _is_list(cell: str) -> bool:
    """Tell whether a cell is a list, a tuple or a set that is written out."""
    bare = QUOTED.sub("", cell)
    return cell == EMPTY_SET or any(kind.fullmatch(bare) for kind in (LIST, TUPLE_OR_SET))


def _listed(i: int, cell: str) -> Tags:
    """Return the tags of a list that is written out."""
    inside = cell[1:-1]
    quoted = QUOTED.findall(inside)
    if not quoted:
        return COMMA.split(inside)
    if QUOTED.sub("", inside).replace(",", "").strip():
        if cell[0] == "{":  # a database quotes only what it must
            return COMMA.split(inside)
        raise UnreadableTags(i, f"the list [{inside}], in which only some tags are in quotes")
    return _distinct(map(_unquoted, quoted))


def _names(i: int, cell: str) -> Tags:
    """Return the names of a list of objects: what they have as name, else their only string."""
    objects: Any = None
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            objects = read(cell or "[]")
            break
    if isinstance(objects, dict):
        if all(isinstance(value, bool | int | float) for value in objects.values()):
            return _distinct(str(name) for name, value in objects.items() if value)
        objects = [objects]
    if not isinstance(objects, list) or not all(isinstance(each, dict) for each in objects):
        raise UnreadableTags(i, f"{cell}, which is no list of JSON objects")
    return _distinct(_name(i, each) for each in objects)


def _name(i: int, of: dict[str, Any]) -> str:
    strings = [value for value in of.values() if isinstance(value, str)]
    if isinstance(of.get("name"), str):
        return str(of["name"])
    if len(strings) != 1:
        raise UnreadableTags(i, f"the object {of}, which has no name and not one string only")
    return strings[0]


def _distinct(tags: Any) -> Tags:
    return list(dict.fromkeys(plain for tag in tags if (plain := tag.strip())))


def _unquoted(string: str) -> str:
    """Return what a string in quotes says; JSON has escapes of its own, for emoji and slashes."""
    if string[0] == '"':
        with suppress(ValueError):
            return str(json.loads(string))
    return str(ast.literal_eval(string))
