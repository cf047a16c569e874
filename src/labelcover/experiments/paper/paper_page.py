"""The page of a part of the paper: one self-contained HTML file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from labelcover.experiments.named_methods import TITLES
from labelcover.experiments.paper.coverage_figure import draw_curves
from labelcover.experiments.paper.sheets import Sheet
from labelcover.experiments.report.html_page import write_html_page
from labelcover.experiments.report.pictures import to_svg

if TYPE_CHECKING:
    import pandas as pd

LETTERS = {
    "m": "number of labels",
    "k": "number of labels in a labelset",
    "r": "so many labels at a time are covered",
    "σ": "number of labelsets",
}


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
    panels = [] if curves is None else [panel for _, panel in curves.groupby("m")]
    text = "Bound of Lemma 1 and simulated probabilities against the number of labelsets."
    drawn = [
        Markup(to_svg(draw_curves(panel, "page"), f"figure1-{number}", sheets[0].title, text))
        for number, panel in enumerate(panels)
    ]
    values = {
        "part": part,
        "sheets": [(sheet, explained(sheet)) for sheet in sheets],
        "missing": missing,
        "pictures": drawn,
        "command": command,
    }
    write_html_page(path, Path(__file__).with_name("paper_page.html"), values)


def explained(sheet: Sheet) -> str:
    """Return what the letters and the names of methods of a sheet stand for.

    Examples
    --------
    >>> from labelcover.experiments.paper.paper_page import explained
    >>> from labelcover.experiments.paper.sheets import Sheet
    >>> explained(Sheet("Table 9", ["data set", "σ", "ECC"], []))
    'σ: number of labelsets. ECC: ensemble of classifier chains.'
    """
    texts = [sheet.title, *sheet.heads, *sheet.notes]
    # Names hold hyphens and pluses: BALANCOR is not a word of DD-BALANCOR.
    words = {word for text in texts for word in re.findall(r"[\w+-]+", text)}
    known = {**LETTERS, **TITLES}
    return " ".join(f"{word}: {known[word]}." for word in known if word in words)
