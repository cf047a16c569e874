"""Arguments and options that several commands have, and the data set that they name."""

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelcover._arguments import check_real, parameter

if TYPE_CHECKING:
    from labelcover.datasets import Dataset

# The names in labelcover.experiments.named_methods, which is slow to import; a test compares them.
COMPARED_NAMES = "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover"
METHOD_NAMES = f"{COMPARED_NAMES},LP,PS,EPS,DS,EDS,ECC,PCC,EPCC,2BR,LEAD,HOMER"

# Options that name columns.
NAMING = ("labels", "drop", "text", "category", "number", "date")
SEPARATORS = {"tab": "\t", r"\t": "\t", "blank": " ", "space": " ", "newline": "\n", r"\n": "\n"}
NOTHING = "none"  # as a separator: each cell is one tag
# How the names of columns are given.
NAMES = "comma-separated names or @file with one a line; may be repeated"


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
        callback=lambda value: value and check_real("--threshold", value, low=0, high=1),
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
    for name, option in signature.parameters.items():
        if is_dataclass(option.annotation):
            groups[name] = option.annotation
            options += inspect.signature(groups[name]).parameters.values()
        else:
            options.append(option)

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


def load_dataset(source: str, columns: ColumnOptions, csv: CsvOptions) -> "Dataset":
    """Return a data set by its name or file.

    What its report says is not warned of: the command prints the report.
    """
    from labelcover.datasets import ReadingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        return _read(source, columns, csv)


def _read(source: str, columns: ColumnOptions, csv: CsvOptions) -> "Dataset":
    from labelcover.datasets import KNOWN, check_kind, is_table, load, local_file, read, read_table

    source = local_file(source)
    written = {name: value for name, value in asdict(csv).items() if value is not None}
    given: dict[str, Any] = {name: value for name, value in asdict(columns).items() if value}
    known = source in KNOWN and not Path(source).exists()
    if not known:
        check_kind(source)
    if known or not is_table(source):
        for name, value in (given | written).items():
            if name not in ("labels", "label_prefix", "drop", *([] if known else ["empty"])):
                raise ValueError(
                    f"{parameter(name)} is for tables (.csv, .parquet, .jsonl, .xlsx), got "
                    f"{parameter(name, value)} for {source}."
                )
        if known:
            return load(source)
        labels = _which_labels(given.pop("labels", None))
        return read(source, labels, **given | {"drop": named_columns(given.get("drop", ()))})
    labels = _which_labels(given.get("labels"))
    if isinstance(labels, str | int):
        raise ValueError(f"--labels {labels} is for ARFF files only, expected names for {source}.")
    there = _columns_there(source, given, written)
    given |= {name: named_columns(given[name], there) for name in NAMING if name in given}
    if "separator" in given:
        marks = [SEPARATORS.get(mark, mark) for mark in given["separator"]]
        given["separator"] = [] if marks == [NOTHING] else marks
    return read_table(source, **given, **written)


def load_for_model(trained: Any, source: str, csv: CsvOptions, **how: Any) -> "Dataset":
    """Return the data set in a file as a trained model takes it; see `Reading.read`."""
    from labelcover.datasets import Reading, local_file

    return Reading.of_model(trained).read(local_file(source), **how, **asdict(csv))


def named_columns(values: Sequence[str], there: Sequence[str] = ()) -> list[str]:
    """Return the columns that the values of an option name.

    A value is comma-separated names, or ``@`` and a file with one name a line. A name of a column
    that is `there` and holds commas is not split.

    Examples
    --------
    >>> from labelcover.cli._options import named_columns
    >>> named_columns(["Eggs, Milk, whole", "Salt"], ["Eggs", "Milk, whole", "Salt"])
    ['Eggs', 'Milk, whole', 'Salt']
    """
    names: list[str] = []
    for value in values:
        if value.startswith("@") and value not in there:
            lines = Path(value[1:]).read_text(encoding="utf-8-sig").splitlines()
            names += [line.strip() for line in lines if line.strip()]
        else:
            names += _split(value, there)
    return names


def _split(value: str, there: Sequence[str]) -> list[str]:
    parts = value.split(",")
    names, at = [], 0
    while at < len(parts):
        # The longest run of parts that is a column; else a part alone.
        ends = range(len(parts), at + 1, -1)
        end = next((e for e in ends if ",".join(parts[at:e]).strip() in there), at + 1)
        names.append(",".join(parts[at:end]).strip())
        at = end
    return [name for name in names if name]


def _columns_there(source: str, given: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """Return the columns of a table if an option has a comma that may be part of a name."""
    from labelcover.datasets import read_raw

    values = [value for name in NAMING for value in given.get(name, ())]
    return read_raw(source, **written).names if any("," in value for value in values) else []


def _which_labels(values: list[str] | None) -> str | int | list[str] | None:
    """Return what --labels means: a label file, a number of columns, or names."""
    if values is None:
        return None
    if len(values) == 1 and values[0].endswith(".xml"):
        return values[0]
    if len(values) == 1 and re.fullmatch(r"-?\d+", values[0]):
        return int(values[0])
    return named_columns(values)
