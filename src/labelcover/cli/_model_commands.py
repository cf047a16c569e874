"""`labelcover plan`, `train`, `predict`, `complete`, `evaluate`, `report` and `audit`: a model."""

from __future__ import annotations

import json
import math
import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from labelcover._arguments import check_integer, check_real
from labelcover.cli._options import (
    ColumnOptions,
    CsvOptions,
    FitOptions,
    load_dataset,
    load_for_model,
)
from labelcover.cli._outputs import (
    HTML,
    check_output,
    command_line,
    console,
    output_suffix,
    plain_table,
    print_facts,
    print_reading,
)

# Labels whose links are printed, and how many of each.
MOST_LINKED, LINKS_SHOWN = 40, 4
# Of so many labels each is printed, the most frequent first; --json has all.
MOST_LABELS = 20


def train(
    data: str,
    *,
    output: Path,
    columns: ColumnOptions,
    csv: CsvOptions,
    method: str = "LabelCover",
    fitting: FitOptions,
    card: Path | None = None,
    show_links: bool = False,
    scheduler: str | None = None,
    as_json: bool = False,
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
    from labelcover.models import check_can_save, fit_model, save_model

    check_can_save()
    with cluster(scheduler):
        make = fitting.maker(method)
        dataset = load_dataset(data, columns, csv)
        print_reading([dataset], as_json)
        estimator = make(dataset)
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
    print_facts(facts, as_json, [dataset])


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
    data: str,
    *,
    output: Path,
    columns: ColumnOptions,
    csv: CsvOptions,
    fitting: FitOptions,
    threshold: float | None = None,
    raw: bool = False,
    as_json: bool = False,
) -> None:
    """Fill in the unknown labels of a file by probability.

    Each is predicted by a model that has not seen the row, given the row's known labels, which stay
    as they are.

    Example: labelcover complete assays.csv --label-prefix is: --empty unknown -o filled.csv
    """
    check_output(output, data)
    from labelcover.datasets import ReadingWarning
    from labelcover.predictions import write_completed

    suffix = output_suffix(output, data)
    make = fitting.maker("LabelCover")
    dataset = load_dataset(data, columns, csv)
    print_reading([dataset], as_json)
    estimator = make(dataset)
    began = time.perf_counter()
    how: dict[str, Any] = {"threshold": threshold, "suffix": suffix, "raw": raw}
    # Of all rows the report tells.
    with warnings.catch_warnings(action="ignore", category=ReadingWarning):
        found = write_completed(estimator, dataset, output, **how)
    unknown = np.isnan(dataset.Y)
    facts = {
        "rows": len(found),
        "labels": len(dataset.label_names),
        "filled in": int(unknown.sum()),
        "expected ones": round(float(found[unknown].sum()), 1),
        "seconds": round(time.perf_counter() - began, 3),
        "written": str(output),
    }
    print_facts(facts, as_json, [dataset])


def plan(
    data: str,
    *,
    columns: ColumnOptions,
    csv: CsvOptions,
    k: int = 3,
    r: int | None = None,
    as_json: bool = False,
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
    counts = {name: getattr(sizes, name) for name in COUNTS}
    memory = float(f"{sizes.memory_gb:.2g}")
    print_facts({**views, **counts, "memory at most, GB": memory}, as_json)


# Of a fit that is planned.
COUNTS = ("rows", "features", "labels", "labelsets", "links")


def predict(
    model: Path,
    data: str,
    *,
    output: Path,
    decide: str | None = None,
    threshold: float | None = None,
    csv: CsvOptions,
    why: int = 0,
    like: int = 0,
    known: bool = False,
    raw: bool = False,
    as_json: bool = False,
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
        decide=int(decide) if decide and re.fullmatch(r"-?\d+", decide) else decide,
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
