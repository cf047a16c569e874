"""Arguments and options that several commands have, and groups of them."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from labelcover._arguments import check_real

# The names in labelcover.experiments.named_methods, which is slow to import; a test compares them.
COMPARED_NAMES = "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover"
METHOD_NAMES = f"{COMPARED_NAMES},LP,PS,EPS,DS,EDS,ECC,PCC,EPCC,2BR,LEAD,HOMER"

# The word that asks for a traceback, wherever it stands.
DEBUG = "--debug"

# How the names of columns are given.
NAMES = "comma-separated names or @file with one a line; may be repeated"


def _checked_threshold(threshold: float | None) -> float | None:
    return None if threshold is None else check_real("--threshold", threshold, low=0, high=1)


Data = Annotated[
    str,
    typer.Argument(
        help="A file (.csv, .tsv, .csv.gz, .parquet, .jsonl, .json, .xlsx, .arff, .libsvm), "
        "book.xlsx#sheet, sqlite:///file.db#table, - for standard input, or a known name."
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="A model written by labelcover train.")]
Member = Annotated[
    str, typer.Option(help="The member classifiers: auto, least-squares, c45, smo or logistic.")
]
R = Annotated[
    int | None,
    typer.Option(
        "-r",
        help="Order of the label combinations to cover, at most k. By default 2, or 1 with k = 1.",
        show_default=False,
    ),
]
K = Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
Jobs = Annotated[
    int | None, typer.Option(help="Members fitted in parallel; ignored where solved jointly.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a running Dask scheduler, such as tcp://10.0.0.1:8786: its workers do the "
        "work.",
        show_default=False,
    ),
]
FitJobs = Annotated[int, typer.Option(help="Number of fits in parallel.")]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Predict the labels whose probability is at least this, between 0 and 1, instead of "
        "what the model decides.",
        show_default=False,
        callback=_checked_threshold,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Empty = Annotated[
    str | None,
    typer.Option(
        help="What an empty cell of the labels means: unknown (nobody looked), none (0, or no "
        "tags), or skip (the row).",
        show_default=False,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw", help="Put no apostrophe before cells of a CSV file that a spreadsheet would run."
    ),
]


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a file are labels, and what the others are."""

    labels: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Label columns, {NAMES}; for ARFF also a label file (.xml), or the number of "
            "leading (negative: trailing) columns."
        ),
    ] = None
    label_prefix: Annotated[
        list[str] | None,
        typer.Option(help="Label columns are those whose names start with this; may be repeated."),
    ] = None
    label_range: Annotated[
        str | None, typer.Option(help="Label columns are those from FIRST:LAST, two names.")
    ] = None
    drop: Annotated[list[str] | None, typer.Option(help=f"Columns to leave out, {NAMES}.")] = None
    tags: Annotated[
        str | None, typer.Option(help="The column with the tags of each row, such as: rain; wind.")
    ] = None
    separator: Annotated[
        list[str] | None,
        typer.Option(
            help="What separates tags, such as ; or tab or blank; may be repeated; none: a cell is "
            "one tag. Found out by default.",
            show_default=False,
        ),
    ] = None
    empty: Empty = None
    text: Annotated[list[str] | None, typer.Option(help=f"Columns of free text, {NAMES}.")] = None
    category: Annotated[list[str] | None, typer.Option(help=f"Columns of categories, {NAMES}.")] = (
        None
    )
    number: Annotated[list[str] | None, typer.Option(help=f"Columns of numbers, {NAMES}.")] = None
    date: Annotated[list[str] | None, typer.Option(help=f"Columns of dates, {NAMES}.")] = None
    id: Annotated[
        str | None,
        typer.Option(help="The column that names the rows; carried into predictions."),
    ] = None


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Between the cells of a CSV file, such as ; or tab; found out by default.",
            callback=lambda value: "\t" if value in ("tab", r"\t") else value,
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(help="Encoding of a CSV file, such as latin-1; found out by default."),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(help="Decimal sign of a CSV file, . or ,; by default found for each column."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first row of a CSV file has the names of the columns; without, they "
            "are called: column 1, column 2, …",
            show_default=False,
        ),
    ] = None


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of its groups in place of the groups.

    A group is a dataclass. typer reads the options of a command from its signature, and has no
    groups of its own.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            options += inspect.signature(groups[name]).parameters.values()
        else:
            options.append(parameter)

    @functools.wraps(command)
    def grouped(**given: Any) -> None:
        for name, group in groups.items():
            own = inspect.signature(group).parameters
            given[name] = group(**{option: given.pop(option) for option in own})
        command(**given)

    # By name only: a required argument may then follow an option.
    options = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    grouped.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    grouped.__annotations__ = {option.name: option.annotation for option in options}
    return grouped


def integers(name: str, text: str) -> list[int]:
    """Return the integers of an option that takes several."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} must be comma-separated integers, got {text!r}.") from None
