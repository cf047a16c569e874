"""Text of others made safe: control characters for terminals, formulas for spreadsheets."""

import csv
import re
from collections.abc import Iterable
from typing import Any, TextIO

# What moves the cursor, changes colours or turns the direction of what follows; tabs and line
# breaks are left.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# What a spreadsheet takes for a formula: it begins with =, @ or a tab, or with a sign and is no
# number. Apostrophes before it are part of the pattern, so that what was guarded twice is read back
# as what was guarded once.
FORMULA = re.compile(
    r"'*(?:[=@\t\r]|[-+](?!(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?\Z)).*", re.DOTALL
)
#: The same for Arrow, whose regular expressions cannot look ahead: what may be guarded.
MAYBE_GUARDED = r"^'+[=@\t\r+-]"


def visible(text: str) -> str:
    r"""Return a text as a terminal may show it: control characters are written as ``\x1b``.

    Examples
    --------
    >>> from labelcover._safe_text import visible
    >>> print(visible("\x1b[31mred"))
    \x1b[31mred
    """
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def guarded(cell: Any) -> Any:
    """Return a cell as a CSV file has it: with an apostrophe if a spreadsheet would run it.

    Examples
    --------
    >>> from labelcover._safe_text import guarded, unguarded
    >>> [guarded(cell) for cell in ("=1+1", "-3.5", "-3.5 and so on", "plain", 7)]
    ["'=1+1", '-3.5', "'-3.5 and so on", 'plain', 7]
    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """Return the cell that `guarded` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.fullmatch(cell) else cell


def write_rows(
    file: TextIO, rows: Iterable[Iterable[Any]], *, delimiter: str = ",", raw: bool = False
) -> None:
    """Write rows of a CSV file, each a line; their cells are `guarded` if not `raw`."""
    # Python quotes a cell for the characters that end a line: for both, as readers take both.
    writer = csv.writer(_Lines(file), delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(row if raw else map(guarded, row) for row in rows)


class _Lines:
    """A file whose lines end in one character instead of two."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, line: str) -> int:
        return self.file.write(line.removesuffix("\r\n") + "\n")
