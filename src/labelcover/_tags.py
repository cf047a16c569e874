"""Tags as people write them, as a table of zeros and ones: lists, sets and separated strings."""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._tag_separators import (
    MARKS,
    Separators,
    Tags,
    UnclearSeparators,
    found_separators,
    separators_of_known,
    with_phrases,
)

#: What separates predicted tags: the first of these that is part of no tag.
BETWEEN_TAGS = (";", "|", ",", "\t", "\n")
# A string in quotes, in a list as Python, JSON or NumPy print it.
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'" + r'|"(?:[^"\\]|\\.)*"')
# A list, a tuple or a set as Python prints it, or an array of a database, without its strings.
LIST = re.compile(r"\[[^][]*\]|\([^()]*\)|\{[^{}]*\}")
ASIDE = re.compile(r"\([^(),'\"]+\)")  # brackets that are part of a tag
EMPTY_SET = "set()"
OBJECTS = re.compile(r"\[\s*\{.*\}\s*\]|\[\s*\]|\{\s*[\"'].*:.*\}|\{\s*\}", re.DOTALL)
ANGLED = re.compile(r"(?:<[^<>]+>\s*)+")  # <python><numpy>, as question sites write tags
COMMA = Separators((",",))
LISTS = list | tuple | np.ndarray


def separated_tags(
    cells: Sequence[str | None],
    separator: str | Sequence[str] | Separators | None = None,
    marks: Iterable[str] = MARKS,
) -> tuple[list[Tags], Separators]:
    """Return the tags of each cell, each once, and what separates them: given, or found.

    None has no tags. Cells may be lists as Python, JSON or NumPy print them, or Python's tuples and
    sets, as they are in a CSV file that was written from a column of lists; nothing separates
    these.

    Raises
    ------
    UnreadableTags
        If all cells are such lists but one of them cannot be read.
    UnclearSeparators
        If there are two ways to read the cells, each about as likely.

    Examples
    --------
    >>> from labelcover._tags import separated_tags
    >>> separated_tags(["rain, wind", None])
    ([['rain', 'wind'], []], Separators(marks=(',',), phrases=(), listed=False))
    """
    listed = listed_tags(cells)
    if listed is not None:
        return listed, Separators((), listed=True)
    if isinstance(separator, Separators):
        separators = separator
    elif separator is None:
        separators = found_separators(cells, marks)
    else:
        separators = with_phrases(cells, as_marks(separator))
    known = {cell: separators.split(cell or "") for cell in dict.fromkeys(cells)}
    return [list(known[cell]) for cell in cells], separators


def as_marks(separator: str | Sequence[str]) -> tuple[str, ...]:
    """Return what is given as `separator` as a tuple: one string, or several; none is allowed.

    Raises
    ------
    ValueError
        If one of them is empty.
    """
    marks = (separator,) if isinstance(separator, str) else tuple(separator)
    for mark in marks:
        if not isinstance(mark, str) or not mark:
            raise ValueError(f"separator must be one or more characters, got {mark!r}.")
    return marks


def free_separator(tags: Iterable[str], wanted: str = BETWEEN_TAGS[0]) -> str:
    """Return what to write between tags: what is wanted, or the first mark that is part of no tag.

    Examples
    --------
    >>> from labelcover._tags import free_separator
    >>> free_separator(["rain; heavy", "wind", "fog"])
    '|'
    """
    held = set("".join(tags))
    marks = (wanted, *BETWEEN_TAGS)
    return next((mark for mark in marks if held.isdisjoint(mark)), BETWEEN_TAGS[0])


def in_order(tags: Iterable[str]) -> list[str]:
    """Return tags sorted, as numbers if all of them are.

    Examples
    --------
    >>> from labelcover._tags import in_order
    >>> in_order(["10", "9", "100"]), in_order(["wind", "10", "9"])
    (['9', '10', '100'], ['10', '9', 'wind'])
    """
    plain = sorted(tags)
    try:
        return sorted(plain, key=float)
    except ValueError:
        return plain


