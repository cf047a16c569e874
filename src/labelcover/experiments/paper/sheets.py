"""A table of text: printed in the terminal, or written as Markdown or HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Sheet:
    """A titled table with sentences below it.

    Attributes
    ----------
    title : str
    heads : list of str
        The headings of the columns.
    rows : list of list of str
        As many cells in each as there are headings.
    notes : list of str
        What follows from it, a sentence each.
    """

    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the sheet as Markdown.

        Examples
        --------
        >>> from labelcover.experiments.paper.sheets import Sheet
        >>> print(Sheet("Sizes", ["m", "σ"], [["6", "7"]], ["One row."]).markdown())
        ### Sizes
        <BLANKLINE>
        | m | σ |
        |---|---|
        | 6 | 7 |
        <BLANKLINE>
        - One row.
        """
        parts = [f"### {self.title}", ""]
        if self.rows:
            parts += [_line(self.heads), "|" + "---|" * len(self.heads), *map(_line, self.rows), ""]
        parts += [f"- {note}" for note in self.notes]
        return "\n".join(parts).rstrip()

    def print(self, console: Console) -> None:
        """Print the sheet in a terminal."""
        texts = [self.title, *self._aligned(), *self.notes]
        for text in texts:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        console.print()

    def _aligned(self) -> list[str]:
        """Return the lines of the table as text; a terminal's own width does not cut it off."""
        if not self.rows:
            return []
        lines = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
