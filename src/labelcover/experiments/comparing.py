"""A comparison from end to end: run it, keep its results, and write the report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover._arguments import check_choice, check_integer, check_jobs
from labelcover.datasets import Dataset
from labelcover.experiments._folds import make_folds
from labelcover.experiments._report.comparison_page import write_report
from labelcover.experiments._running import Method, run
from labelcover.experiments._statistics import Ranking, rank_methods, summarize
from labelcover.experiments.results import ResultsFile, read_results
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

__all__ = [
    "Outcome",
    "compare",
]

# What fits a terminal of eighty columns; the report has more.
SHOWN = ("micro_f1", "macro_f1", "hamming_loss", "subset_accuracy")
# The two cuts: how their columns begin, and what they are called.
CUTS = {
    "tuned_": "threshold tuned for micro-F1, for all alike",
    "": "own cut of each method, not tuned",
}


@dataclass(frozen=True)
class Outcome:
    """What a comparison found, and where it is written.

    Attributes
    ----------
    summary : DataFrame
        See `summarize`.
    ranking, own_ranking : Ranking or None
        By micro-F1 at tuned thresholds, and by the methods' own cuts; see `rank_methods`.
    results, report : Path
        The files.
    """

    summary: pd.DataFrame
    ranking: Ranking | None
    own_ranking: Ranking | None
    results: Path
    report: Path

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as data that JSON can hold."""
        lines = json.loads(self.summary.to_json(orient="records"))
        both = {"ranking": self.ranking, "own_ranking": self.own_ranking}
        ranks = {name: ranking and _as_json(ranking) for name, ranking in both.items()}
        files = {"results": str(self.results), "report": str(self.report)}
        return {"summary": lines, **ranks, **files}

    def print(self, console: Console) -> None:
        """Print a table per data set and cut, the ranks, and where the files are."""
        for dataset, lines in self.summary.groupby("dataset", sort=False):
            for cut, words in CUTS.items():
                if lines[f"mean_{cut}micro_f1"].notna().any():
                    console.print(_table(f"{dataset}: {words}", lines, cut))
            for _, line in lines[lines["failed"] > 0].iterrows():
                console.print(f"{line['method']} failed {line['failed']} times: {line['error']}")
        for ranking, words in zip((self.ranking, self.own_ranking), CUTS.values(), strict=True):
            if ranking is None:
                continue
            console.print(
                f"mean ranks by micro-F1 ({words}): {ranking.ranks_told()}; critical difference "
                f"{ranking.difference:.2f}; {ranking.evidence()}"
            )
            if ranking.control is not None:
                console.print(f"{ranking.against_control()}")
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
    methods : mapping of str to estimator, or to a function of a `Dataset` that returns one
        Methods by name. Each is cloned for every fit and gets the seed as ``random_state``.
    datasets : list of Dataset
    folder : path-like
        Created if it does not exist. Results that it already holds are not computed again. Those
        of other data, folds or parameters, by their fingerprints, are set aside with a warning.
    folds, n_folds
        As in `labelcover.experiments._folds.make_folds`, the same for every method and seed.
    seeds : list of int
        Every method is run once for each.
    join : list of path-like
        Results files whose lines are added.
    control : str, optional
        One of `methods`, with which the others are compared by the Bonferroni–Dunn test.
    n_jobs : int, optional
        Number of fits in parallel, each in a process of its own. Results are the same but for
        the times, which are longer when fits compete. In a context of
        `labelcover.chunks.cluster`, fits go to the workers of a Dask cluster instead.
    command : str
        What the user typed, for the report.
    verbose : bool
        Show a progress bar.

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
    tuned, own = (rank_methods(frame, f"{cut}micro_f1", control=control) for cut in CUTS)
    return Outcome(summarize(frame), tuned, own, results, report)


def _as_json(ranking: Ranking) -> dict[str, Any]:
    return {
        "measure": ranking.measure,
        "ranks": ranking.by_method,
        "problems": ranking.problems,
        "friedman_p": ranking.test.p_value,
        "friedman_exact": ranking.test.exact,
        "critical_difference": ranking.difference,
        "control": ranking.control,
        "bonferroni_dunn_p": ranking.p_values,
    }


def _table(title: str, lines: pd.DataFrame, cut: str) -> Any:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for name in SHOWN:
        table.add_column(MEASURES[name].title, justify="right", min_width=13)
    table.add_column("labelsets", justify="right")
    table.add_column("fit, s", justify="right")
    for _, line in lines.iterrows():
        table.add_row(line["method"], *_cells(line, lines, cut))
    return table


def _cells(line: pd.Series, lines: pd.DataFrame, cut: str) -> Iterator[Any]:
    from rich.text import Text

    for name in SHOWN:
        mean, column = line[f"mean_{cut}{name}"], lines[f"mean_{cut}{name}"]
        best = column.max() if MEASURES[name].higher_is_better else column.min()
        text = "–" if mean != mean else f"{mean:.3f} ± {line[f'sd_{cut}{name}']:.3f}"
        yield Text(text, style="bold" if mean == best else "")
    for name, digits in (("mean_size", 0), ("mean_fit_seconds", 2)):
        yield "–" if line[name] != line[name] else f"{line[name]:.{digits}f}"
