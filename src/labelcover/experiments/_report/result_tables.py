"""The tables of the report: measures at both cuts, times, and the F1 of each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcover.datasets import Dataset
from labelcover.experiments._report import pictures
from labelcover.experiments.named_methods import TITLES
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

# The measures of predictions, which depend on the cut, and those of confidences, which do not.
OF_CUTS = ("micro_f1", "macro_f1", "hamming_loss", "subset_accuracy", "example_accuracy")
OF_CONFIDENCES = ("ranking_loss", "average_precision")
MEANINGS = {
    "micro_f1": "F1 over all cells of the label table",
    "macro_f1": "mean of the F1 of each label",
    "hamming_loss": "share of cells that are wrong",
    "subset_accuracy": "share of rows whose labels are all right",
    "example_accuracy": "labels both true and predicted, of all that are either, mean over rows",
    "ranking_loss": "share of pairs of a true and an untrue label in the wrong order",
    "average_precision": "precision down the ranking of labels, at the true ones, mean over rows",
}


@dataclass(frozen=True)
class CutTable:
    """A cut, as the page speaks of it.

    Attributes
    ----------
    prefix : str
        How the columns of its measures begin in the results.
    words, alone : str
        How several methods are cut, and how one is.
    heading, hint : str
        What is above its table.
    """

    prefix: str
    words: str
    alone: str
    heading: str
    hint: str


TUNED_CUT = CutTable(
    "tuned_",
    "with tuned thresholds",
    "with a tuned threshold",
    "Results with tuned thresholds",
    "One threshold for all labels, tuned on training rows for micro-F1, for every method. “tuned "
    "on”: predictions that the fit gives for left-out training rows, folds of the training rows, "
    "or, where a method has neither, a third of the training rows left out of one more fit.",
)
OWN_CUT = CutTable(
    "",
    "with their own cuts",
    "with its own cut",
    "Results with each method’s own cut",
    "The same fits, cut as each method does without tuning. Methods that cut at ½ predict fewer "
    "labels than F1 rewards, so compare them here for Hamming loss and subset accuracy.",
)


@dataclass(frozen=True)
class Cell:
    """A cell of the table of results: what is shown, what it is sorted by, whether it is best."""

    text: str
    value: float
    spread: str = ""
    best: bool = False


@dataclass(frozen=True)
class Head:
    """The heading of a column: its title, what it means, and an arrow to where better is."""

    title: str
    meaning: str
    better: str = ""


def cut_table(cut: CutTable, lines: pd.DataFrame) -> dict[str, Any]:
    """Return the table of the measures of predictions at a cut."""
    words = ("tuning", "tuned on") if cut.prefix else ("cut", "own cut")
    heads = [_measure_head(name) for name in OF_CUTS]
    heads += [Head("threshold", "mean over folds")] if cut.prefix else []
    rows = []
    for _, line in lines.iterrows():
        cells = [_score(line, lines, f"{cut.prefix}{name}", name) for name in OF_CUTS]
        if cut.prefix:
            cells.append(Cell(_number(line["mean_threshold"], 2), line["mean_threshold"]))
        rows.append(_row(line, cells, text=line[words[0]] or "–"))
    return {
        "heading": cut.heading,
        "hint": cut.hint,
        "heads": heads,
        "rows": rows,
        "text": words[1],
    }


def cost_table(lines: pd.DataFrame) -> dict[str, Any]:
    """Return the table of what does not depend on the cut."""
    heads = [_measure_head(name) for name in OF_CONFIDENCES]
    heads += [
        Head("labelsets", "number of labelsets of the cover, σ in the paper"),
        Head("design", "time to make the labelsets, a part of “fit”"),
        Head("fit", "time to train on one fold, tuning included"),
        Head("predict", "time to predict one fold"),
    ]
    rows = []
    for _, line in lines.iterrows():
        cells = [_score(line, lines, name, name) for name in OF_CONFIDENCES]
        for name, text in (
            ("size", lambda v: f"{v:.0f}"),
            ("design_seconds", in_seconds),
            ("fit_seconds", in_seconds),
            ("predict_seconds", in_seconds),
        ):
            value = line[f"mean_{name}"]
            cells.append(Cell("–" if np.isnan(value) else text(value), value))
        rows.append(_row(line, cells))
    hint = "What does not depend on the cut. Times are those of this machine."
    return {
        "heading": "Rankings of labels, size and time",
        "hint": hint,
        "heads": heads,
        "rows": rows,
    }


def _measure_head(name):
    measure = MEASURES[name]
    return Head(measure.title, MEANINGS[name], "↑" if measure.higher_is_better else "↓")


def _row(line, cells, text=None):
    method = line["method"]
    stands_for = TITLES.get(method.split(" k=")[0], "")
    failed = int(line["failed"])
    return {"method": method, "title": stands_for, "cells": cells, "failed": failed, "text": text}


def _score(line, lines, column, name):
    mean, spread = line[f"mean_{column}"], line[f"sd_{column}"]
    of_all = lines[f"mean_{column}"]
    best = of_all.max() if MEASURES[name].higher_is_better else of_all.min()
    is_best = mean == best and (of_all.nunique() > 1 or len(lines) == 1)
    return Cell(_number(mean), mean, "" if np.isnan(spread) else _number(spread), is_best)


def label_table(dataset: Dataset, results: pd.DataFrame, cut: CutTable) -> dict[str, Any] | None:
    """Return the F1 of each label, mean over folds, for each method."""
    column = f"{cut.prefix}label_f1"
    good = results[(results["dataset"] == dataset.name) & (results[column] != "")]
    means = {
        method: _known_mean([np.array(text.split(), dtype=float) for text in lines])
        for method, lines in good.groupby("method", sort=False)[column]
    }
    if not means:
        return None
    counts, n_known = np.nansum(dataset.Y, axis=0), (dataset.Y == dataset.Y).sum(axis=0)
    chosen = pictures.most_frequent(counts, pictures.MOST_LABELS)
    return {
        "methods": list(means),
        "note": f"{some_of(len(counts), pictures.MOST_LABELS, 'labels')}Methods {cut.words}. ",
        "rows": [
            {
                "label": dataset.label_names[j],
                "share": float(counts[j] / max(n_known[j], 1)),
                "cells": [
                    Cell(
                        _number(mean[j], 2),
                        mean[j],
                        best=mean[j] == max(m[j] for m in means.values()),
                    )
                    for mean in means.values()
                ],
            }
            for j in chosen
        ],
    }


def _known_mean(folds: list[np.ndarray]) -> np.ndarray:
    """Return the mean over folds; NaN of a fold in which a label is not known is left out."""
    table = np.array(folds)
    known = ~np.isnan(table)
    total = np.where(known, table, 0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def some_of(count: int, most: int, what: str) -> str:
    """Return a sentence that not all are shown; empty if they are."""
    return f"Showing {most} of {count} {what}. " if count > most else ""


def _number(value: float, digits: int = 3) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def in_seconds(value: float) -> str:
    """Return a time in words, in the unit that suits it."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"
