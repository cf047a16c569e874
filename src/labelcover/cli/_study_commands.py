"""`labelcover cover`, `compare`, `paper` and `datasets`: covers, and methods on known data sets."""

import json
import re
import time
from pathlib import Path
from typing import Annotated

import typer

from labelcover._arguments import check_choice
from labelcover._files import replacing
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
    load_dataset,
)
from labelcover.cli._outputs import (
    check_output,
    command_line,
    console,
    plain_table,
    print_facts,
    print_reading,
    reading_facts,
    resumable,
)


def cover(
    n_labels: Annotated[int, typer.Argument(help="Number of labels m.")],
    k: Annotated[int, typer.Argument(help="Number of labels in each labelset.")],
    r: Annotated[int, typer.Argument(help="Order of the label combinations to cover.")] = 2,
    strategy: Annotated[
        str,
        typer.Option(help="best, inlac, balco, balancor, random, exact, rounded or randomized."),
    ] = "balancor",
    size: Annotated[
        int | None, typer.Option(help="Number of labelsets; by default as many as needed.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random choices.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the cover to this JSON file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the cover to this file (.png, .svg, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Design a cover of all r-combinations of labels by k-labelsets.

    Example: labelcover cover 45 4 2 --strategy balancor -o cover.json
    """
    from labelcover.covers import strategies_by_name
    from labelcover.covers.bounds import cover_size_bounds, schonheim_bound

    named = strategies_by_name()
    design = named[check_choice("--strategy", strategy, named)]
    if output is not None:
        check_output(output)
    if plot is not None:
        check_output(plot, option="--plot")
        from matplotlib.figure import Figure

        accepted = Figure().canvas.get_supported_filetypes()
        if plot.suffix.lstrip(".") not in accepted:
            raise ValueError(
                f"--plot must end in one of {', '.join(sorted(accepted))}, got {plot}."
            )
    began = time.perf_counter()
    made = design(n_labels, k, r, size=size, random_state=seed, verbose=True)
    seconds = time.perf_counter() - began
    lemma_2 = cover_size_bounds(n_labels, k, r)
    facts = {
        "strategy": strategy,
        "labels": n_labels,
        "k": k,
        "r": r,
        "size": len(made),
        "lower bound": max(schonheim_bound(n_labels, k, r), made.lower_bound or 0),
        "bounds of Lemma 2": list(lemma_2),
        "coverage": made.coverage(r),
        "imbalance": made.imbalance,
        "seconds": round(seconds, 3),
    }
    if plot is not None:
        with replacing(plot) as temporary:
            made.plot().savefig(temporary, dpi=150)
        facts["drawn"] = str(plot)
    if output is not None:
        made.save(output)
        facts["written"] = str(output)
    print_facts(facts, as_json)


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

    if size not in (None, "paper") and not re.fullmatch(r"-?\d+", f"{size}"):
        raise ValueError(f"--size must be an integer or 'paper', got {size!r}.")
    with resumable(output / "results.csv"), cluster(scheduler):
        compared = named_methods(
            [name.strip() for name in methods.split(",")],
            integers("-k", k),
            r=r,
            size=size if size is None or size == "paper" else int(size),
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


def datasets(
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, their properties, and which are on this machine.

    Example: labelcover datasets
    """
    from labelcover.datasets import KNOWN, is_here

    columns = ("rows", "features", "labels", "cardinality", "density")
    lines = [
        {"name": name, **{c: getattr(known, c) for c in columns}, "here": is_here(name)}
        for name, known in KNOWN.items()
    ]
    if as_json:
        print(json.dumps(lines))
        return
    table = plain_table(*lines[0], left=(0, len(columns) + 1))
    for line in lines:
        table.add_row(
            *("yes" if v is True else "no" if v is False else str(v) for v in line.values())
        )
    console().print(table)
