"""`labelcover train`: a model from a file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli.dataset_loading import load_dataset
from labelcover.cli.options import (
    METHOD_NAMES,
    AsJson,
    ColumnOptions,
    CsvOptions,
    Data,
    Member,
    R,
    Scheduler,
)
from labelcover.cli.outputs import check_output, print_facts, print_reading, reading_facts


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
    k: Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")] = 3,
    r: R = None,
    seed: Annotated[int, typer.Option(help="Seed.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Members fitted in parallel; ignored where solved jointly.")
    ] = None,
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
    from labelcover.chunks import cluster
    from labelcover.experiments.named_methods import named_method
    from labelcover.models import TrainedModel, check_can_save, save_model

    check_can_save()
    with cluster(scheduler):
        make = named_method(method, k=k, r=r, member=member, n_jobs=jobs)
        dataset = load_dataset(data, columns, csv)
        print_reading([dataset], as_json)
        estimator = make(dataset).set_params(random_state=seed, verbose=sys.stderr.isatty())
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
    print_facts(facts | reading_facts([dataset], as_json), as_json)
