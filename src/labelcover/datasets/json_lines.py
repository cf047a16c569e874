"""The columns of a JSON lines file, read by Arrow after a look at what would take it too far."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np

from labelcover.datasets.dataset import DataError
from labelcover.datasets.file_limits import check_bytes, check_not_blank, opened
from labelcover.datasets.growing_blocks import in_growing_blocks, reason
from labelcover.datasets.mixed_encodings import whole_lines

if TYPE_CHECKING:
    import pyarrow as pa

# Arrow needs ever longer for nested values, and crashes on some ten thousand levels.
DEEPEST = 100
# Arrow's bytes for each key in each line, whether the line has it or not.
CELL_BYTES = 16
KEY = re.compile(rb'"([^"\\]*)"\s*:')
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.S)
OPENING, CLOSING = np.frombuffer(b"[{", np.uint8), np.frombuffer(b"]}", np.uint8)
EXPECTED = "expected JSON lines, each an object with the same kinds of values"


def read_json(path: str | os.PathLike[str]) -> pa.Table:
    """Return the columns of a JSON lines file.

    Raises
    ------
    DataError
        If the file is no JSON lines, is nested too deeply, or has so many keys that a table of all
        lines and keys would take more memory than it may.
    """
    import pyarrow as pa
    from pyarrow import json

    _check(path)

    def read(block_size: int) -> pa.Table:
        with opened(path) as file:
            options = json.ReadOptions(block_size=block_size)
            return json.read_json(pa.PythonFile(file, "r"), options)

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
            keys.update(KEY.findall(block))
            what = f"a table of {n_lines} lines and {len(keys)} keys"
            check_bytes(path, CELL_BYTES * n_lines * len(keys), what)


def _check_depth(path: str | os.PathLike[str], block: bytes, n_lines: int) -> None:
    signs = np.frombuffer(block, np.uint8)
    opened_here = np.cumsum(np.isin(signs, OPENING))
    ends = np.append(np.flatnonzero(signs == ord("\n")), len(signs) - 1)
    most = np.diff(opened_here[ends], prepend=0)
    if most.max() <= DEEPEST:
        return
    starts = np.append(0, ends[:-1] + 1)
    for at in np.flatnonzero(most > DEEPEST).tolist():
        line = STRING.sub(b"", block[starts[at] : ends[at] + 1])
        signs = np.frombuffer(line, np.uint8)
        depth = np.cumsum(np.isin(signs, OPENING).astype(int) - np.isin(signs, CLOSING))
        if depth.max(initial=0) > DEEPEST:
            said = f"values nested {depth.max()} deep, expected at most {DEEPEST}."
            raise DataError(path, said, n_lines + at + 1)
