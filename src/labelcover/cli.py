"""The `labelcover` command: thin, no logic of its own."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.table import Table
except ImportError:  # pragma: no cover
    sys.exit("labelcover: the command needs its extra: pip install 'labelcover[cli]'")

#: What typer raises for a wrong command line, wherever this version keeps it.
UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="labelcover",
    help="Multi-label classification with label covers.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _root() -> None:
    """Multi-label classification with label covers."""


@app.command()
def cover(
    n_labels: Annotated[int, typer.Argument(help="Number of labels m.")],
    k: Annotated[int, typer.Argument(help="Labels in each labelset.")],
    r: Annotated[int, typer.Argument(help="Labels in each combination to cover.")] = 2,
    strategy: Annotated[
        str,
        typer.Option(help="best, inlac, balco, balancor, random, exact, rounded or randomized."),
    ] = "balancor",
    size: Annotated[
        int | None, typer.Option(help="Number of labelsets; by default as many as it takes.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, for what is drawn at random.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the cover to this JSON file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the cover to this file (.png, .svg, .pdf).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Design a cover of all r-combinations of labels by k-labelsets.

    Example: labelcover cover 45 4 2 --strategy balancor -o cover.json
    """
    from labelcover._arguments import check_choice
    from labelcover.covers import strategies_by_name
    from labelcover.covers.bounds import cover_size_bounds, schonheim_bound

    named = strategies_by_name()
    design = named[check_choice("--strategy", strategy, named)]
    began = time.perf_counter()
    made = design(n_labels, k, r, size=size, random_state=seed)
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
    _print_facts(facts, as_json)


def _save_figure(figure, path: Path) -> None:
    from labelcover._files import replacing

    accepted = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".") not in accepted:
        raise ValueError(f"--plot must end in one of {', '.join(sorted(accepted))}, got {path}.")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _print_facts(facts: dict, as_json: bool) -> None:
    if as_json:
        print(json.dumps(facts))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        shown = " to ".join(map(str, value)) if isinstance(value, list) else _shown(name, value)
        table.add_row(name, shown)
    Console(soft_wrap=True).print(table)


def _shown(name: str, value) -> str:
    return f"{value:.2%}" if name == "coverage" else str(value)


def main() -> None:
    """Run the command; a mistake of the user's is told in one line, with exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.Abort:
        _complain("stopped", 130)
    except UsageError as error:
        _complain(error.format_message(), 2)
    except (ValueError, OSError) as error:
        _complain(str(error), 2)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> NoReturn:
    print(f"labelcover: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
