"""`labelcover evaluate` and `labelcover report`: how good a model is, printed or as a page."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from labelcover.cli._options import (
    AsJson,
    CsvOptions,
    Data,
    ModelFile,
    Threshold,
    check_threshold,
)
from labelcover.cli._outputs import HTML, check_output, command_line, console, print_facts

# Of so many labels each is printed, the most frequent first; --json has all.
MOST_LABELS = 20


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    threshold: Threshold = None,
    csv: CsvOptions,
    as_json: AsJson = False,
) -> None:
    """Measure a model on a file that also has the labels, and say whether it beats chance.

    Example: labelcover evaluate model.skops test.csv
    """
    check_threshold(threshold)
    from labelcover.datasets import Reading
    from labelcover.judgement import judged_on
    from labelcover.models import load_model

    trained = load_model(model)
    dataset = Reading.of_model(trained).read(data, with_labels=True, **asdict(csv))
    judged = judged_on(trained, dataset, threshold=threshold)
    if as_json:
        print(json.dumps(_as_json(judged, threshold)))
    else:
        _print(judged)


def _as_json(judged: Any, threshold: float | None) -> dict[str, Any]:
    from labelcover.metrics import label_f1

    scores = judged.scores.values()
    lines = judged.label_lines(judged.by_support)
    each = label_f1(judged.Y, judged.predicted).tolist()
    verdict = {**judged.verdict._asdict(), "said": judged.verdict.said}
    return {
        **{score.name: _number(score.value) for score in scores},
        "label_f1": dict(zip(judged.label_names, each, strict=True)),
        "rows": len(judged.rows),
        "rows_without_labels": judged.n_without_labels,
        "other_tags": judged.n_other_tags,
        "micro_f1_of_all_tags": _number(judged.all_tags_f1),
        "threshold": threshold,
        "chance": {score.name: _number(score.chance) for score in scores},
        "chance_is": judged.chance.told,
        "better": {score.name: score.direction for score in scores},
        "means": {score.name: score.explanation for score in scores},
        "verdict": {name: _number(value) for name, value in verdict.items()},
        "labels": [
            {name: _number(value) for name, value in line._asdict().items()} for line in lines
        ],
    }


def _print(judged: Any) -> None:
    print(judged.verdict)
    for sentence in filter(None, [*judged.told, judged.other_tags_told]):
        print(sentence)
    measures = Table(box=None, pad_edge=False)
    for title, side in (("measure", "left"), ("model", "right"), ("chance", "right")):
        measures.add_column(title, justify=side)  # type: ignore[arg-type]
    measures.add_column("better")
    measures.add_column("")
    for score in judged.scores.values():
        numbers = _shown(score.value), _shown(score.chance)
        measures.add_row(score.name, *numbers, score.direction, score.explanation)
    console().print("", measures, "", sep="\n")
    labels = Table(box=None, pad_edge=False)
    labels.add_column("label")
    for title in ("rows", "predicted", "precision", "recall", "F1", "F1 if always predicted"):
        labels.add_column(title, justify="right")
    for line in judged.label_lines(judged.by_support[:MOST_LABELS]):
        counts = f"{line.support:,}", f"{line.predicted:,}"
        labels.add_row(line.label, *counts, *map(_shown, line[3:7]))
    console().print(labels)
    hidden = len(judged.label_names) - MOST_LABELS
    if hidden > 0:
        print(f"… and {hidden:,} labels of fewer rows, which --json has.")


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def _number(value: Any) -> Any:
    """Return a value as JSON takes it: what is not defined is null."""
    return None if isinstance(value, float) and math.isnan(value) else value


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

    from labelcover.datasets import Reading
    from labelcover.models import load_model

    trained = load_model(model)
    dataset = (
        None
        if data is None
        else Reading.of_model(trained).read(data, with_labels=True, **asdict(csv))
    )

    from labelcover.experiments import write_model_page

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
