"""The `labelcover` command: thin, no logic of its own."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


# The names in labelcover.experiments.named_methods, which is slow to import; a test compares them.
COMPARED_NAMES = "RAKEL,RAKEL++,INLAC,BALCO,BALANCOR,DD-BALANCOR,BR,LabelCover"
METHOD_NAMES = f"{COMPARED_NAMES},LP,PS,EPS,DS,EDS,ECC,PCC,EPCC,2BR,LEAD,HOMER"

# More columns than this that are alike are printed in one line.
MANY_COLUMNS = 12
# The word that asks for a traceback, wherever it stands.
DEBUG = "--debug"

# Arguments and options that several commands have.
Data = Annotated[
    str,
    typer.Argument(
        help="A file (.csv, .tsv, .csv.gz, .parquet, .jsonl, .arff, .libsvm) or a known name."
    ),
]
Tags = Annotated[
    str | None, typer.Option(help="The column with the tags of each row, such as: rain; wind.")
]
Separator = Annotated[
    str | None, typer.Option(help="What separates tags; found out by default.", show_default=False)
]
Text = Annotated[str, typer.Option(help="Columns of free text, comma-separated.")]
Category = Annotated[str, typer.Option(help="Columns of categories, comma-separated.")]
Number = Annotated[str, typer.Option(help="Columns of numbers, comma-separated.")]
Date = Annotated[str, typer.Option(help="Columns of dates, comma-separated.")]
Id = Annotated[
    str | None,
    typer.Option(help="The column that names the rows; carried into predictions."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between the cells of a CSV file, such as ; or tab; found out by default.",
        callback=lambda value: "\t" if value in ("tab", r"\t") else value,
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a CSV file, such as latin-1; found out by default.")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of a CSV file, . or ,; found out by default.")
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


def _print_version(asked: bool) -> None:
    if asked:
        from labelcover._versions import versions_here

        print(", ".join(f"{name} {version}" for name, version in versions_here().items()))
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions."),
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Print the traceback of an error, for any command.")
    ] = False,
) -> None:
    """Multi-label classification with label covers."""


class Interrupted(Exception):
    """The user stopped a command; the message says what was kept."""


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
    tags: Tags = None,
    separator: Separator = None,
    text: Text = "",
    category: Category = "",
    number: Number = "",
    date: Date = "",
    id: Id = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    method: Annotated[str, typer.Option(help=f"One of {METHOD_NAMES}.")] = "LabelCover",
    member: Member = "auto",
    k: K = 3,
    r: R = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file and write it to disk.

    Columns of a table are read for what they are: numbers, categories, dates, text. What was found
    is printed, and --text, --category, --number, --date, --id and --drop overrule it.

    Example: labelcover train tickets.csv --tags tags -o model.skops

    Example: labelcover train songs.csv --label-prefix mood: -o model.skops
    """
    _check_output(output, data)
    dataset = _dataset(
        data,
        labels=labels,
        label_prefix=label_prefix,
        drop=drop,
        tags=tags,
        separator=separator,
        text=text,
        category=category,
        number=number,
        date=date,
        id=id,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
    )
    if dataset.encoder is not None and not as_json:
        _print_columns(dataset.encoder)

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
    if dataset.encoder is not None and as_json:
        facts["columns"] = {kind.name: kind.kind for kind in dataset.encoder.kinds}
    _print_facts(facts, as_json)


