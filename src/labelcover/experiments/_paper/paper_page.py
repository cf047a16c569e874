"""Tables of text, printed or written as Markdown, and the HTML page of a part of the paper."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labelcover.experiments._paper.coverage_figure import draw_curves
from labelcover.experiments._report.page_parts import to_svg, write_html_page
from labelcover.experiments.named_methods import TITLES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

LETTERS = {
    "m": "number of labels",
    "k": "number of labels in a labelset",
    "r": "so many labels at a time are covered",
    "σ": "number of labelsets",
}


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
        >>> from labelcover.experiments._paper.paper_page import Sheet
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
        # A terminal's own width does not cut the table off.
        lines = [self.heads, *self.rows] if self.rows else []
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        for text in [self.title, *aligned, *self.notes]:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        console.print()


def write_page(
    path: str | os.PathLike[str],
    part: str,
    sheets: Sequence[Sheet],
    missing: Sequence[str],
    *,
    curves: pd.DataFrame | None = None,
    command: str = "",
) -> None:
    """Write sheets as one HTML file, in the style of the report of a comparison.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    part : str
        What of the paper it is.
    sheets : sequence of Sheet
    missing : sequence of str
        What could not be run, and why.
    curves : DataFrame, optional
        The curves of Figure 1, to be drawn.
    command : str
        What the user typed.
    """
    panels = () if curves is None else curves.groupby("m")
    text = "Bound of Lemma 1 and simulated probabilities against the number of labelsets."
    drawn = [
        to_svg(draw_curves(panel, "page"), f"figure1-{number}", sheets[0].title, text)
        for number, (_, panel) in enumerate(panels)
    ]
    values = {
        "part": part,
        "sheets": [(sheet, explained(sheet)) for sheet in sheets],
        "missing": missing,
        "pictures": drawn,
        "command": command,
    }
    write_html_page(path, "paper_page.html", values)


def explained(sheet: Sheet) -> str:
    """Return what the letters and the names of methods of a sheet stand for.

    Examples
    --------
    >>> from labelcover.experiments._paper.paper_page import Sheet, explained
    >>> explained(Sheet("Table 9", ["data set", "σ", "ECC"], []))
    'σ: number of labelsets. ECC: ensemble of classifier chains.'
    """
    texts = [sheet.title, *sheet.heads, *sheet.notes]
    # Names hold hyphens and pluses: BALANCOR is not a word of DD-BALANCOR.
    words = {word for text in texts for word in re.findall(r"[\w+-]+", text)}
    known = {**LETTERS, **TITLES}
    return " ".join(f"{word}: {known[word]}." for word in known if word in words)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
