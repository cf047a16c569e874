"""The `labelcover` command: thin, no logic of its own."""

from __future__ import annotations

import json
import re
import shlex
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


# Arguments and options that several commands have.
Data = Annotated[
    str, typer.Argument(help="A file (.arff, .csv, .tsv, .parquet, .libsvm) or a name.")
]
ModelFile = Annotated[Path, typer.Argument(help="A model that labelcover train wrote.")]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Label columns: names between commas; for ARFF also a label file or a number."
    ),
]
LabelPrefix = Annotated[
    str | None, typer.Option(help="Label columns are those whose names start so.")
]
Drop = Annotated[str, typer.Option(help="Columns to leave out, between commas.")]
Member = Annotated[str, typer.Option(help="least-squares, c45, smo or logistic.")]
K = Annotated[int, typer.Option("-k", help="Labels in each labelset.")]
R = Annotated[int, typer.Option("-r", help="Labels in each combination to cover.")]
Seed = Annotated[int, typer.Option(help="Seed.")]
Jobs = Annotated[int | None, typer.Option(help="Processes for members that are fitted one by one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


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
    _print_facts(facts, as_json)


@app.command()
def train(
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the model to this file (.skops).")
    ],
    labels: Labels = None,
    label_prefix: LabelPrefix = None,
    drop: Drop = "",
    method: Annotated[str, typer.Option(help="LabelCover, RAKEL, BALANCOR, BR, …")] = "LabelCover",
    member: Member = "least-squares",
    k: K = 3,
    r: R = 2,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file and write it to disk.

    Example: labelcover train songs.csv --label-prefix mood: -o model.skops
    """
    dataset = _dataset(data, labels, label_prefix, drop)
    _check_folder(output)

    from labelcover.experiments.methods import named_method
    from labelcover.models import TrainedModel, save_model

    make = named_method(method, k=k, r=r, member=member, n_jobs=jobs)
    estimator = make(dataset).set_params(random_state=seed, verbose=True)
    began = time.perf_counter()
    save_model(TrainedModel.fit(estimator, dataset), output)
    facts = {
        "method": method,
        "rows": len(dataset.Y),
        "features": len(dataset.feature_names),
        "labels": len(dataset.label_names),
        "members": len(estimator.cover_),
        "seconds": round(time.perf_counter() - began, 3),
        "written": str(output),
    }
    _print_facts(facts, as_json)


@app.command()
def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the predictions to this CSV file.")
    ],
    as_json: AsJson = False,
) -> None:
    """Predict the labels of the rows of a file: 0 or 1 and a probability for each.

    Example: labelcover predict model.skops new-songs.csv -o moods.csv
    """
    from labelcover.models import load_model, write_predictions

    trained = load_model(model)
    dataset = trained.read(data, with_labels=False)
    _check_folder(output)
    predicted = write_predictions(trained, dataset, output)
    facts = {
        "rows": len(predicted),
        "labels": len(trained.label_names),
        "labels a row": round(float(predicted.sum(axis=1).mean()), 3),
        "written": str(output),
    }
    _print_facts(facts, as_json)


@app.command()
def evaluate(
    model: ModelFile,
    data: Data,
    as_json: AsJson = False,
) -> None:
    """Measure a model on a file that holds the labels too.

    Example: labelcover evaluate model.skops test.csv
    """
    from labelcover.models import load_model, measure_model

    trained = load_model(model)
    scores, label_scores = measure_model(trained, trained.read(data, with_labels=True))
    if as_json:
        print(json.dumps({**scores, "label_f1": label_scores}))
    else:
        _print_facts({name: f"{value:.4f}" for name, value in scores.items()}, False)


@app.command()
def compare(
    data: Annotated[
        list[str], typer.Argument(help="Files, or names that labelcover datasets lists.")
    ],
    methods: Annotated[str, typer.Option(help="Names of methods between commas.")] = (
        "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover"
    ),
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for results.csv and report.html.")
    ] = Path("comparison"),
    folds: Annotated[
        str, typer.Option(help="kfold, stratified, own (the set's split), or a file of folds.")
    ] = "kfold",
    n_folds: Annotated[int, typer.Option(help="Number of folds.")] = 10,
    seeds: Annotated[str, typer.Option(help="Seeds between commas.")] = "0",
    join: Annotated[
        list[Path] | None, typer.Option(help="Take in this results file too. May be repeated.")
    ] = None,
    labels: Labels = None,
    label_prefix: LabelPrefix = None,
    drop: Drop = "",
    member: Member = "least-squares",
    k: K = 3,
    r: R = 2,
    jobs: Annotated[int, typer.Option(help="Fits at the same time.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Compare methods on data sets: a table, results.csv and report.html.

    Stopped in the middle, the same command goes on where it was.

    Example: labelcover compare debtags --methods BALANCOR,BR -o comparison
    """
    from labelcover.experiments.comparing import compare as compare_methods
    from labelcover.experiments.methods import named_method

    wanted = [name.strip() for name in methods.split(",")]
    outcome = compare_methods(
        {name: named_method(name, k=k, r=r, member=member) for name in wanted},
        [_dataset(source, labels, label_prefix, drop) for source in data],
        output,
        folds=folds,
        n_folds=n_folds,
        seeds=_integers("--seeds", seeds),
        join=join or [],
        n_jobs=jobs,
        command=shlex.join(["labelcover", *sys.argv[1:]]),
    )
    if as_json:
        print(outcome.to_json())
    else:
        outcome.print(Console(soft_wrap=True))


@app.command()
def datasets(
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, their figures, and which are on this machine.

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
    table = Table(box=None, pad_edge=False)
    for column in lines[0]:
        table.add_column(column, justify="left" if column in ("name", "here") else "right")
    for line in lines:
        table.add_row(
            *("yes" if v is True else "no" if v is False else str(v) for v in line.values())
        )
    Console(soft_wrap=True).print(table)


def _dataset(source: str, labels: str | None, prefix: str | None, drop: str):
    from labelcover.datasets import KNOWN, load, read

    if source in KNOWN and not Path(source).exists():
        return load(source)
    return read(
        source,
        _which_labels(labels),
        label_prefix=prefix,
        drop=[name for name in drop.split(",") if name],
    )


def _which_labels(text: str | None) -> str | int | list[str] | None:
    """Return what --labels means: a label file, a number of columns, or names."""
    if text is None or text.endswith(".xml"):
        return text
    return int(text) if re.fullmatch(r"-?\d+", text) else text.split(",")


def _integers(name: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} must be integers between commas, got {text!r}.") from None


def _check_folder(path: Path) -> None:
    """Say before the work that its outcome could not be written."""
    if not path.parent.is_dir():
        raise ValueError(f"--output must lie in a folder that exists, got {path}.")


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
    return f"{value:.2%}" if name == "coverage" and isinstance(value, float) else str(value)


def main() -> None:
    """Run the command; a mistake of the user's is told in one line, with exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.Abort:
        _complain("stopped", 130)
    except UsageError as error:
        _complain(error.format_message(), 2)
    except ImportError as error:
        _complain(f"{error}; pip install 'labelcover[all]' brings it", 2)
    except ValueError as error:
        _complain(str(error), 2)
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), 2)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> NoReturn:
    print(f"labelcover: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
