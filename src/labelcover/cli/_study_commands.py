"""`labelcover cover`, `compare`, `paper` and `datasets`: covers, and methods on known data sets."""

import json
import re
import time
from pathlib import Path

from labelcover._arguments import check_choice
from labelcover._files import replacing
from labelcover.cli._options import ColumnOptions, CsvOptions, integers, load_dataset
from labelcover.cli._outputs import (
    check_output,
    command_line,
    console,
    plain_table,
    print_facts,
    print_reading,
    resumable,
)


def cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    strategy: str = "balancor",
    size: int | None = None,
    seed: int | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    as_json: bool = False,
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
    data: list[str],
    *,
    methods: str = "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover",
    output: Path = Path("comparison"),
    folds: str = "kfold",
    n_folds: int = 10,
    seeds: str = "0",
    join: list[Path] | None = None,
    columns: ColumnOptions,
    csv: CsvOptions,
    member: str = "auto",
    k: str = "3",
    r: int | None = None,
    size: str | None = None,
    threshold: str = "auto",
    control: str | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    as_json: bool = False,
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
        print_facts(outcome.as_dict(), as_json, datasets)
    else:
        outcome.print(console())


def paper(
    part: str,
    *,
    datasets: str | None = None,
    k: str | None = None,
    folds: int = 10,
    quick: bool = False,
    output: Path = Path("paper"),
    jobs: int = 1,
    run: bool = True,
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


def datasets(*, as_json: bool = False) -> None:
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
