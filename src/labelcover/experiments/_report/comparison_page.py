"""The report page: findings, tables and pictures."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcover.covers import Cover
from labelcover.datasets import Dataset
from labelcover.experiments._report import page_parts
from labelcover.experiments._running import cover_file
from labelcover.experiments._statistics import Ranking, groups, rank_methods, summarize
from labelcover.experiments.named_methods import TITLES
from labelcover.experiments.results import listed
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd


# How methods are cut, by how the columns of the results begin.
WORDS = {"tuned_": "with tuned thresholds", "": "with their own cuts"}


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
    summary = summarize(results)
    tuned = summary["mean_tuned_micro_f1"].notna().any()
    cuts = list(WORDS) if tuned else [""]
    rankings = {cut: rank_methods(results, f"{cut}micro_f1", control=control) for cut in cuts}
    values = {
        "summary": summary,
        "results": results,
        "sections": [
            _section(number, dataset, summary, results, covers, cuts)
            for number, dataset in enumerate(datasets)
            if (summary["dataset"] == dataset.name).any()
        ],
        "cuts": {cut: WORDS[cut] for cut in cuts},
        "diagrams": {cut: _diagram(cut, own) for cut, own in rankings.items() if own is not None},
        "rankings": rankings,
        "command": command,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "measures": MEASURES,
        "stands_for": TITLES,
        "in_seconds": in_seconds,
        "listed": listed,
        "most_labels": page_parts.MOST_LABELS,
        "most_labelsets": page_parts.MOST_LABELSETS,
    }
    page_parts.write_page(path, "comparison_page.html", values)


def _section(number, dataset, summary, results, covers, cuts):
    lines = summary[summary["dataset"] == dataset.name]
    column = f"mean_{cuts[0]}micro_f1"
    done = lines.dropna(subset=[column, "mean_fit_seconds"])
    return {
        "id": f"data-{number}",
        "dataset": dataset,
        "lines": lines,
        "scatter": _scatter(number, dataset, done, cuts[0]) if len(done) else None,
        "label_table": label_table(dataset, results, cuts[0]),
        "dependence": _dependence(number, dataset) if dataset.Y.shape[1] > 2 else None,
        "cover": _cover(number, dataset, done.sort_values(column, ascending=False), covers),
    }


def label_table(dataset: Dataset, results: pd.DataFrame, cut: str) -> dict[str, Any] | None:
    """Return the F1 of each label, mean over folds, for each method; most frequent labels only."""
    column = f"{cut}label_f1"
    good = results[(results["dataset"] == dataset.name) & (results[column] != "")]
    means = {
        # NaN of a fold in which a label is not known is left out.
        method: np.ma.masked_invalid([np.array(text.split(), dtype=float) for text in lines])
        .mean(axis=0)
        .filled(np.nan)
        for method, lines in good.groupby("method", sort=False)[column]
    }
    if not means:
        return None
    counts, n_known = np.nansum(dataset.Y, axis=0), (dataset.Y == dataset.Y).sum(axis=0)
    chosen = page_parts.most_frequent(counts, page_parts.MOST_LABELS)
    return {"means": means, "labels": chosen.tolist(), "shares": counts / np.maximum(n_known, 1)}


def _scatter(number: int, dataset: Dataset, done: pd.DataFrame, cut: str) -> str:
    measure = f"{cut}micro_f1"
    figure = page_parts.time_against_quality(done, measure)
    text = "; ".join(
        f"{line['method']}: {in_seconds(line['mean_fit_seconds'])}, "
        f"micro-F1 {line[f'mean_{measure}']:.3f}"
        for _, line in done.iterrows()
    )
    title = f"Training time against micro-F1 on {dataset.name}"
    return page_parts.to_svg(figure, f"time-{number}", title, text + ".")


def _diagram(cut: str, ranking: Ranking) -> str:
    bars = groups(ranking.ranks, ranking.difference)
    joined = "; ".join(listed([ranking.methods[j] for j in bar]) for bar in bars)
    text = f"Mean ranks: {ranking.ranks_told()}. Critical difference {ranking.difference:.2f}. "
    text += f"Not significantly different: {joined}." if joined else "All differ significantly."
    figure = page_parts.critical_difference_diagram(ranking)
    title = f"Critical-difference diagram by micro-F1, methods {WORDS[cut]}"
    return page_parts.to_svg(figure, f"ranks-{cut or 'own'}", title, text)


def _dependence(number: int, dataset: Dataset) -> tuple[str, str]:
    """Return the picture of what labels depend on each other, and the strongest pairs in words."""
    figure = page_parts.dependence_picture(dataset.Y, dataset.label_names)
    text = "Strongest pairs: " + "; ".join(
        f"{dataset.label_names[i]} and {dataset.label_names[j]}, {by:+.2f}"
        for i, j, by in page_parts.strongest_pairs(dataset.Y, 5)
    )
    title = f"Dependence of the labels of {dataset.name} (phi)"
    return page_parts.to_svg(figure, f"dependence-{number}", title, text + "."), text


def _cover(number, dataset, done, covers):
    """Return the cover of the best method that has one; `done` has the best first."""
    for method in done["method"]:
        path = cover_file(covers, dataset.name, method)
        if not path.exists():
            continue
        cover = Cover.load(path)
        if cover.k < 2:
            continue
        text = (
            f"{len(cover)} {'labelset' if len(cover) == 1 else 'labelsets'} of {cover.k_text} "
            f"out of {cover.n_labels} labels, covering "
            f"{cover.coverage(2):.1%} of all pairs of labels; imbalance {cover.imbalance} (the "
            "difference between the most and the least frequent label)"
        )
        figure = page_parts.cover_picture(cover, dataset.label_names)
        title = f"Cover of {method} on {dataset.name}"
        svg = page_parts.to_svg(figure, f"cover-{number}", title, text + ".")
        return {"svg": svg, "method": method, "text": text, "size": len(cover)}
    return None


def in_seconds(value: float) -> str:
    """Return a time in words, in the unit that suits it."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"
