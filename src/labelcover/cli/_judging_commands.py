"""`labelcover evaluate`, `report` and `audit`: how good a model is, and which labels look wrong."""

import json
import math
import time
from pathlib import Path
from typing import Any

from labelcover._arguments import check_real
from labelcover.cli._options import ColumnOptions, CsvOptions, load_dataset, load_for_model
from labelcover.cli._outputs import (
    HTML,
    check_output,
    command_line,
    console,
    plain_table,
    print_facts,
    print_reading,
)

# Of so many labels each is printed, the most frequent first; --json has all.
MOST_LABELS = 20


def evaluate(
    model: Path,
    data: str,
    *,
    threshold: float | None = None,
    empty: str | None = None,
    csv: CsvOptions,
    as_json: bool = False,
) -> None:
    """Measure a model on a file that also has the labels, and say whether it beats chance.

    Example: labelcover evaluate model.skops test.csv
    """
    from labelcover.judgement import judged_on
    from labelcover.models import load_model

    trained = load_model(model)
    dataset = load_for_model(trained, data, csv, with_labels=True, empty=empty)
    judged = judged_on(trained, dataset, threshold=threshold)
    if as_json:
        print(json.dumps(_as_json(judged, threshold)))
    else:
        _print(judged)


def _as_json(judged: Any, threshold: float | None) -> dict[str, Any]:
    from labelcover.metrics import label_f1

    scores = judged.scores.values()
    lines = judged.label_lines(judged.by_support)
    each = label_f1(judged.truth, judged.predicted).tolist()
    facts = {
        **{score.name: score.value for score in scores},
        "label_f1": dict(zip(judged.label_names, each, strict=True)),
        "rows": len(judged.rows),
        "rows_without_labels": judged.n_without_labels,
        "known": int(judged.judged.sum()),
        "other_tags": judged.n_other_tags,
        "micro_f1_of_all_tags": judged.all_tags_f1,
        "threshold": threshold,
        "chance": {score.name: score.chance for score in scores},
        "chance_is": judged.chance.told,
        "better": {score.name: score.direction for score in scores},
        "means": {score.name: score.explanation for score in scores},
        "verdict": {**judged.verdict._asdict(), "said": judged.verdict.said},
        "labels": [line._asdict() for line in lines],
    }
    # What is not defined is null.
    return json.loads(json.dumps(facts), parse_constant=lambda _: None)


def _print(judged: Any) -> None:
    print(judged.verdict)
    for sentence in filter(None, [*judged.told, judged.other_tags_told]):
        print(sentence)
    measures = plain_table("measure", "model", "chance", "better", "", left=(0, 3, 4))
    for score in judged.scores.values():
        numbers = _shown(score.value), _shown(score.chance)
        measures.add_row(score.name, *numbers, score.direction, score.explanation)
    console().print("", measures, "", sep="\n")
    titles = ("rows", "predicted", "precision", "recall", "F1", "F1 if always predicted")
    labels = plain_table("label", *titles)
    for line in judged.label_lines(judged.by_support[:MOST_LABELS]):
        of_known = "" if judged.known is None else f" of {line.known:,}"
        counts = f"{line.support:,}{of_known}", f"{line.predicted:,}"
        labels.add_row(line.label, *counts, *map(_shown, line[3:7]))
    console().print(labels)
    hidden = len(judged.label_names) - MOST_LABELS
    if hidden > 0:
        print(f"… and {hidden:,} labels of fewer rows, which --json has.")


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def report(
    model: Path,
    data: str | None = None,
    *,
    output: Path = Path("report.html"),
    threshold: float | None = None,
    empty: str | None = None,
    csv: CsvOptions,
    as_json: bool = False,
) -> None:
    """Write a page about a model: measures, each label, thresholds, reliability, mistakes.

    Example: labelcover report model.skops test.csv -o page.html
    """
    check_output(output, model, *([data] if data is not None else []), suffixes=HTML)
    from labelcover.models import load_model

    trained = load_model(model)
    dataset = None
    if data is not None:
        dataset = load_for_model(trained, data, csv, with_labels=True, empty=empty)

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


def audit(
    data: str,
    *,
    output: Path,
    columns: ColumnOptions,
    csv: CsvOptions,
    page: Path | None = None,
    above: float | None = None,
    raw: bool = False,
    as_json: bool = False,
) -> None:
    """Find labels of a file that look wrong, and labels that look missing.

    Example: labelcover audit tickets.csv --tags tags -o suspects.csv
    """
    if above is not None:
        check_real("--above", above, low=0, high=1)
    check_output(output, data, suffixes=[".csv"])
    if page is not None:
        check_output(page, data, option="--page", suffixes=HTML)
        if page.resolve() == output.resolve():
            raise ValueError(f"--page must be another file than --output, got {page} for both.")
        from labelcover.experiments import write_audit_page
    dataset = load_dataset(data, columns, csv)
    print_reading([dataset], as_json)

    from labelcover.audit import explain_suspects, suspicious_labels
    from labelcover.datasets import feature_words

    began = time.perf_counter()
    Y = dataset.labels if dataset.unknown else dataset.Y  # a frame, for names in warnings
    suspects = suspicious_labels(dataset.rows, Y, label_names=dataset.label_names)
    found = suspects.ranked(above=above)
    words = feature_words(dataset)
    reasons = explain_suspects(suspects, found, dataset.X, feature_names=words)
    written = suspects.write(output, row_names=dataset.ids, reasons=reasons, raw=raw, above=above)
    kinds = [suspect.kind for suspect in found]
    number = suspects.n_wrong
    facts = {
        "rows": len(dataset.Y),
        "labels": len(dataset.label_names),
        "judged": int(suspects.errors.judged.any(axis=0).sum()),
        "look wrong": round(number.estimate),
        "between": [int(number.low), math.ceil(number.high)],
        "wrong": kinds.count("wrong"),
        "missing": kinds.count("missing"),
        "seconds": round(time.perf_counter() - began, 3),
        "written": f"{output} ({written} lines, likeliest first)",
    }
    if page is not None:
        typed = command_line()
        write_audit_page(page, suspects, dataset, reasons=reasons, above=above, command=typed)
        facts["page"] = str(page)
    print_facts(facts, as_json, [dataset])
    if not as_json:
        console().print(suspects.in_words())
