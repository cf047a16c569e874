"""The columns of JSON files, lines or an array, after a look at what would take Arrow too far."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.datasets._file_limits import (
    check_bytes,
    check_not_blank,
    in_growing_blocks,
    opened,
    reason,
    whole_lines,
)
from labelcover.tables import DataError, arrow_json, as_table, pa

# Arrow needs ever longer for nested values, and crashes on some ten thousand levels.
DEEPEST = 100
# Arrow's bytes for each key in each line, whether the line has it or not.
CELL_BYTES = 16
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.S)
KEY = re.compile(rb"(%b)\s*:" % STRING.pattern, re.S)
# A part of a line that does not end within a string, as a line may be very long.
PART = re.compile(rb'(?:[^"]{1,1000}+|%b){1,1000}+' % STRING.pattern, re.S)
OPENING = b"[{"
BRACKETS = OPENING + b"]}"
EXPECTED = "expected JSON lines, each an object with the same kinds of values"
VALUE_BYTES = 8  # of Python, for each byte of an array


def read_json(path: str | os.PathLike[str]) -> pa.Table:
    """Return the columns of a JSON lines file.

    Raises
    ------
    DataError
        If the file is no JSON lines, is nested too deeply, or has so many keys that a table of all
        lines and keys would take more memory than it may.
    """
    _check(path)

    def read(block_size: int) -> pa.Table:
        with opened(path) as file:
            options = arrow_json.ReadOptions(block_size=block_size)
            return arrow_json.read_json(pa.PythonFile(file, "r"), options)

    try:
        return in_growing_blocks(read)
    except pa.ArrowException as error:
        # Arrow counts rows from 0, all other messages from 1.
        said = re.sub(r"in row (\d+)$", lambda row: f"in row {int(row[1]) + 1}", reason(error))
        raise DataError(path, f"{said}, {EXPECTED}.") from None


def _check(path: str | os.PathLike[str]) -> None:
    n_lines, keys = 0, set[bytes]()
    with opened(path) as file:
        for block in whole_lines(file):
            check_not_blank(path, block)
            _check_depth(path, block, n_lines)
            n_lines += block.count(b"\n")
            keys.update(found[1] for found in KEY.finditer(block))
            what = f"a table of {n_lines} lines and {len(keys)} keys"
            check_bytes(path, CELL_BYTES * max(1, n_lines) * len(keys), what)


def _check_depth(path: str | os.PathLike[str], block: bytes, n_lines: int) -> None:
    signs = _only(OPENING + b"\n", block)
    ends = np.append(np.flatnonzero(signs == ord("\n")), len(signs))
    n_opened = np.diff(ends, prepend=-1) - 1
    if n_opened.max() <= DEEPEST:
        return
    for number, (line, n) in enumerate(zip(block.split(b"\n"), n_opened, strict=True)):
        if n > DEEPEST and (depth := _depth(line)) > DEEPEST:
            said = f"values nested {depth} deep, expected at most {DEEPEST}."
            raise DataError(path, said, n_lines + number + 1)


def _depth(line: bytes) -> int:
    """Return how deep values are nested; brackets in strings do not count."""
    depth = deepest = 0
    for part in PART.finditer(line):
        signs = _only(BRACKETS, STRING.sub(b"", part[0]))
        if len(signs):
            depths = depth + np.cumsum(np.where(np.isin(signs, list(OPENING)), 1, -1))
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest


def _only(signs: bytes, text: bytes) -> NDArray[np.uint8]:
    """Return the bytes of a text that are among some signs."""
    return np.frombuffer(text.translate(None, bytes(set(range(256)).difference(signs))), np.uint8)


def read_json_array(path: str | os.PathLike[str]) -> pa.Table:
    """Return the columns of a JSON file that holds a list of objects."""
    check_bytes(path, VALUE_BYTES * os.stat(path).st_size, "its values")
    try:
        rows = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"{reason(error)}, expected a JSON array of objects.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(path, "no list of objects, expected a JSON array of objects.")
    return arrow_table(path, rows)


def arrow_table(path: str | os.PathLike[str], rows: Any) -> pa.Table:
    """Return rows of a file, a frame or a list of objects, as columns."""
    if not len(rows):
        raise DataError(path, "no row follows the names, expected at least one.")
    try:
        return as_table(rows).columns
    except DataError as error:
        raise DataError(path, error.text) from None
