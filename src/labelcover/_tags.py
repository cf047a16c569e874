"""Tags as people write them, as a table of zeros and ones: lists, sets and separated strings."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

#: What separates the tags of a cell, if it is not said. A space is not among them, as many tags
#: are several words.
SEPARATORS = (";", "|", ",", "\t", "\n")
# A string in quotes, in a list as Python, JSON or NumPy print it.
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'" + r'|"(?:[^"\\]|\\.)*"')
LIST = re.compile(r"\[[^][]*\]")
# A tuple or a set as Python prints it, without its strings; brackets may also be part of a tag.
TUPLE_OR_SET = re.compile(r"\([\s,]*\)|\{[\s,]*\}")
EMPTY_SET = "set()"

Tags = list[str]


class UnreadableTags(ValueError):
    """A cell of tags that cannot be read, and in which row it is."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(f"Y must hold tags in every row, got {text} in row {row}.")
        self.row, self.text = row, text


def find_separator(cells: Iterable[str | None]) -> str:
    """Return what separates the tags of cells, ``";"`` if nothing does.

    Of the marks that occur it is the one by which tags recur the most, as a mark that is part of a
    tag leaves pieces of several tags together; of equals the one in most cells.

    Examples
    --------
    >>> from labelcover._tags import find_separator
    >>> find_separator(["rain, wind", "snow", None, "fog, wind; light"])
    ','
    >>> find_separator(["rain, heavy; wind", "rain, heavy; fog", "rain, heavy", "wind; fog"])
    ';'
    """
    filled = [cell for cell in cells if cell]
    counts = Counter(mark for cell in filled for mark in SEPARATORS if mark in cell)
    if len(counts) < 2:
        return next(iter(counts), SEPARATORS[0])

    def recurrence(mark: str) -> tuple[float, int]:
        tags = Counter(tag for row in split_tags(filled, mark) for tag in row)
        return tags.total() / max(len(tags), 1), counts[mark]

    # The first of equals, in the order of SEPARATORS.
    return max((mark for mark in SEPARATORS if mark in counts), key=recurrence)


def separated_tags(
    cells: Sequence[str | None], separator: str | None = None
) -> tuple[list[Tags], str]:
    """Return the tags of each cell, and what separates them: as given, or found out.

    Cells may be lists as Python, JSON or NumPy print them, or Python's tuples and sets, as they are
    in a CSV file that was written from a column of lists.

    Raises
    ------
    UnreadableTags
        If all cells are such lists but one of them cannot be read.

    Examples
    --------
    >>> from labelcover._tags import separated_tags
    >>> separated_tags(["rain, wind", None])
    ([['rain', 'wind'], []], ',')
    >>> separated_tags(["['rain', 'wind']", "['rain' 'fog']", "[]"])
    ([['rain', 'wind'], ['rain', 'fog'], []], ';')
    """
    plain = [(cell or "").strip() for cell in cells]
    if any(plain) and all(_is_list(cell) for cell in plain if cell):
        rows = [_listed(i, cell.removeprefix("set")[1:-1]) for i, cell in enumerate(plain)]
        return rows, separator or free_separator(rows)
    separator = find_separator(cells) if separator is None else separator
    return split_tags(cells, separator), separator


def free_separator(rows: Iterable[Tags]) -> str:
    """Return the first of the separators that is part of no tag; ``";"`` if there is none.

    Examples
    --------
    >>> from labelcover._tags import free_separator
    >>> free_separator([["rain; heavy", "wind"], ["fog"]])
    '|'
    """
    held = set().union(*(tag for row in rows for tag in row))
    return next((mark for mark in SEPARATORS if mark not in held), SEPARATORS[0])


def _is_list(cell: str) -> bool:
    """Tell whether a cell is a list, a tuple or a set that is written out."""
    bare = QUOTED.sub("", cell)
    return cell == EMPTY_SET or any(kind.fullmatch(bare) for kind in (LIST, TUPLE_OR_SET))


def _listed(i: int, inside: str) -> Tags:
    """Return the tags of a list that is written out, without its brackets."""
    quoted = QUOTED.findall(inside)
    if not quoted:
        return split_tags([inside], ",")[0]
    if QUOTED.sub("", inside).replace(",", "").strip():
        raise UnreadableTags(i, f"the list [{inside}], in which only some tags are in quotes")
    tags = [_unquoted(string).strip() for string in quoted]
    return list(dict.fromkeys(tag for tag in tags if tag))


