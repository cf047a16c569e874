"""The page of an audit: how many labels of a table look wrong, which, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from labelcover.audit import KINDS, CellReasons, Suspects
from labelcover.datasets import Dataset, row_contents
from labelcover.experiments._report.html_page import HERE, write_html_page

# So many suspects and labels are on the page; the file has all suspects.
MOST_SHOWN = 200
# The first of them show their row and reasons; the others are lines to open, else the page of 200
# is 134,000 pixels high on a phone.
MOST_OPEN = 10
MOST_LABELS = 12
LOOKS = {"wrong": "looks wrong", "missing": "looks missing"}


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
    ids = None if dataset is None else dataset.ids
    rows = {} if dataset is None else row_contents(dataset, [suspect.row for suspect in shown])
    kinds = [suspect.kind for suspect in found]
    counts = [f"{kinds.count(kind):,} {LOOKS[kind].split()[1]}" for kind in KINDS]
    listed = (
        f"The list has the {len(found):,} most suspicious, likeliest first"
        if above is None
        else f"The list has the {len(found):,} with a suspicion above {above:g}, highest first"
    )
    n = len(suspects.Y) if suspects.known is None else np.maximum(suspects.known.sum(axis=0), 1)
    share = dict(zip(suspects.label_names, 100 * suspects.Y.sum(axis=0) / n, strict=True))
    numbers = [line for line in suspects.by_label() if line.judged]
    page = {
        "title": f"Labels of {dataset.name if dataset else 'a table'} that look wrong",
        "findings": [suspects.in_words()]
        + ([f"{listed}: {counts[0]}, {counts[1]}."] if found else []),
        "note": f"Showing {MOST_SHOWN} of {len(found):,}. " if len(found) > MOST_SHOWN else "",
        "suspects": [
            {
                "row": suspect.row + 1 if ids is None else ids[suspect.row],
                "label": suspect.label,
                "kind": suspect.kind,
                "looks": LOOKS[suspect.kind],
                "suspicion": suspect.suspicion,
                "features": suspect.features,
                "share": share[suspect.label],
                "others": _labels_of(suspects, suspect.row, suspect.label),
                "contents": rows.get(suspect.row, ()),
                "sides": _sides((reasons or {}).get(suspect[:2])),
            }
            for suspect in shown
        ],
        "most_open": MOST_OPEN,
        "labels": numbers[:MOST_LABELS],
        "labels_note": f"Showing {MOST_LABELS} of {len(numbers):,}. "
        if len(numbers) > MOST_LABELS
        else "",
        "command": command,
    }
    write_html_page(path, HERE / "audit_page.html", page, scripts=["sort.js"])


def _labels_of(suspects: Suspects, row: int, label: str, most: int = 8) -> str:
    """Return the labels that a row has beside the one that is suspected."""
    names = [suspects.label_names[j] for j in suspects.Y[row].nonzero()[0].tolist()]
    others = [name for name in names if name != label]
    return ", ".join(others[:most]) + (", …" if len(others) > most else "")


def _sides(reasons: CellReasons | None) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return what speaks for the suspicion, then what speaks against it."""
    if reasons is None:
        return []
    sides = [("against the label", reasons.against), ("for the label", reasons.speaking_for)]
    return [side for side in (sides if reasons.kind == "wrong" else sides[::-1]) if side[1]]