def tag_table(
    rows: Sequence[Collection[str]],
    names: Sequence[str] | None = None,
    *,
    as_sparse: bool = False,
) -> tuple[Any, list[str]]:
    """Return the table of zeros and ones of rows of tags, and its columns: the tags in order.

    Parameters
    ----------
    rows : sequence of collections of str
    names : sequence of str, optional
        Take these columns; other tags are passed over. By default all tags that occur, sorted.
    as_sparse : bool
        Return a CSR array instead of a dense one.

    Examples
    --------
    >>> from labelcover._tags import tag_table
    >>> tag_table([["wind", "rain"], [], ["rain"]])
    (array([[1, 1],
           [0, 0],
           [1, 0]], dtype=uint8), ['rain', 'wind'])
    """
    columns = in_order({tag for row in rows for tag in row}) if names is None else list(names)
    at = {name: j for j, name in enumerate(columns)}
    found = [sorted({at[tag] for tag in row if tag in at}) for row in rows]
    starts = np.cumsum([0, *map(len, found)])
    labels = np.fromiter((j for row in found for j in row), dtype=np.int32, count=starts[-1])
    ones = np.ones(len(labels), dtype=np.uint8)
    table = sparse.csr_array((ones, labels, starts), shape=(len(rows), len(columns)))
    return table if as_sparse else table.toarray(), columns


def read_tags(
    Y: Any,
    name: str = "Y",
    known: Collection[str] | None = None,
    *,
    may_be_empty: bool = False,
) -> list[Tags] | None:
    """Return the tags of each row if `Y` holds tags; None if it may be a table.

    Tags are a sequence with a list, tuple, set or array of strings for each row, or a column of
    strings in which they are separated; a missing cell of such a column has no tags. Strings are
    read so that most tags are `known`, if these are given: few rows do not show what separates.

    Raises
    ------
    ValueError
        If a row of tags holds anything but strings, if no row has a tag (unless `may_be_empty`), or
        if rows have different lengths and hold no strings.

    Examples
    --------
    >>> from labelcover._tags import read_tags
    >>> read_tags([{"rain"}, [], ("wind", "rain")])
    [['rain'], [], ['wind', 'rain']]
    >>> read_tags([[0, 1], [1, 0]]) is None
    True
    """
    cells = _cells(Y)
    if cells is None:
        return None
    if any(isinstance(cell, str) for cell in cells):
        rows = _rows_of_strings(cells, name, known)
    elif any(map(_is_tags, cells)):
        rows = [_row_of_tags(i, cell, name) for i, cell in enumerate(cells)]
    elif cells and all(not len(c) if isinstance(c, LISTS) else _is_missing(c) for c in cells):
        rows = [[] for _ in cells]
    else:
        lengths = [len(cell) for cell in cells if isinstance(cell, LISTS)]
        if len(lengths) == len(cells) and len(set(lengths)) > 1:  # no table has such rows
            row = next(i for i, length in enumerate(lengths) if length != lengths[0])
            raise ValueError(
                f"{name} must be a table of zeros and ones, or rows of tags that are strings, got "
                f"{lengths[0]} values in row 0, {lengths[row]} in row {row}, and no strings."
            )
        return None
    if not any(rows) and not may_be_empty:
        raise ValueError(f"{name} holds no tag in its {len(rows)} rows, expected at least one.")
    return rows


def _cells(Y: Any) -> list[Any] | None:
    """Return the rows of what may be tags, else None: tables have two dimensions."""
    if isinstance(Y, list | tuple):
        return list(Y)
    # A series of pandas or polars, or an array of objects; not a table, nor a column of numbers.
    if isinstance(Y, np.ndarray):
        return Y.tolist() if Y.ndim == 1 and Y.dtype.kind in "OUT" else None
    is_series = hasattr(Y, "to_list") and len(getattr(Y, "shape", ())) == 1
    return list(Y.to_list()) if is_series else None


