"""`labelcover plan`, `train`, `predict` and `complete`: a model from a file, and its labels."""

from __future__ import annotations

import re
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from labelcover._arguments import check_integer
from labelcover.cli._options import (
    METHOD_NAMES,
    AsJson,
    ColumnOptions,
    CsvOptions,
    Data,
    Jobs,
    K,
    Member,
    ModelFile,
    R,
    Raw,
    Scheduler,
    Seed,
    Threshold,
    load_dataset,
    load_for_model,
)
from labelcover.cli._outputs import (
    check_output,
    output_suffix,
    print_facts,
    print_reading,
    reading_facts,
)

# Labels whose links are printed, and how many of each.
MOST_LINKED, LINKS_SHOWN = 40, 4


def train(
    *,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the model to this file (.skops).")
    ],
    columns: ColumnOptions,
    csv: CsvOptions,
    method: Annotated[str, typer.Option(help=f"One of {METHOD_NAMES}.")] = "LabelCover",
    member: Member = "auto",
    k: K = 3,
    r: R = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    card: Annotated[
        Path | None,
        typer.Option(help="Write a model card too, to this Markdown file: what it is, how good."),
    ] = None,
    show_links: Annotated[
        bool,
        typer.Option("--show-links", help="Print which labels speak for and against each other."),
    ] = False,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a file and write it to disk.

    Columns of a table are read for what they are: numbers, categories, dates, text. What was found
    is printed, and --text, --category, --number, --date, --id and --drop overrule it.

    Example: labelcover train tickets.csv --tags tags -o model.skops

    Example: labelcover train songs.csv --label-prefix mood: -o model.skops
    """
    check_output(output, data, suffixes=[".skops"])
    if card is not None:
        check_output(card, data, option="--card", suffixes=[".md"])
        from labelcover.experiments import write_model_card  # may say what is missing
    from labelcover.chunks import cluster
    from labelcover.experiments.named_methods import named_method
    from labelcover.models import check_can_save, fit_model, save_model

    check_can_save()
    with cluster(scheduler):
        make = named_method(method, k=k, r=r, member=member, n_jobs=jobs)
        dataset = load_dataset(data, columns, csv)
        print_reading([dataset], as_json)
        estimator = make(dataset).set_params(random_state=seed, verbose=sys.stderr.isatty())
        began = time.perf_counter()
        trained = fit_model(estimator, dataset)
    save_model(trained, output)
    cover = getattr(trained, "cover_", None)
    unused = list(filter(None, getattr(trained.view_, "unused", [])))
    facts = {
        "method": method,
        "rows": len(dataset.Y),
        "features": len(dataset.feature_names),
        "labels": len(dataset.label_names),
        **({"labelsets": len(cover)} if cover is not None else {}),
        **({"nothing new in": unused} if unused else {}),
        "seconds": round(time.perf_counter() - began, 3),
        "written": str(output),
    }
    if card is not None:
        write_model_card(card, trained, model_file=str(output))
        facts["card"] = str(card)
    if dataset.encoder is not None and as_json:
        facts["columns"] = {kind.name: kind.kind for kind in dataset.encoder.kinds}
    if show_links:
        links = _links(trained)
        words = {
            f"links of {label}": ", ".join(f"{name} {by:+.2f}" for name, by in own.items())
            for label, own in links.items()
        }
        facts |= {"links": links} if as_json else words
    print_facts(facts | reading_facts([dataset], as_json), as_json)


def _links(trained: Any) -> Any:
    """Return for the most frequent labels which others make them likelier or less likely."""
    from labelcover.ensemble import effects_of_labels

    effects = effects_of_labels(trained)
    if effects is None:
        raise ValueError("--show-links needs a model with links, such as of method LabelCover.")
    names = [str(name) for name in trained.label_names_in_]
    told = {}
    for j in np.argsort(-trained.view_.pool.base, kind="stable")[:MOST_LINKED]:
        order = np.argsort(-np.abs(effects[:, j]), kind="stable")[:LINKS_SHOWN]
        told[names[j]] = {names[k]: round(float(effects[k, j]), 2) for k in order if k != j}
    return told


def complete(
    *,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Write the labels to this file: .csv, .tsv, .parquet or .jsonl."
        ),
    ],
    columns: ColumnOptions,
    csv: CsvOptions,
    member: Member = "auto",
    k: K = 3,
    r: R = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    threshold: Threshold = None,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Fill in the unknown labels of a file by probability.

    Each is predicted by a model that has not seen the row, given the row's known labels, which stay
    as they are.

    Example: labelcover complete assays.csv --label-prefix is: --empty unknown -o filled.csv
    """
    check_output(output, data)
    from labelcover.datasets import ReadingWarning
    from labelcover.experiments.named_methods import named_method
    from labelcover.predictions import write_completed

    suffix = output_suffix(output, data)
    make = named_method("LabelCover", k=k, r=r, member=member, n_jobs=jobs)
    dataset = load_dataset(data, columns, csv)
    print_reading([dataset], as_json)
    estimator = make(dataset).set_params(random_state=seed, verbose=sys.stderr.isatty())
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # of all rows the report tells
        found = write_completed(
            estimator,
            dataset,
            output,
            threshold=threshold,
            suffix=suffix,
            raw=raw,
        )
    unknown = np.isnan(dataset.Y)
    facts = {
        "rows": len(found),
        "labels": len(dataset.label_names),
        "filled in": int(unknown.sum()),
        "expected ones": round(float(found[unknown].sum()), 1),
        "seconds": round(time.perf_counter() - began, 3),
        "written": str(output),
    }
    print_facts(facts | reading_facts([dataset], as_json), as_json)