@app.command()
def predict(
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the predictions to this CSV file.")
    ],
    decide: Annotated[
        str | None,
        typer.Option(
            help="Decide for this measure (micro_f1, macro_f1, example_f1, hamming_loss, "
            "subset_accuracy), or predict this number of labels for every row."
        ),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    why: Annotated[
        int, typer.Option(help="Add a column with so many reasons for each predicted label.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of every row of a file: 0 or 1, and a probability, for each label.

    Columns are found by name and read as in training.

    Example: labelcover predict model.skops new-songs.csv -o moods.csv
    """
    _check_output(output, model, data)

    from labelcover.models import load_model, reasons_of_rows, write_predictions

    trained = load_model(model)
    if why and decide is not None:
        raise ValueError("--why is for the labels of the model's own decision, got --decide too.")
    dataset = trained.read(
        data, with_labels=False, delimiter=delimiter, encoding=encoding, decimal=decimal
    )
    more = {"why": reasons_of_rows(trained, dataset, why)} if why else {}
    predicted = write_predictions(trained, dataset, output, decide=_decision(decide), more=more)
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
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on a file that also has the labels.

    Example: labelcover evaluate model.skops test.csv
    """
    from labelcover.models import load_model, measure_model

    trained = load_model(model)
    dataset = trained.read(
        data, with_labels=True, delimiter=delimiter, encoding=encoding, decimal=decimal
    )
    scores, label_scores = measure_model(trained, dataset)
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
    tags: Tags = None,
    separator: Separator = None,
    text: Text = "",
    category: Category = "",
    number: Number = "",
    date: Date = "",
    id: Id = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
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

    options: dict[str, Any] = {
        "labels": labels,
        "label_prefix": label_prefix,
        "drop": drop,
        "tags": tags,
        "separator": separator,
        "text": text,
        "category": category,
        "number": number,
        "date": date,
        "id": id,
        "delimiter": delimiter,
        "encoding": encoding,
        "decimal": decimal,
    }
    with _resumable(output / "results.csv"):
        outcome = compare_methods(
            named_methods(
                [name.strip() for name in methods.split(",")],
                _integers("-k", k),
                r=r,
                size=size if size is None or size == "paper" else _integer("--size", size),
                threshold=threshold,
                member=member,
            ),
            [_dataset(source, **options) for source in data],
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

    with _resumable(output / "results.csv"):
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
    _check_output(output, model, *([data] if data is not None else []))

    from labelcover.models import load_model

    trained = load_model(model)
    dataset = None if data is None else trained.read(data, with_labels=True)

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
    tags: Tags = None,
    separator: Separator = None,
    text: Text = "",
    category: Category = "",
    number: Number = "",
    date: Date = "",
    id: Id = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    page: Annotated[Path | None, typer.Option(help="Write a page too, to this HTML file.")] = None,
    above: Annotated[
        float, typer.Option(help="How likely a label must be wrong to be written, 0 to 1.")
    ] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Find labels of a file that look wrong, and labels that look missing.

    Example: labelcover audit tickets.csv --tags tags -o suspects.csv
    """
    for path in filter(None, (output, page)):
        _check_output(path, data)
    dataset = _dataset(
        data,
        labels=labels,
        label_prefix=label_prefix,
        drop=drop,
        tags=tags,
        separator=separator,
        text=text,
        category=category,
        number=number,
        date=date,
        id=id,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
    )

    from labelcover.audit import suspicious_labels

    began = time.perf_counter()
    suspects = suspicious_labels(dataset.X, dataset.Y, label_names=dataset.label_names)
    written = suspects.write(output, row_names=dataset.ids, above=above)
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
        write_audit_page(page, suspects, name=dataset.name, command=command, row_names=dataset.ids)
        facts["page"] = str(page)
    _print_facts(facts, as_json)


def _dataset(
    source: str,
    *,
    labels: str | None = None,
    label_prefix: str | None = None,
    drop: str = "",
    **options: str | None,
):
    """Return a data set by its name or file; `options` are those of tables, as given."""
    from labelcover.datasets import KNOWN, is_table, load, read, read_table

    given: dict[str, Any] = {name: value for name, value in options.items() if value}
    known = source in KNOWN and not Path(source).exists()
    if known or not is_table(source):
        if given:
            name = next(iter(given))
            raise ValueError(
                f"--{name} is for tables (.csv, .tsv, .parquet, .jsonl), got --{name} "
                f"{given[name]!r} for {source}."
            )
        if known:
            return load(source)
        return read(source, _which_labels(labels), label_prefix=label_prefix, drop=_names(drop))
    names = _which_labels(labels)
    if isinstance(names, str | int):
        raise ValueError(f"--labels {labels} is for ARFF files only, expected names for {source}.")
    given |= {name: _names(given.get(name, "")) for name in ("text", "category", "number", "date")}
    return read_table(source, labels=names, label_prefix=label_prefix, drop=_names(drop), **given)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


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


def _decision(text: str | None) -> str | int | None:
    """Return what --decide means: a measure, or a number of labels."""
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text


def _check_output(path: Path, *inputs: str | Path) -> None:
    """Complain before the work starts that its outcome could not, or must not, be written."""
    if not path.parent.is_dir():
        raise ValueError(f"--output must lie in a folder that exists, got {path}.")
    if path.is_dir():
        raise ValueError(f"--output must be a file, got the folder {path}.")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise ValueError(
                f"--output must be another file than what is read, got {path}, which would be "
                "replaced."
            )
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"--output must lie in a folder that can be written to, got {path} ({error.strerror})."
        ) from None


@contextmanager
def _resumable(results: Path) -> Iterator[None]:
    """Say what an interrupted run has kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; fits that were finished are in {results}, and the same command resumes"
        ) from None


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


def _print_columns(encoder: Any) -> None:
    """Print what was decided about each column; many plain ones of a kind in one line."""
    table = Table(box=None, pad_edge=False)
    for title in ("column", "read as", ""):
        table.add_column(title)
    kinds = list(encoder.kinds)
    for alike in ("number", "truth value"):
        plain = [kind for kind in kinds if kind.kind == alike and "missing" not in kind.why]
        if len(plain) > MANY_COLUMNS:
            kinds = [kind for kind in kinds if kind not in plain]
            table.add_row(f"{plain[0].name} … {plain[-1].name}", alike, f"{len(plain)} columns")
    for kind in kinds:
        table.add_row(kind.name, kind.kind, kind.why)
    tags = encoder.labels.tags
    if tags is not None:
        table.add_row(
            tags, "tags", f"{len(encoder.labels.names)}, separated by {encoder.labels.separator!r}"
        )
    Console(soft_wrap=True, markup=False, highlight=False).print(table)


def main() -> None:
    """Run the command; a user error is one line on standard error, with exit code 2."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        words = [word for word in sys.argv[1:] if word != DEBUG]
        _run(words or ["--help"], debug=len(words) < len(sys.argv) - 1)


def _run(words: list[str], *, debug: bool) -> NoReturn:
    try:
        code = app(words, prog_name="labelcover", standalone_mode=False)
    except Exception as error:
        if debug:
            raise
        _complain(*_message(error))
    except KeyboardInterrupt:
        _complain("stopped; nothing was written", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _message(error: Exception) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    if isinstance(error, Interrupted):
        return str(error), 130
    if isinstance(error, typer.Abort):
        return "stopped; nothing was written", 130
    if isinstance(error, UsageError):
        return error.format_message(), 2
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        from labelcover._versions import extra_of

        return f"{error.name} is missing: pip install 'labelcover[{extra_of(error.name)}]'", 2
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, 2
    if isinstance(error, ValueError | OSError | ImportError):
        return str(error), 2
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); fewer rows, labels or columns need less", 1
    return f"unexpected {type(error).__name__}: {error} ({DEBUG} shows where)", 1


def _complain(message: str, code: int) -> NoReturn:
    _print_error(message)
    sys.exit(code)


def _show_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """Print a warning in one line, without the line of code that it comes from."""
    _print_error(f"warning: {message}")


def _print_error(message: str) -> None:
    print(f"labelcover: {' '.join(message.split())}", file=sys.stderr)
