"""`labelcover predict`: the labels of a file."""

import re
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli._dataset_loading import load_for_model
from labelcover.cli._options import (
    AsJson,
    CsvOptions,
    Data,
    ModelFile,
    Raw,
    Threshold,
)
from labelcover.cli._outputs import check_output, output_suffix, print_facts


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
