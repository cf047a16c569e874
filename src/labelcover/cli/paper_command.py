"""`labelcover paper`: the tables of the paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli.options import FitJobs, integers
from labelcover.cli.outputs import command_line, resumable
from labelcover.cli.printing import console


def paper(
    part: Annotated[
        str,
        typer.Argument(help="table6, table7, table8, table9, table10, figure1 or section5.7."),
    ],
    datasets: Annotated[
        str | None, typer.Option(help="Comma-separated data sets, by default all of the paper.")
    ] = None,
    k: Annotated[
        str | None, typer.Option("-k", "--k", help="Only these k, comma-separated.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    quick: Annotated[
        bool, typer.Option("--quick", help="Emotions, scene and yeast, three folds.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results.csv and the tables.")
    ] = Path("paper"),
    jobs: FitJobs = 1,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run what is missing, or show what there is.")
    ] = True,
) -> None:
    """Run a table of the paper; print and write the paper's figures beside ours.

    The same command resumes an interrupted run.

    Example: labelcover paper table7 --quick
    """
    from labelcover.experiments.paper.reproduce import reproduce

    with resumable(output / "results.csv"):
        outcome = reproduce(
            part,
            output,
            datasets=None if datasets is None else datasets.split(","),
            k=None if k is None else integers("-k", k),
            n_folds=folds,
            quick=quick,
            n_jobs=jobs,
            run=run,
            command=command_line(),
        )
    outcome.print(console())
