"""The page of an audit: how many labels of a table look wrong, which, and why."""

import os
from collections.abc import Mapping

import numpy as np

from labelcover.audit import CellReasons, Suspects
from labelcover.datasets import Dataset, row_contents
from labelcover.experiments._report.html_page import HERE, write_html_page

# So many suspects and labels are on the page; the file has all suspects.
MOST_SHOWN = 200
# The first of them show their row and reasons; the others are lines to open, else the page of 200
# is 134,000 pixels high on a phone.
MOST_OPEN = 10
MOST_LABELS = 12
MOST_OTHERS = 8  # labels of a row beside the one that is suspected


def write_audit_page(
    path: str | os.PathLike[str],
    suspects: Suspects,
    dataset: Dataset | None = None,
    *,
    reasons: Mapping[tuple[int, str], CellReasons] | None = None,
    above: float | None = None,
    command: str = "",
) -> None:
    """Write the most suspicious cells of a label table as one self-contained HTML file.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    suspects : Suspects
    dataset : Dataset, optional
        The table: its name, what its rows are called and what is in them. Without it, rows are
        numbered from 1, as in files of predictions.
    reasons : mapping of (int, str) to CellReasons, optional
        What speaks for and against the labels, as `labelcover.audit.explain_suspects` returns it.
    above : float, optional
        Show all cells whose suspicion exceeds this; by default as many as look wrong.
    command : str
        What the user typed.
    """
    found = suspects.ranked(above=above)
    shown = found[:MOST_SHOWN]
    n = len(suspects.Y) if suspects.known is None else np.maximum(suspects.known.sum(axis=0), 1)
    page = {
        "title": f"Labels of {dataset.name if dataset else 'a table'} that look wrong",
        "suspects": suspects,
        "found": found,
        "shown": shown,
        "kinds": [suspect.kind for suspect in found],
        "above": above,
        "at": {name: j for j, name in enumerate(suspects.label_names)},
        "shares": 100 * suspects.Y.sum(axis=0) / n,
        "ids": None if dataset is None else dataset.ids,
        "contents": {} if dataset is None else row_contents(dataset, [each.row for each in shown]),
        "reasons": reasons or {},
        "most_open": MOST_OPEN,
        "labels": [line for line in suspects.by_label() if line.judged],
        "most_labels": MOST_LABELS,
        "most_others": MOST_OTHERS,
        "command": command,
    }
    write_html_page(path, HERE / "audit_page.html", page, scripts=["sort.js"])
