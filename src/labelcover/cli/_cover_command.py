"""`labelcover cover`: design a cover."""

import time
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli._options import AsJson
from labelcover.cli._outputs import check_output, print_facts


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
    from labelcover._arguments import check_choice
    from labelcover.covers import strategies_by_name
    from labelcover.covers.bounds import cover_size_bounds, schonheim_bound

    named = strategies_by_name()
    design = named[check_choice("--strategy", strategy, named)]
    if output is not None:
        check_output(output)
    if plot is not None:
        check_output(plot, option="--plot")
        _check_picture(plot)
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
        _save_figure(made.plot(), plot)
        facts["drawn"] = str(plot)
    if output is not None:
        made.save(output)
        facts["written"] = str(output)
    print_facts(facts, as_json)


def _check_picture(path: Path) -> None:
    from matplotlib.figure import Figure

    accepted = Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in accepted:
        raise ValueError(f"--plot must end in one of {', '.join(sorted(accepted))}, got {path}.")


def _save_figure(figure, path: Path) -> None:
    from labelcover._files import replacing

    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)
