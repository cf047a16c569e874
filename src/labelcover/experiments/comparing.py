"""A comparison from end to end: run it, keep its results, and write the report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover._arguments import check_choice, check_integer, check_jobs
from labelcover.datasets import Dataset
from labelcover.experiments.folds import make_folds
from labelcover.experiments.report import write_report
from labelcover.experiments.results import ResultsFile, read_results
from labelcover.experiments.running import Method, run
from labelcover.experiments.summary import Ranking, rank_methods, summarize

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

# What fits a terminal of eighty columns; the report has more.
SHOWN = ("micro_f1", "macro_f1", "hamming_loss", "subset_accuracy")


@dataclass(frozen=True)
class Outcome:
    """What a comparison found, and where it is written.

    Attributes
    ----------
    summary : DataFrame
        See `summarize`.
    ranking : Ranking or None
        By micro-F1; see `rank_methods`.
    results, report : Path
        The files.
    """

    summary: pd.DataFrame
    ranking: Ranking | None
    results: Path
    report: Path

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as data that JSON can hold."""
        lines = json.loads(self.summary.to_json(orient="records"))
        ranks = None
        if self.ranking is not None:
            ranks = {
                "measure": self.ranking.measure,
                "ranks": dict(zip(self.ranking.methods, self.ranking.ranks.tolist(), strict=True)),
                "problems": self.ranking.problems,
                "friedman_p": self.ranking.test.p_value,
                "friedman_exact": self.ranking.test.exact,
                "critical_difference": self.ranking.difference,
                "control": self.ranking.control,
                "bonferroni_dunn_p": self.ranking.p_values,
            }
        files = {"results": str(self.results), "report": str(self.report)}
        return {"summary": lines, "ranking": ranks, **files}

    def print(self, console: Console) -> None:
        """Print a table per data set, the ranks, and where the files are."""
        from rich.table import Table

        from labelcover.metrics import MEASURES

        for dataset, lines in self.summary.groupby("dataset", sort=False):
            table = Table(title=str(dataset), title_justify="left", box=None, pad_edge=False)
            table.add_column("method", no_wrap=True)
            for name in SHOWN:
                table.add_column(MEASURES[name].title, justify="right", min_width=13)
            table.add_column("σ", justify="right")
            table.add_column("fit, s", justify="right")
            for _, line in lines.iterrows():
                table.add_row(line["method"], *_cells(line, lines))
            console.print(table)
            for _, line in lines[lines["failed"] > 0].iterrows():
                console.print(f"{line['method']} failed {line['failed']} times: {line['error']}")
        if self.ranking is not None:
            shown = ", ".join(
                f"{name} {rank:.2f}"
                for name, rank in zip(self.ranking.methods, self.ranking.ranks, strict=True)
            )
            console.print(
                f"mean ranks by micro-F1: {shown}; critical difference "
                f"{self.ranking.difference:.2f}; {self.ranking.evidence()}"
            )
            if self.ranking.control is not None:
                console.print(f"{self.ranking.against_control()}")
        console.print(f"{self.results}\n{self.report}")


def compare(
    methods: Mapping[str, Method],
    datasets: Sequence[Dataset],
    folder: str | os.PathLike[str],
    *,
    folds: str = "kfold",
    n_folds: int = 10,
    seeds: Sequence[int] = (0,),
    join: Sequence[str | os.PathLike[str]] = (),
    control: str | None = None,
    n_jobs: int | None = None,
    command: str = "",
    verbose: bool = True,
) -> Outcome:
    """Compare methods on data sets and write ``results.csv`` and ``report.html`` to a folder.

    Parameters
    ----------
    methods, datasets, folds, n_folds, seeds, n_jobs, verbose
        As in `run`.
    folder : path-like
        Created if it does not exist. Results that it already holds are not computed again, unless
        data, folds or parameters have changed (see `run`).
    join : list of path-like
        Results files whose lines are added.
    control : str, optional
        One of `methods`, with which the others are compared by the Bonferroni–Dunn test.
    command : str
        What the user typed, for the report.

    Raises
    ------
    BlockingIOError
        If another process is writing to the folder.
    """
    folder = Path(folder)
    # Mistakes are found before anything is written.
    if control is not None:
        check_choice("control", control, methods)
    check_jobs(n_jobs)
    for seed in seeds:
        check_integer("seeds", seed, low=0, high=2**32 - 1)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder must be one, or not be there yet, got the file {folder}.")
    names = [dataset.name for dataset in datasets]
    for j, name in enumerate(names):
        if name in names[:j]:
            raise ValueError(f"datasets must have different names, got {name!r} twice.")
    for path in join:
        read_results(path)
    for dataset in datasets:
        make_folds(dataset, folds, n_folds=n_folds)
    folder.mkdir(parents=True, exist_ok=True)
    results, report, covers = folder / "results.csv", folder / "report.html", folder / "covers"
    with ResultsFile(results) as file:
        if join:
            file.join(join)
        run(
            methods,
            datasets,
            file,
            folds=folds,
            n_folds=n_folds,
            seeds=seeds,
            covers=covers,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        frame = read_results(results)
        write_report(report, frame, datasets, covers, command=command, control=control)
    return Outcome(summarize(frame), rank_methods(frame, control=control), results, report)


def _cells(line, lines):
    from rich.text import Text

    from labelcover.metrics import MEASURES

    for name in SHOWN:
        mean = line[f"mean_{name}"]
        column = lines[f"mean_{name}"]
        best = column.max() if MEASURES[name].higher_is_better else column.min()
        text = "–" if mean != mean else f"{mean:.3f} ± {line[f'sd_{name}']:.3f}"
        yield Text(text, style="bold" if mean == best else "")
    yield "–" if line["mean_size"] != line["mean_size"] else f"{line['mean_size']:.0f}"
    yield (
        "–"
        if line["mean_fit_seconds"] != line["mean_fit_seconds"]
        else (f"{line['mean_fit_seconds']:.2f}")
    )
