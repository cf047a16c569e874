"""Cells that mean: no value."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: What programs and people write into a cell for "no value"; in upper or lower case.
MISSING = (
    "",
    "?",
    "-",
    "--",
    "---",
    "–",
    "—",
    ".",
    "..",
    "NA",
    "N/A",
    "N.A.",
    "N. A.",
    "NaN",
    "-NaN",
    "1.#QNAN",
    "-1.#IND",
    "NaT",
    "NULL",
    "None",
    "(null)",
    "(none)",
    "(blank)",
    "(leer)",
    "<NA>",
    "<null>",
    "<none>",
    "\\N",
    "#NA",
    "#N/A",
    "#N/A N/A",
    "#NV",
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "k.A.",
    "k. A.",
    "keine Angabe",
)
# Sodium, not a missing value.
VALUES = ("Na",)
_LOWER = {marker.lower() for marker in MISSING}
_LONGEST = max(map(len, MISSING))


def is_missing(cell: str) -> bool:
    """Return whether a cell means: no value.

    Examples
    --------
    >>> from labelcover.datasets.missing_cells import is_missing
    >>> [is_missing(cell) for cell in (" ", "n/a", "k. A.", "Na", "0")]
    [True, True, True, False, False]
    """
    cell = cell.strip()
    return len(cell) <= _LONGEST and cell.lower() in _LOWER and cell not in VALUES


def without_markers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of strings with null where a cell means: no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # Long cells are documents: only those that may be markers are looked at.
    short = pc.filter(column, pc.less_equal(pc.binary_length(column), 2 * _LONGEST))
    markers = [
        cell for cell in pc.unique(short).to_pylist() if cell is not None and is_missing(cell)
    ]
    if not markers:
        return column
    found = pc.is_in(column, value_set=pa.array(markers, column.type))
    return pc.if_else(found, pa.scalar(None, column.type), column)
