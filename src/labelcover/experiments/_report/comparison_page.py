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
from labelcover.experiments._report import pictures
from labelcover.experiments._report.html_page import HERE, versions_shown, write_html_page
from labelcover.experiments._report.result_tables import (
    OWN_CUT,
    TUNED_CUT,
    CutTable,
    cost_table,
    cut_table,
    in_seconds,
    label_table,
    some_of,
)
from labelcover.experiments._running import cover_file
from labelcover.experiments._statistics import Ranking, groups, rank_methods, summarize

if TYPE_CHECKING:
    import pandas as pd


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
    summary = summarize(results)
    tuned = summary["mean_tuned_micro_f1"].notna().any()
    cuts = (TUNED_CUT, OWN_CUT) if tuned else (OWN_CUT,)
    rankings = [rank_methods(results, f"{cut.prefix}micro_f1", control=control) for cut in cuts]
    values = {
        "title": _title(summary),
        "findings": _findings(summary, cuts, rankings),
        "sections": [
            _section(number, dataset, summary, results, covers, cuts)
            for number, dataset in enumerate(datasets)
            if (summary["dataset"] == dataset.name).any()
        ],
        "diagrams": [
            (cut, _diagram(cut, ranking))
            for cut, ranking in zip(cuts, rankings, strict=True)
            if ranking is not None
        ],
        "methods": _methods(results),
        "folds": sorted(set(results["folds"])),
        "seeds": sorted(set(results["seed"].astype(int))),
        "command": command,
        "versions": versions_shown(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    write_html_page(path, HERE / "comparison_page.html", values, scripts=["sort.js"])


def _title(summary):
    methods, sets = summary["method"].nunique(), summary["dataset"].unique()
    where = sets[0] if len(sets) == 1 else f"{len(sets)} data sets"
    return f"{methods} methods on {where}"


def _findings(summary, cuts, rankings):
    """Return the outcome in sentences, no stronger than the numbers."""
    found = []
    for dataset, lines in summary.groupby("dataset", sort=False):
        if lines["mean_micro_f1"].isna().all():
            found.append(f"On {dataset} no method finished.")
            continue
        found.append(f"On {dataset}, {_best(lines, cuts)}{_quickest(lines)}.")
    for cut, ranking in zip(cuts, rankings, strict=True):
        if ranking is not None:
            found.append(_verdict(cut, ranking))
            if ranking.control is not None:
                found.append(f"{ranking.against_control()}.")
    for _, line in summary[summary["failed"] > 0].iterrows():
        found.append(
            f"{line['method']} failed in {line['failed']} of {line['fits']} fits on "
            f"{line['dataset']}: {line['error']}"
        )
    return found


def _best(lines, cuts):
    """Return which method has the highest micro-F1 at each cut."""
    said = []
    for cut in cuts:
        scores = lines.set_index("method")[f"mean_{cut.prefix}micro_f1"].dropna()
        if len(scores):
            said.append(f"{scores.idxmax()} {cut.alone} ({scores.max():.3f})")
    return f"the highest micro-F1 is that of {' and of '.join(said)}"


def _quickest(lines):
    # Methods that shared a fit have no time of their own.
    seconds = lines.set_index("method")["mean_fit_seconds"].dropna()
    if not len(seconds):
        return ""
    return f"; {seconds.idxmin()} trains fastest, in {in_seconds(seconds.min())} per fold"


def _verdict(cut: CutTable, ranking: Ranking) -> str:
    over = f"Over {ranking.problems} {'folds' if ranking.of_folds else 'data sets'}, {cut.words}"
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


def _section(number, dataset, summary, results, covers, cuts):
    lines = summary[summary["dataset"] == dataset.name]
    column = f"mean_{cuts[0].prefix}micro_f1"
    done = lines.dropna(subset=[column, "mean_fit_seconds"])
    return {
        "id": f"data-{number}",
        "dataset": dataset,
        "tables": [*(cut_table(cut, lines) for cut in cuts), cost_table(lines)],
        "scatter": _scatter(number, dataset, done, cuts[0]) if len(done) else None,
        "label_table": label_table(dataset, results, cuts[0]),
        "dependence": _dependence(number, dataset) if dataset.Y.shape[1] > 2 else None,
        "cover": _cover(number, dataset, done.sort_values(column, ascending=False), covers),
    }


def _scatter(number, dataset, done, cut):
    measure = f"{cut.prefix}micro_f1"
    figure = pictures.time_against_quality(done, measure)
    text = "; ".join(
        f"{line['method']}: {in_seconds(line['mean_fit_seconds'])}, "
        f"micro-F1 {line[f'mean_{measure}']:.3f}"
        for _, line in done.iterrows()
    )
    title = f"Training time against micro-F1 on {dataset.name}"
    return Picture(
        Markup(pictures.to_svg(figure, f"time-{number}", title, text + ".")),
        f"Methods {cut.words}. Up and to the left is better. Lines show one standard deviation "
        "over folds.",
    )


def _diagram(cut: CutTable, ranking: Ranking) -> Picture:
    ranks = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(ranking.methods, ranking.ranks, strict=True)
    )
    bars = groups(ranking.ranks, ranking.difference)
    joined = "; ".join(_listed([ranking.methods[j] for j in bar]) for bar in bars)
    text = f"Mean ranks: {ranks}. Critical difference {ranking.difference:.2f}. "
    text += f"Not significantly different: {joined}." if joined else "All differ significantly."
    figure = pictures.critical_difference_diagram(ranking)
    title = f"Critical-difference diagram by micro-F1, methods {cut.words}"
    svg = pictures.to_svg(figure, f"ranks-{cut.prefix or 'own'}", title, text)
    caption = (
        f"Methods {cut.words}. Rank 1 is best. Methods joined by a bar do not differ "
        "significantly (Nemenyi test at the 5 % level)."
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
        f"{some_of(dataset.Y.shape[1], pictures.MOST_LABELS, 'labels')}Blue labels tend to occur "
        f"together, orange ones to exclude each other; deeper colours mean stronger. {text}.",
    )


def _cover(number, dataset, done, covers):
    """Return the cover of the best method that has one; `done` has the best first."""
    for _, line in done.iterrows():
        path = cover_file(covers, dataset.name, line["method"])
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
        title = f"Cover of {line['method']} on {dataset.name}"
        figure = pictures.cover_picture(cover, dataset.label_names)
        cut = some_of(len(cover), pictures.MOST_LABELSETS, "labelsets")
        return Picture(
            Markup(pictures.to_svg(figure, f"cover-{number}", title, text + ".")),
            f"The cover of {line['method']}, the best of the methods that use one: {text}. {cut}",
        )
    return None


def _methods(results):
    return results.groupby("method", sort=False)["parameters"].first().to_dict()


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
