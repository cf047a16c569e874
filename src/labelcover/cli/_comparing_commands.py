"""`labelcover compare`: methods on data sets; `labelcover paper`: the tables of the paper again."""

import re
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli._dataset_loading import load_dataset
from labelcover.cli._options import (
    COMPARED_NAMES,
    METHOD_NAMES,
    AsJson,
    ColumnOptions,
    CsvOptions,
    FitJobs,
    Member,
    R,
    Scheduler,
    integers,
)
from labelcover.cli._outputs import (
    command_line,
    console,
    print_facts,
    print_reading,
    reading_facts,
    resumable,
)


def compare(
    *,
    data: Annotated[
        list[str], typer.Argument(help="Files, or names that labelcover datasets lists.")
    ],
    methods: Annotated[
        str, typer.Option(help=f"Comma-separated names of methods, of {METHOD_NAMES}; or all.")
    ] = COMPARED_NAMES,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results.csv and report.html.")
    ] = Path("comparison"),
    folds: Annotated[
        str,
        typer.Option(help="kfold, stratified, own (the data set's split), or a file of folds."),
    ] = "kfold",
    n_folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    seeds: Annotated[str, typer.Option(help="Comma-separated seeds.")] = "0",
    join: Annotated[
        list[Path] | None, typer.Option(help="Add the lines of this results file. Repeatable.")
    ] = None,
    columns: ColumnOptions,
    csv: CsvOptions,
    member: Member = "auto",
    k: Annotated[
        str,
        typer.Option(
            "-k", "--k", help="Number of labels in each labelset; several, comma-separated."
        ),
    ] = "3",
    r: R = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="Number of labelsets, or paper: the paper's for each data set and k. By default "
            "as many as BALANCOR needs."
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="How the paper's methods tune theirs: auto, or cv as the paper.")
    ] = "auto",
    control: Annotated[
        str | None, typer.Option(help="Method that the others are compared with (Bonferroni–Dunn).")
    ] = None,
    jobs: FitJobs = 1,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on data sets: a table, results.csv and report.html.

    The same command resumes an interrupted run.

    Example: labelcover compare debtags --methods BALANCOR,BR -o comparison
    """
    from labelcover.chunks import cluster
    from labelcover.experiments.comparing import compare as compare_methods
    from labelcover.experiments.named_methods import named_methods

    with resumable(output / "results.csv"), cluster(scheduler):
        compared = named_methods(
            [name.strip() for name in methods.split(",")],
            integers("-k", k),
            r=r,
            size=size if size is None or size == "paper" else _integer("--size", size),
            threshold=threshold,
            member=member,
        )
        datasets = [load_dataset(source, columns, csv) for source in data]
        print_reading(datasets, as_json)
        outcome = compare_methods(
            compared,
            datasets,
            output,
            folds=folds,
            n_folds=n_folds,
            seeds=integers("--seeds", seeds),
            join=join or [],
            control=control,
            n_jobs=jobs,
            command=command_line(),
        )
    if as_json:
        print_facts(outcome.as_dict() | reading_facts(datasets, as_json), as_json)
    else:
        outcome.print(console())


def _integer(name: str, text: str) -> int:
    if not re.fullmatch(r"-?\d+", text):
        raise ValueError(f"{name} must be an integer or 'paper', got {text!r}.")
    return int(text)


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
        bool, typer.Option("--quick", help="Emotions, scene and yeast, three folds, few k.")
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
    from labelcover.experiments import reproduce

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
