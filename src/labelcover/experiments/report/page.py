"""The report page: findings, tables and pictures."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from labelcover.covers import Cover
from labelcover.datasets import Dataset
from labelcover.dependence import phi
from labelcover.experiments.report import pictures
from labelcover.experiments.report.html_page import HERE, versions_shown, write_html_page
from labelcover.experiments.running import cover_file
from labelcover.experiments.statistics import groups
from labelcover.experiments.summary import Ranking, rank_methods, summarize
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (
    "micro_f1",
    "macro_f1",
    "hamming_loss",
    "subset_accuracy",
    "example_accuracy",
    "ranking_loss",
    "average_precision",
)


@dataclass(frozen=True)
class Cell:
    """A cell of the table of results: what is shown, what it is sorted by, whether it is best."""

    text: str
    value: float
    spread: str = ""
    best: bool = False


@dataclass(frozen=True)
class Picture:
    """An SVG element and what is written below it."""

    svg: Markup
    caption: str


def write_report(
    path: str | os.PathLike[str],
    results: pd.DataFrame,
    datasets: Sequence[Dataset],
    covers: str | os.PathLike[str],
    *,
    command: str = "",
    control: str | None = None,
) -> None:
    """Write the report of some results as one self-contained HTML file.

    Parameters
    ----------
    path : path-like
        The file, replaced as a whole.
    results : DataFrame
        What `read_results` returns.
    datasets : list of Dataset
        The data sets that were compared on.
    covers : path-like
        The folder to which `run` wrote the covers.
    command : str
        What the user typed.
    control : str, optional
        The method that the others are compared with.
    """
    summary, ranking = summarize(results), rank_methods(results, control=control)
    values = {
        "title": _title(summary),
        "findings": _findings(summary, ranking),
        "measures": [(name, MEASURES[name]) for name in SHOWN],
        "sections": [
            _section(number, dataset, summary, results, covers)
            for number, dataset in enumerate(datasets)
            if (summary["dataset"] == dataset.name).any()
        ],
        "diagram": None if ranking is None else _diagram(ranking),
        "methods": _methods(results),
        "folds": sorted(set(results["folds"])),
        "seeds": sorted(set(results["seed"].astype(int))),
        "command": command,
        "versions": versions_shown(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    write_html_page(path, HERE / "page.html", values, scripts=["sort.js"])


def _title(summary):
    methods, sets = summary["method"].nunique(), summary["dataset"].unique()
    where = sets[0] if len(sets) == 1 else f"{len(sets)} data sets"
    return f"{methods} methods on {where}"


def _findings(summary, ranking):
    """Return the outcome in sentences, no stronger than the numbers."""
    found = []
    for dataset, lines in summary.groupby("dataset", sort=False):
        lines = lines.dropna(subset=["mean_micro_f1"])
        if lines.empty:
            found.append(f"On {dataset} no method finished.")
            continue
        best = lines.loc[lines["mean_micro_f1"].idxmax()]
        said = f"On {dataset}, {best['method']} has the highest micro-F1"
        said += f", {best['mean_micro_f1']:.3f}"
        timed = lines.dropna(subset=["mean_fit_seconds"])
        # Methods that shared a fit have no time of their own.
        if len(timed):
            quick = timed.loc[timed["mean_fit_seconds"].idxmin()]
            said += f"; {quick['method']} trains fastest, in "
            said += f"{_seconds(quick['mean_fit_seconds'])} per fold"
        found.append(f"{said}.")
    if ranking is not None:
        found.append(_verdict(ranking))
        if ranking.control is not None:
            found.append(f"{ranking.against_control()}.")
    for _, line in summary[summary["failed"] > 0].iterrows():
        found.append(
            f"{line['method']} failed in {line['failed']} of {line['fits']} fits on "
            f"{line['dataset']}: {line['error']}"
        )
    return found


def _verdict(ranking: Ranking) -> str:
    over = f"Over {ranking.problems} {'folds' if ranking.of_folds else 'data sets'}"
    if ranking.test.p_value >= 0.05:
        return (
            f"{over}, no significant difference in micro-F1 between the methods was found "
            f"({ranking.evidence()})."
        )
    near = [
        name
        for name, rank in zip(ranking.methods[1:], ranking.ranks[1:], strict=True)
        if rank - ranking.ranks[0] <= ranking.difference
    ]
    others = (
        f"not significantly ahead of {_listed(near)}"
        if near
        else "significantly ahead of all others"
    )
    return (
        f"{over}, the methods differ significantly in micro-F1 ({ranking.evidence()}); "
        f"{ranking.methods[0]} ranks best, {others} (Nemenyi test at the 5 % level)."
    )


def _section(number, dataset, summary, results, covers):
    lines = summary[summary["dataset"] == dataset.name]
    done = lines.dropna(subset=["mean_micro_f1", "mean_fit_seconds"])
    return {
        "id": f"data-{number}",
        "dataset": dataset,
        "rows": [_row(line, lines) for _, line in lines.iterrows()],
        "scatter": _scatter(number, dataset, done) if len(done) else None,
        "label_table": _label_table(dataset, results),
        "dependence": _dependence(number, dataset) if dataset.Y.shape[1] > 2 else None,
        "cover": _cover(number, dataset, done, covers),
    }


def _row(line, lines):
    cells = []
    for name in SHOWN:
        mean, spread = line[f"mean_{name}"], line[f"sd_{name}"]
        column = lines[f"mean_{name}"]
        best = column.max() if MEASURES[name].higher_is_better else column.min()
        shown = _number(mean)
        cells.append(Cell(shown, mean, "" if np.isnan(spread) else _number(spread), mean == best))
    for name, text in (
        ("size", lambda v: f"{v:.0f}"),
        ("design_seconds", _seconds),
        ("fit_seconds", _seconds),
        ("predict_seconds", _seconds),
        ("peak_mb", lambda v: f"{v:.0f} MB"),
    ):
        value = line[f"mean_{name}"]
        cells.append(Cell("–" if np.isnan(value) else text(value), value))
    return {"method": line["method"], "cells": cells, "failed": int(line["failed"])}


def _scatter(number, dataset, done):
    figure = pictures.time_against_quality(done)
    text = "; ".join(
        f"{line['method']}: {_seconds(line['mean_fit_seconds'])}, "
        f"micro-F1 {line['mean_micro_f1']:.3f}"
        for _, line in done.iterrows()
    )
    title = f"Training time against micro-F1 on {dataset.name}"
    return Picture(
        Markup(pictures.to_svg(figure, f"time-{number}", title, text + ".")),
        "Up and to the left is better. Lines show one standard deviation over folds.",
    )


def _diagram(ranking: Ranking) -> Picture:
    ranks = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(ranking.methods, ranking.ranks, strict=True)
    )
    bars = groups(ranking.ranks, ranking.difference)
    joined = "; ".join(_listed([ranking.methods[j] for j in bar]) for bar in bars)
    text = f"Mean ranks: {ranks}. Critical difference {ranking.difference:.2f}. "
    text += f"Not significantly different: {joined}." if joined else "All differ significantly."
    figure = pictures.critical_difference_diagram(ranking)
    svg = pictures.to_svg(figure, "ranks", "Critical-difference diagram by micro-F1", text)
    caption = (
        "Rank 1 is best. Methods joined by a bar do not differ significantly (Nemenyi test at the "
        "5 % level)."
    )
    if ranking.of_folds:
        caption += " Ranks are over folds, which share training rows, so p-values are optimistic."
    return Picture(Markup(svg), caption)


def _dependence(number, dataset):
    figure = pictures.dependence_picture(dataset.Y, dataset.label_names)
    table = phi(dataset.Y)
    i, j = np.triu_indices(len(table), 1)
    strongest = np.argsort(-np.abs(table[i, j]))[:5]
    text = "Strongest pairs: " + "; ".join(
        f"{dataset.label_names[i[s]]} and {dataset.label_names[j[s]]}, {table[i[s], j[s]]:+.2f}"
        for s in strongest
    )
    title = f"Dependence of the labels of {dataset.name} (phi)"
    return Picture(
        Markup(pictures.to_svg(figure, f"dependence-{number}", title, text + ".")),
        f"{_some(dataset.Y.shape[1], pictures.MOST_LABELS, 'labels')}Blue labels tend to occur "
        f"together, orange ones to exclude each other; deeper colours mean stronger. {text}.",
    )


def _cover(number, dataset, done, covers):
    """Return the cover of the best method that has one."""
    for _, line in done.sort_values("mean_micro_f1", ascending=False).iterrows():
        path = cover_file(covers, dataset.name, line["method"])
        if not path.exists():
            continue
        cover = Cover.load(path)
        if cover.k < 2:
            continue
        text = (
            f"{len(cover)} labelsets of {cover.k_text} out of {cover.n_labels} labels, covering "
            f"{cover.coverage(2):.1%} of all pairs of labels; imbalance {cover.imbalance} (the "
            "difference between the most and the least frequent label)"
        )
        title = f"Cover of {line['method']} on {dataset.name}"
        figure = pictures.cover_picture(cover, dataset.label_names)
        cut = _some(len(cover), pictures.MOST_LABELSETS, "labelsets")
        return Picture(
            Markup(pictures.to_svg(figure, f"cover-{number}", title, text + ".")),
            f"The cover of {line['method']}, the best of the methods that use one: {text}. {cut}",
        )
    return None


def _label_table(dataset, results):
    """Return the F1 of each label, mean over folds, for each method."""
    good = results[(results["dataset"] == dataset.name) & (results["error"] == "")]
    means = {
        method: np.mean([np.array(text.split(), dtype=float) for text in lines], axis=0)
        for method, lines in good.groupby("method", sort=False)["label_f1"]
    }
    if not means:
        return None
    counts = dataset.Y.sum(axis=0)
    chosen = pictures.most_frequent(counts, pictures.MOST_LABELS)
    return {
        "methods": list(means),
        "note": _some(len(counts), pictures.MOST_LABELS, "labels"),
        "rows": [
            {
                "label": dataset.label_names[j],
                "share": float(counts[j] / len(dataset.Y)),
                "cells": [
                    Cell(
                        f"{mean[j]:.2f}", mean[j], best=mean[j] == max(m[j] for m in means.values())
                    )
                    for mean in means.values()
                ],
            }
            for j in chosen
        ],
    }


def _methods(results):
    return results.groupby("method", sort=False)["parameters"].first().to_dict()


def _some(count: int, most: int, what: str) -> str:
    return f"Showing {most} of {count} {what}. " if count > most else ""


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
