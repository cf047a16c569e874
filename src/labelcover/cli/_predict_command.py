"""`labelcover predict`: the labels of a file."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli._options import (
    AsJson,
    CsvOptions,
    Data,
    ModelFile,
    Raw,
    Threshold,
    check_threshold,
)
from labelcover.cli._outputs import check_output, print_facts


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
    check_threshold(threshold)
    if threshold is not None and decide is not None:
        raise ValueError(
            f"--threshold {threshold} and --decide {decide} are two ways to decide, expected one."
        )

    from labelcover.datasets import Reading, local_file, table_suffix
    from labelcover.models import load_model
    from labelcover.predictions import check_reasons, write_predictions

    try:
        suffix = table_suffix(output, like=data)
    except ValueError as error:
        raise ValueError(f"--output {error}") from None
    trained = load_model(model)
    if why:
        check_reasons(trained)
    reading = Reading.of_model(trained)
    dataset = reading.read(local_file(data), with_labels=False, **asdict(csv))
    told = reading.known(dataset) if known else None
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
