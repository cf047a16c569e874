"""The page of one model: how good it is, how far it can be trusted, and where it errs; its card.

Beside it the page of an audit: how many labels of a table look wrong, which, and why.
"""

import os
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from labelcover._table_numbers import rows_of
from labelcover.audit import CellReasons, Suspects
from labelcover.datasets import Dataset, Reading, row_contents
from labelcover.ensemble import effects_of_labels, speaking_features
from labelcover.experiments._report import page_parts
from labelcover.judgement import Judgement, judged_left_out, judged_on
from labelcover.metrics import expected_calibration_error

# Bounds of the page, whatever the data: rows, labels in tables, labels with data for the slider,
# rows with mistakes, pairs of labels, features of either kind.
MOST_ROWS = 20_000
MOST_LINES, MOST_CHOICES, MOST_MISTAKES, MOST_PAIRS, MOST_FEATURES = 200, 100, 20, 12, 5
# So many suspects and labels are on the page; the file has all suspects.
MOST_SHOWN = 200
NOT_DEFINED = "–"
SQUARES = "A square for each two labels: the strongest pairs are in the table beside it."
OF_LINKS = "A square for each two labels: what the label of the column, if set, says of the row's."
LEFT_OUT_IS = (
    "These rows are no test data: words, columns and tags were chosen with them. A file of other "
    "rows, given to labelcover report, tells more."
)


def write_model_page(
    path: str | os.PathLike[str],
    model: Any,
    dataset: Any = None,
    *,
    threshold: float | None = None,
    command: str = "",
    model_file: str = "model.skops",
) -> Judgement:
    """Write the page of a trained model as one self-contained HTML file.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    model : estimator
        Fitted.
    dataset : Dataset, optional
        Rows with labels that the model has not been trained on; by default the training rows that
        were left out, whose predictions `LabelCoverClassifier` keeps.
    threshold : float, optional
        Judge the labels whose probability is at least this, instead of what the model decides.
    command : str
        What the user typed.
    model_file : str
        Where the model is, for the commands that the page names.

    Returns
    -------
    Judgement
        What the page is made of.

    Raises
    ------
    ValueError
        If there is no data set and the model keeps no predictions.
    """
    if dataset is None:
        every = judged_left_out(model, threshold=threshold)
    else:
        every = judged_on(model, dataset, threshold=threshold)
    judged = every.sampled(MOST_ROWS)
    shown = judged.by_support[:MOST_LINES]
    lines = judged.label_lines(shown)
    n_labels, cut = len(judged.label_names), judged.threshold
    mistakes = judged.mistakes(MOST_MISTAKES)
    effects = effects_of_labels(model) if hasattr(model, "view_") else None
    speaking: Any = speaking_features(model, shown, MOST_FEATURES)  # or None
    page = {
        "title": f"{type(model).__name__} on {Reading.of_model(model).name or 'a table'}",
        "judged": judged,
        "n_every": len(every.rows),
        "tested_on": "" if dataset is None else dataset.name,
        "left_out_is": LEFT_OUT_IS if dataset is None and hasattr(model, "columns_") else "",
        "error": expected_calibration_error(judged.truth, judged.P),
        "n_features": len(Reading.of_model(model).feature_names),
        "cover": getattr(model, "cover_", None),
        "lines": lines,
        "most_lines": MOST_LINES,
        "number": _number,
        "percent": lambda share: 0 if np.isnan(share) else round(100 * share, 1),
        "choices": _choices(judged),
        "most_choices": MOST_CHOICES,
        # Where the slider starts, in hundredths.
        "threshold": round(100 * float(np.mean(0.5 if cut is None else cut))),
        "model_file": shlex.quote(model_file),
        "curve": judged.reliability(range(n_labels)),
        "pairs": _pairs(judged),
        "most_labels": page_parts.MOST_LABELS,
        "dependence": _picture(judged, "dependence", "Which labels go together", SQUARES),
        "links": None
        if effects is None
        else _picture(judged, "links", "What labels say of each other", OF_LINKS, effects),
        "speaking": speaking
        and [(model.label_names_in_[j], own) for j, own in zip(shown, speaking, strict=True)],
        "mistakes": mistakes,
        "reasons": {} if dataset is None else _reasons(model, dataset, mistakes, judged.rows),
        "ids": None if dataset is None else dataset.ids,
        "parameters": str(model),
        "command": command,
    }
    page_parts.write_page(path, "model_page.html", page)
    return judged


def _choices(judged):
    """Return the data of the slider and of the reliability curves."""
    m = len(judged.label_names)
    chosen = page_parts.most_frequent(judged.Y.sum(axis=0), MOST_CHOICES).tolist()
    every = [("all labels", list(range(m))), *((judged.label_names[j], [j]) for j in chosen)]
    choices = []
    for name, labels in every:
        true, false = judged.counts(labels)
        curve = [(round(a, 4), round(b, 4), c) for a, b, c in judged.reliability(labels)]
        choices.append({"name": name, "true": true, "false": false, "curve": curve})
    return choices


def _pairs(judged):
    """Return the labels that go together, or exclude each other, the most."""
    # Products of floats, which are exact here, are far faster than those of integers.
    both = judged.Y.T.astype(np.float64) @ judged.Y
    names, strongest = judged.label_names, page_parts.strongest_pairs(judged.truth, MOST_PAIRS)
    return [(names[a], names[b], by, int(both[a, b])) for a, b, by in strongest if by]


def _picture(judged, name, title, text, effects=None):
    """Return a picture with a square for each two labels, if there are three labels."""
    if judged.Y.shape[1] < 3:
        return None
    figure = page_parts.dependence_picture(judged.truth, judged.label_names, effects)
    return page_parts.to_svg(figure, name, title, text)


def _reasons(model, dataset, mistakes, rows):
    """Return why the model said so, for the surest mistake of each row.

    Mistakes count rows within a sample of the data set; `rows` are their numbers in the data set.
    """
    found = {}
    for cells in mistakes:
        first = cells[0]
        own = rows[[first.row]]
        try:
            why = model.explain(rows_of(dataset.rows, own), first.label, n_reasons=3)
        except (AttributeError, ValueError):
            return {}  # not a model whose confidences are sums
        found[first.row, first.label] = next(iter(why.in_words(3).values()))
    return found


def _number(value: float) -> str:
    return NOT_DEFINED if np.isnan(value) else f"{value:.3f}"


def write_model_card(path: str | os.PathLike[str], model: Any, *, model_file: str = "model.skops"):
    """Write a card in Markdown: what a model is, on what rows, how good it is, and its limits.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    model : estimator
        Fitted.
    model_file : str
        Where the model is, for the lines that show its use.
    """
    reading = Reading.of_model(model)
    try:
        judged = judged_left_out(model)
    except ValueError:
        judged = None
    card = {
        "kind": type(model).__name__,
        "model": model,
        "reading": reading,
        "judged": judged,
        "number": _number,
        "left_out_is": LEFT_OUT_IS,
        "rare": [] if reading.report is None else reading.report.labels.rare,
        "model_file": model_file,
        "shell_file": shlex.quote(model_file),
    }
    page_parts.write_page(path, "model_card.md", card)


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
        "above": above,
        "label_names": list(suspects.label_names),
        "shares": 100 * suspects.Y.sum(axis=0) / n,
        "ids": None if dataset is None else dataset.ids,
        "contents": {} if dataset is None else row_contents(dataset, [each.row for each in shown]),
        "reasons": reasons or {},
        "command": command,
    }
    page_parts.write_page(path, "audit_page.html", page)