def plan(
    *,
    data: Data,
    columns: ColumnOptions,
    csv: CsvOptions,
    k: K = 3,
    r: R = None,
    as_json: AsJson = False,
) -> None:
    """Print what training the default on a file will fit, and how large that will be.

    The views with the reason of each, labelsets, links and memory. Nothing is fitted. Memory is a
    bound: what is used is often half as much.

    Example: labelcover plan tickets.csv --tags tags
    """
    check_integer("k", k, low=1)
    dataset = load_dataset(data, columns, csv)

    from labelcover import LabelCoverClassifier
    from labelcover.experiments.fit_sizes import fit_sizes

    order = min(k, 2) if r is None else r
    estimator = LabelCoverClassifier(k=k, r=order, random_state=0)
    sizes = fit_sizes(estimator, dataset.X, dataset.Y, dataset.blocks)
    views = {"candidates": "so many labels that only some of each row are looked at"}
    if sizes.plan is not None:
        views = {f"view: {view.title}": view.reason for view in sizes.plan.views}
    print_facts(
        {
            **views,
            "rows": sizes.rows,
            "features": sizes.features,
            "labels": sizes.labels,
            "labelsets": sizes.labelsets,
            "links": sizes.links,
            "memory at most, GB": float(f"{sizes.memory_gb:.2g}"),
        },
        as_json,
    )


def predict(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write the predictions to this file: .csv, .tsv, .parquet or .jsonl; without a "
            "suffix in the format of the data.",
        ),
    ],
    decide: Annotated[
        str | None,
        typer.Option(
            help="Decide for this measure (micro_f1, macro_f1, example_f1, hamming_loss, "
            "subset_accuracy), or predict this number of labels for every row."
        ),
    ] = None,
    threshold: Threshold = None,
    csv: CsvOptions,
    why: Annotated[
        int,
        typer.Option(
            help="Add a column with so many reasons for each predicted label, and against."
        ),
    ] = 0,
    like: Annotated[
        int,
        typer.Option(help="Add a column with so many training rows that are like the row."),
    ] = 0,
    known: Annotated[
        bool,
        typer.Option(
            "--known",
            help="Labels that the file has are known: columns of labels or tags, partly filled. "
            "They stay, and speak for and against the others.",
        ),
    ] = False,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of every row of a file: 0 or 1, and a probability, for each label.

    Columns are found by name and read as in training.

    Example: labelcover predict model.skops new-songs.csv -o moods.csv

    Example: labelcover predict model.skops partly.csv --known -o all-tags.csv
    """
    check_output(output, model, data)
    for name, number, what in (("--why", why, "reasons"), ("--like", like, "rows")):
        if number < 0:
            raise ValueError(f"{name} must be a number of {what}, 0 or more, got {number}.")
    if threshold is not None and decide is not None:
        raise ValueError(
            f"--threshold {threshold} and --decide {decide} are two ways to decide, expected one."
        )

    from labelcover.datasets import Reading
    from labelcover.models import load_model
    from labelcover.predictions import check_reasons, write_predictions

    suffix = output_suffix(output, data)
    trained = load_model(model)
    if why:
        check_reasons(trained)
    dataset = load_for_model(trained, data, csv, with_labels=False)
    told = Reading.of_model(trained).known(dataset) if known else None
    predicted = write_predictions(
        trained,
        dataset,
        output,
        decide=_decision(decide),
        threshold=threshold,
        n_reasons=why,
        n_similar=like,
        known=told,
        suffix=suffix,
        raw=raw,
    )
    facts = {
        "rows": len(predicted),
        "labels": len(trained.label_names_in_),
        **({} if told is None else {"known labels": int((told == told).sum())}),
        "labels per row": round(float(predicted.sum(axis=1).mean()), 3),
        "written": str(output),
    }
    print_facts(facts, as_json)


def _decision(text: str | None) -> str | int | None:
    """Return what --decide means: a measure, or a number of labels."""
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else text
