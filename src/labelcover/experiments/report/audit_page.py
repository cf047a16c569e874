"""The page of an audit: which labels of a table look wrong, and which look missing."""

from __future__ import annotations

import os
from collections.abc import Sequence

from labelcover.audit import KINDS, Suspects
from labelcover.experiments.report.html_page import HERE, write_html_page

# So many suspects of either kind are on the page; the file has all.
MOST_SHOWN = 200
TITLES = {
    "wrong": "Labels that are there and look wrong",
    "missing": "Labels that are not there and look missing",
}


def write_audit_page(
    path: str | os.PathLike[str],
    suspects: Suspects,
    *,
    name: str = "",
    row_names: Sequence[str] | None = None,
    command: str = "",
) -> None:
    """Write the most suspicious cells of a label table as one self-contained HTML file.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    suspects : Suspects
    name : str
        What the table is called.
    row_names : sequence of str, optional
        What the rows are called; by default they are numbered from 0.
    command : str
        What the user typed.
    """
    n = len(suspects.Y)
    found = {kind: suspects.ranked(kind) for kind in KINDS}
    page = {
        "title": f"Labels of {name or 'a table'} that look wrong",
        "findings": [
            f"Of the {suspects.Y.sum():,} labels that {n:,} rows have, {len(found['wrong']):,} are "
            "likelier wrong than right.",
            f"Of the {(suspects.Y == 0).sum():,} that they do not have, {len(found['missing']):,} "
            "are likelier missing than rightly absent.",
        ],
        "lists": [
            {
                "title": TITLES[kind],
                "note": f"Showing {MOST_SHOWN} of {len(found[kind]):,}. "
                if len(found[kind]) > MOST_SHOWN
                else "",
                "suspects": [
                    {
                        "row": suspect.row if row_names is None else row_names[suspect.row],
                        "label": suspect.label,
                        "suspicion": suspect.suspicion,
                        "features": suspect.features,
                        "others": _labels_of(suspects, suspect.row),
                    }
                    for suspect in found[kind][:MOST_SHOWN]
                ],
            }
            for kind in KINDS
        ],
        "command": command,
    }
    write_html_page(path, HERE / "audit_page.html", page, scripts=["sort.js"])


def _labels_of(suspects: Suspects, row: int, most: int = 8) -> str:
    """Return the labels that a row has."""
    names = [suspects.label_names[j] for j in suspects.Y[row].nonzero()[0].tolist()]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
