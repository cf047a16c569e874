"""The `labelcover` command: thin, no logic of its own."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
import warnings
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


# The names in labelcover.experiments.named_methods, which is slow to import; a test compares them.
COMPARED_NAMES = "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover"
METHOD_NAMES = f"{COMPARED_NAMES},LP,PS,EPS,DS,EDS,ECC,PCC,EPCC,2BR,LEAD,HOMER"

# Arguments and options that several commands have.
Data = Annotated[
    str, typer.Argument(help="A file (.arff, .csv, .tsv, .parquet, .libsvm) or a known name.")
]
ModelFile = Annotated[Path, typer.Argument(help="A model written by labelcover train.")]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Label columns: comma-separated names; for ARFF also a label file (.xml), or the "
        "number of leading (negative: trailing) columns."
    ),
]
LabelPrefix = Annotated[
    str | None, typer.Option(help="Label columns are those whose names start with this.")
]
Drop = Annotated[str, typer.Option(help="Columns to leave out, comma-separated.")]
Member = Annotated[
    str, typer.Option(help="The member classifiers: auto, least-squares, c45, smo or logistic.")
]
K = Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")]
R = Annotated[
    int | None,
    typer.Option(
        "-r",
        help="Order of the label combinations to cover, at most k. By default 2, or 1 with k = 1.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Seed.")]
Jobs = Annotated[
    int | None, typer.Option(help="Members fitted in parallel; ignored where solved jointly.")
]
FitJobs = Annotated[int, typer.Option(help="Number of fits in parallel.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def _root() -> None:
    """Multi-label classification with label covers."""


@app.command()
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
    method: Annotated[str, typer.Option(help=f"One of {METHOD_NAMES}.")] = "LabelCover",
    member: Member = "auto",
    k: K = 3,
    r: R = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file and write it to disk.

    Example: labelcover train songs.csv --label-prefix mood: -o model.skops
    """
    dataset = _dataset(data, labels, label_prefix, drop)
    _check_folder(output)

    from labelcover.experiments.named_methods import named_method
    from labelcover.models import TrainedModel, save_model

    make = named_method(method, k=k, r=r, member=member, n_jobs=jobs)
    estimator = make(dataset).set_params(random_state=seed, verbose=True)
    began = time.perf_counter()
    trained = TrainedModel.fit(estimator, dataset)
    save_model(trained, output)
    cover = getattr(trained.estimator, "cover_", None)
    facts = {
        "method": method,
        "rows": len(dataset.Y),
        "features": len(dataset.feature_names),
        "labels": len(dataset.label_names),
        **({"members": len(cover)} if cover is not None else {}),
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
    why: Annotated[
        int, typer.Option(help="Add a column with so many reasons for each predicted label.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of every row of a file: 0 or 1, and a probability, for each label.

    Example: labelcover predict model.skops new-songs.csv -o moods.csv
    """
    from labelcover.models import load_model, write_predictions

    trained = load_model(model)
    dataset = trained.read(data, with_labels=False)
    _check_folder(output)
    more = {}
    if why:
        from labelcover.models import reasons_of_rows

        more["why"] = reasons_of_rows(trained, dataset, why)
    predicted = write_predictions(trained, dataset, output, more)
    facts = {
        "rows": len(predicted),
        "labels": len(trained.label_names),
        "labels per row": round(float(predicted.sum(axis=1).mean()), 3),
        "written": str(output),
    }
    _print_facts(facts, as_json)


@app.command()
def evaluate(
    model: ModelFile,
    data: Data,
    as_json: AsJson = False,
) -> None:
    """Measure a model on a file that also has the labels.

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
    labels: Labels = None,
    label_prefix: LabelPrefix = None,
    drop: Drop = "",
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
    as_json: AsJson = False,
) -> None:
    """Compare methods on data sets: a table, results.csv and report.html.

    The same command resumes an interrupted run.

    Example: labelcover compare debtags --methods BALANCOR,BR -o comparison
    """
    from labelcover.experiments.comparing import compare as compare_methods
    from labelcover.experiments.named_methods import named_methods

    outcome = compare_methods(
        named_methods(
            [name.strip() for name in methods.split(",")],
            _integers("-k", k),
            r=r,
            size=size if size is None or size == "paper" else _integer("--size", size),
            threshold=threshold,
            member=member,
        ),
        [_dataset(source, labels, label_prefix, drop) for source in data],
        output,
        folds=folds,
        n_folds=n_folds,
        seeds=_integers("--seeds", seeds),
        join=join or [],
        control=control,
        n_jobs=jobs,
        command=shlex.join(["labelcover", *sys.argv[1:]]),
    )
    if as_json:
        print(outcome.to_json())
    else:
        outcome.print(Console(soft_wrap=True))


@app.command()
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

    outcome = reproduce(
        part,
        output,
        datasets=None if datasets is None else datasets.split(","),
        k=None if k is None else _integers("-k", k),
        n_folds=folds,
        quick=quick,
        n_jobs=jobs,
        run=run,
        command=shlex.join(["labelcover", *sys.argv[1:]]),
    )
    outcome.print(Console(soft_wrap=True))


@app.command()
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
    table = Table(box=None, pad_edge=False)
    for column in lines[0]:
        table.add_column(column, justify="left" if column in ("name", "here") else "right")
    for line in lines:
        table.add_row(
            *("yes" if v is True else "no" if v is False else str(v) for v in line.values())
        )
    Console(soft_wrap=True).print(table)


@app.command()
def report(
    model: ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(
            help="A file that also has the labels; by default the training rows left out."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the page to this HTML file.")
    ] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write a page about a model: measures, each label, thresholds, reliability, mistakes.

    Example: labelcover report model.skops test.csv -o page.html
    """
    from labelcover.models import load_model

    trained = load_model(model)
    dataset = None if data is None else trained.read(data, with_labels=True)
    _check_folder(output)

    from labelcover.experiments.report import write_model_page

    command = shlex.join(["labelcover", *sys.argv[1:]])
    judged = write_model_page(output, trained, dataset, command=command)
    facts = {
        "rows": len(judged.rows),
        "predicted": "rows left out of training" if data is None else str(data),
        "micro-F1": round(judged.measures["micro-F1"], 4),
        "written": str(output),
    }
    _print_facts(facts, as_json)


@app.command()
def audit(
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the suspicious labels to this CSV file.")
    ],
    labels: Labels = None,
    label_prefix: LabelPrefix = None,
    drop: Drop = "",
    page: Annotated[Path | None, typer.Option(help="Write a page too, to this HTML file.")] = None,
    above: Annotated[
        float, typer.Option(help="How likely a label must be wrong to be written, 0 to 1.")
    ] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Find labels of a file that look wrong, and labels that look missing.

    Example: labelcover audit songs.csv --label-prefix mood: -o suspects.csv
    """
    dataset = _dataset(data, labels, label_prefix, drop)
    for path in filter(None, (output, page)):
        _check_folder(path)

    from labelcover.audit import suspicious_labels

    began = time.perf_counter()
    suspects = suspicious_labels(dataset.X, dataset.Y, label_names=dataset.label_names)
    written = suspects.write(output, above=above)
    facts = {
        "rows": len(dataset.Y),
        "labels": len(dataset.label_names),
        "wrong": len(suspects.ranked("wrong", above=above)),
        "missing": len(suspects.ranked("missing", above=above)),
        "seconds": round(time.perf_counter() - began, 3),
        "written": f"{output} ({written} lines)",
    }
    if page is not None:
        from labelcover.experiments.report import write_audit_page

        command = shlex.join(["labelcover", *sys.argv[1:]])
        write_audit_page(page, suspects, name=dataset.name, command=command)
        facts["page"] = str(page)
    _print_facts(facts, as_json)


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
        raise ValueError(f"{name} must be comma-separated integers, got {text!r}.") from None


def _integer(name: str, text: str) -> int:
    if not re.fullmatch(r"-?\d+", text):
        raise ValueError(f"{name} must be an integer or 'paper', got {text!r}.")
    return int(text)


def _check_folder(path: Path) -> None:
    """Complain before the work starts that its outcome could not be written."""
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
    """Run the command; a user error is one line on standard error, with exit code 2."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        _run()


def _run() -> NoReturn:
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.Abort:
        _complain("stopped", 130)
    except UsageError as error:
        _complain(error.format_message(), 2)
    except ImportError as error:
        _complain(f"{error}; pip install 'labelcover[all]' installs it", 2)
    except ValueError as error:
        _complain(str(error), 2)
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), 2)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> NoReturn:
    _print_error(message)
    sys.exit(code)


def _show_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """Print a warning in one line, without the line of code that it comes from."""
    _print_error(f"warning: {message}")


def _print_error(message: str) -> None:
    print(f"labelcover: {' '.join(message.split())}", file=sys.stderr)
