"""`labelcover report`: a page about a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from labelcover.cli.options import AsJson, CsvOptions, ModelFile, Threshold, check_threshold
from labelcover.cli.outputs import HTML, check_output, command_line
from labelcover.cli.printing import print_facts


def report(
    *,
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
    threshold: Threshold = None,
    csv: CsvOptions,
    as_json: AsJson = False,
) -> None:
    """Write a page about a model: measures, each label, thresholds, reliability, mistakes.

    Example: labelcover report model.skops test.csv -o page.html
    """
    check_output(output, model, *([data] if data is not None else []), suffixes=HTML)
    check_threshold(threshold)

    from labelcover.models import load_model

    trained = load_model(model)
    dataset = None if data is None else trained.read(data, with_labels=True, **asdict(csv))

    from labelcover.experiments.report import write_model_page

    judged = write_model_page(
        output,
        trained,
        dataset,
        threshold=threshold,
        command=command_line(),
        model_file=str(model),
    )
    facts = {
        "rows": len(judged.rows),
        "predicted": "rows left out of training" if data is None else str(data),
        "micro-F1": round(judged.scores["micro_f1"].value, 4),
        "verdict": str(judged.verdict),
        "written": str(output),
    }
    print_facts(facts, as_json)