def _is_tags(cell: Any) -> bool:
    """Tell whether a row can only be tags: a set, or a list that holds a string."""
    holds_string = isinstance(cell, LISTS) and any(isinstance(tag, str) for tag in cell)
    return holds_string or isinstance(cell, set | frozenset)


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or the missing value of pandas."""
    is_nan = isinstance(cell, float) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def _rows_of_strings(cells: list[Any], name: str, known: Collection[str] | None) -> list[Tags]:
    strings: list[str | None] = []
    for i, cell in enumerate(cells):
        if not isinstance(cell, str) and not _is_missing(cell):
            raise ValueError(
                f"{name} must hold strings of separated tags in every row, got {cell!r} in row {i}."
            )
        strings.append(cell if isinstance(cell, str) else None)
    if known is not None:
        return separated_tags(strings, separators_of_known(strings, known))[0]
    try:
        rows, separators = separated_tags(strings)
    except UnclearSeparators as error:
        raise ValueError(
            f"{name} holds strings whose {error}; give lists of tags instead, such as "
            f"[cell.split(',') for cell in {name}]."
        ) from None
    if separators.phrases:
        warnings.warn(
            f"{name}: {separators.told_phrases()}; give lists of tags to have it otherwise.",
            UserWarning,
            stacklevel=2,
        )
    return rows


def _row_of_tags(i: int, cell: Any, name: str) -> Tags:
    if not isinstance(cell, LISTS | set | frozenset):
        raise ValueError(
            f"{name} must hold a list or set of tags in every row, got {cell!r} in row {i}; a row "
            "without tags is []."
        )
    for tag in cell:
        if not isinstance(tag, str):
            raise ValueError(f"{name} must hold tags that are strings, got {tag!r} in row {i}.")
    # "".split(",") is [""], which is no tag, and "rain, wind".split(",") leaves a blank.
    return distinct_tags(cell)


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
    >>> from labelcover._tags import listed_tags
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
        return [distinct_tags(re.findall(r"<([^<>]+)>", cell)) for cell in plain]
    if any(":" in cell for cell in filled) and all(map(OBJECTS.fullmatch, filled)):
        return [_names(i, cell) for i, cell in enumerate(plain)]
    are_lists = all(cell == EMPTY_SET or LIST.fullmatch(QUOTED.sub("", cell)) for cell in filled)
    if are_lists and not all(map(ASIDE.fullmatch, filled)):
        return [_listed(i, cell.removeprefix("set")) for i, cell in enumerate(plain)]
    return None


def _listed(i: int, cell: str) -> Tags:
    """Return the tags of a list that is written out."""
    inside = cell[1:-1]
    quoted, others = QUOTED.findall(inside), QUOTED.sub("", inside).replace(",", "").strip()
    if not quoted or (others and cell[0] == "{"):  # a database quotes only what it must
        return COMMA.split(inside)
    if others:
        raise UnreadableTags(i, f"the list [{inside}], in which only some tags are in quotes")
    return distinct_tags(map(_unquoted, quoted))


def _names(i: int, cell: str) -> Tags:
    """Return the names of a list of objects: what they have as name, else their only string."""
    objects: Any = None
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            objects = read(cell or "[]")
            break
    if isinstance(objects, dict):
        if all(isinstance(value, bool | int | float) for value in objects.values()):
            return distinct_tags(str(name) for name, value in objects.items() if value)
        objects = [objects]
    if not isinstance(objects, list) or not all(isinstance(each, dict) for each in objects):
        raise UnreadableTags(i, f"{cell}, which is no list of JSON objects")
    names = []
    for each in objects:
        named = [value for value in each.values() if isinstance(value, str)]
        named = [each["name"]] if isinstance(each.get("name"), str) else named
        if len(named) != 1:
            text = f"the object {each}, which has no name and not one string only"
            raise UnreadableTags(i, text)
        names += named
    return distinct_tags(names)


def distinct_tags(tags: Iterable[str]) -> Tags:
    """Return tags without blanks around them, each once."""
    return list(dict.fromkeys(plain for tag in tags if (plain := tag.strip())))


def _unquoted(string: str) -> str:
    """Return what a string in quotes says; JSON has escapes of its own, for emoji and slashes."""
    if string[0] == '"':
        with suppress(ValueError):
            return str(json.loads(string))
    return str(ast.literal_eval(string))