def _unquoted(string: str) -> str:
    """Return what a string in quotes says; JSON has escapes of its own, for emoji and slashes."""
    if string[0] == '"':
        with suppress(ValueError):
            return str(json.loads(string))
    return str(ast.literal_eval(string))


def split_tags(cells: Iterable[str | None], separator: str) -> list[Tags]:
    """Return the tags of each cell without blanks around them, each once; None has no tags.

    Examples
    --------
    >>> from labelcover._tags import split_tags
    >>> split_tags(["rain; wind ;rain", "", None], ";")
    [['rain', 'wind'], [], []]
    """
    return [
        list(dict.fromkeys(tag for part in (cell or "").split(separator) if (tag := part.strip())))
        for cell in cells
    ]


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
    columns = sorted({tag for row in rows for tag in row}) if names is None else list(names)
    at = {name: j for j, name in enumerate(columns)}
    found = [sorted({at[tag] for tag in row if tag in at}) for row in rows]
    starts = np.cumsum([0, *map(len, found)])
    labels = np.fromiter((j for row in found for j in row), dtype=np.int32, count=starts[-1])
    ones = np.ones(len(labels), dtype=np.uint8)
    table = sparse.csr_array((ones, labels, starts), shape=(len(rows), len(columns)))
    return table if as_sparse else table.toarray(), columns


def read_tags(Y: Any, name: str = "Y") -> list[Tags] | None:
    """Return the tags of each row if `Y` holds tags; None if it may be a table.

    Tags are a sequence with a list, tuple, set or array of strings for each row, or a column of
    strings in which they are separated; a missing cell of such a column has no tags.

    Raises
    ------
    ValueError
        If a row of tags holds anything but strings, if no row has a tag, or if rows have different
        lengths and hold no strings.

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
        rows = _rows_of_strings(cells, name)
    elif any(_is_tags(cell) for cell in cells):
        rows = [_row_of_tags(i, cell, name) for i, cell in enumerate(cells)]
    elif cells and all(_is_missing(cell) or _is_empty(cell) for cell in cells):
        rows = [[] for _ in cells]
    else:
        _check_lengths(cells, name)
        return None
    if not any(rows):
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
    if isinstance(cell, set | frozenset):
        return True
    return isinstance(cell, list | tuple | np.ndarray) and any(isinstance(t, str) for t in cell)


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN, or the missing value of pandas."""
    if cell is None or isinstance(cell, float):
        return cell is None or cell != cell
    return type(cell).__name__ in ("NAType", "NaTType")


def _is_empty(cell: Any) -> bool:
    return isinstance(cell, list | tuple | np.ndarray) and len(cell) == 0


def _check_lengths(cells: list[Any], name: str) -> None:
    """Raise a ``ValueError`` if rows are lists of different lengths, which no table has."""
    lengths = [len(cell) for cell in cells if isinstance(cell, list | tuple | np.ndarray)]
    if len(lengths) == len(cells) and len(set(lengths)) > 1:
        row = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise ValueError(
            f"{name} must be a table of zeros and ones, or rows of tags that are strings, got "
            f"{lengths[0]} values in row 0, {lengths[row]} in row {row}, and no strings."
        )


def _rows_of_strings(cells: list[Any], name: str) -> list[Tags]:
    strings: list[str | None] = []
    for i, cell in enumerate(cells):
        if not isinstance(cell, str) and not _is_missing(cell):
            raise ValueError(
                f"{name} must hold strings of separated tags in every row, got {cell!r} in row {i}."
            )
        strings.append(cell if isinstance(cell, str) else None)
    return separated_tags(strings)[0]


def _row_of_tags(i: int, cell: Any, name: str) -> Tags:
    if not isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        raise ValueError(
            f"{name} must hold a list or set of tags in every row, got {cell!r} in row {i}; a row "
            "without tags is []."
        )
    for tag in cell:
        if not isinstance(tag, str) or not tag.strip():
            raise ValueError(
                f"{name} must hold tags that are strings and not empty, got {tag!r} in row {i}."
            )
    return list(dict.fromkeys(cell))
