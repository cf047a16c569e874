"""The options of the commands, what --help says of them, and the data set that they name."""

import functools
import inspect
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelcover._arguments import check_real, parameter
from labelcover._words import WORDS

if TYPE_CHECKING:
    from labelcover.datasets import Dataset

HELP = tomllib.loads(Path(__file__).with_name("options.toml").read_text("utf-8"))
# What several texts of --help hold.
SAID = {
    "methods": ",".join(WORDS["methods"]),
    "names": "comma-separated names or @file with one a line; may be repeated",
}
# Options whose values are checked or read before the command runs.
READ: dict[str, Callable[[Any], Any]] = {
    "delimiter": lambda value: "\t" if value in ("tab", r"\t") else value,
    "threshold": lambda value: (
        check_real("--threshold", value, low=0, high=1) if isinstance(value, float) else value
    ),
}
# Options that name columns.
NAMING = ("labels", "drop", "text", "category", "number", "date")
SEPARATORS = {"tab": "\t", r"\t": "\t", "blank": " ", "space": " ", "newline": "\n", r"\n": "\n"}
NOTHING = "none"  # as a separator: each cell is one tag


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Which columns of a file are labels, and what the others are."""

    labels: list[str] | None = None
    label_prefix: list[str] | None = None
    label_range: str | None = None
    drop: list[str] | None = None
    tags: str | None = None
    separator: list[str] | None = None
    empty: str | None = None
    text: list[str] | None = None
    category: list[str] | None = None
    number: list[str] | None = None
    date: list[str] | None = None
    id: str | None = None


@dataclass(frozen=True, kw_only=True)
class CsvOptions:
    """How a CSV file is written."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How a model is made."""

    member: str = "auto"
    k: int = 3
    r: int | None = None
    seed: int = 0
    jobs: int | None = None

    def maker(self, method: str) -> "Callable[[Dataset], Any]":
        """Return a function that makes the estimator of a method for a data set."""
        from labelcover.experiments.named_methods import named_method

        make = named_method(method, k=self.k, r=self.r, member=self.member, n_jobs=self.jobs)
        how = {"random_state": self.seed, "verbose": sys.stderr.isatty()}
        return lambda dataset: make(dataset).set_params(**how)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as typer reads it: each option with its names and its text of --help.

    Parameters by name only are options, others are arguments. A parameter whose type is a
    dataclass stands for the options that are its fields; typer has no such groups of its own.
    """
    texts = HELP["every"] | HELP.get(command.__name__, {})
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if is_dataclass(each.annotation)
    }

    def described(option: inspect.Parameter) -> inspect.Parameter:
        own = texts[option.name]
        *names, text = [own] if isinstance(own, str) else own
        kind: Any = typer.Option if option.kind is option.KEYWORD_ONLY else typer.Argument
        told = kind(*names, help=text.format(**SAID), callback=READ.get(option.name))
        return option.replace(
            annotation=Annotated[option.annotation, told],
            kind=option.KEYWORD_ONLY,  # a required one may then follow one that is not
        )

    @functools.wraps(command)
    def grouped(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    options = [
        described(option)
        for name, each in signature.parameters.items()
        for option in (
            inspect.signature(groups[name]).parameters.values() if name in groups else [each]
        )
    ]
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
    from labelcover import datasets

    source = datasets.local_file(source)
    written = {name: value for name, value in asdict(csv).items() if value is not None}
    given: dict[str, Any] = {name: value for name, value in asdict(columns).items() if value}
    known = source in datasets.KNOWN and not Path(source).exists()
    if not known:
        datasets.check_kind(source)
    is_table = not known and datasets.is_table(source)
    for name, value in ({} if is_table else given | written).items():
        if name not in ("labels", "label_prefix", "drop", *([] if known else ["empty"])):
            raise ValueError(
                f"{parameter(name)} is for tables (.csv, .parquet, .jsonl, .xlsx), got "
                f"{parameter(name, value)} for {source}."
            )
    with warnings.catch_warnings(action="ignore", category=datasets.ReadingWarning):
        if known:
            return datasets.load(source)
        labels = _which_labels(given.get("labels"))
        if not is_table:
            drop = named_columns(given.get("drop", ()))
            return datasets.read(source, **given | {"labels": labels, "drop": drop})
        if isinstance(labels, str | int):
            raise ValueError(
                f"--labels {labels} is for ARFF files only, expected names for {source}."
            )
        # The columns of the table tell if an option has a comma that may be part of a name.
        named = {name: given[name] for name in NAMING if name in given}
        commas = any("," in value for values in named.values() for value in values)
        there = datasets.read_raw(source, **written).names if commas else []
        given |= {name: named_columns(values, there) for name, values in named.items()}
        if "separator" in given:
            marks = [SEPARATORS.get(mark, mark) for mark in given["separator"]]
            given["separator"] = [] if marks == [NOTHING] else marks
        return datasets.read_table(source, **given, **written)


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


def _which_labels(values: list[str] | None) -> str | int | list[str] | None:
    """Return what --labels means: a label file, a number of columns, or names."""
    if values is None:
        return None
    if len(values) == 1 and values[0].endswith(".xml"):
        return values[0]
    if len(values) == 1 and re.fullmatch(r"-?\d+", values[0]):
        return int(values[0])
    return named_columns(values)
