"""`labelcover plan`, `train`, `predict` and `complete`: a model from a file, and its labels."""

from __future__ import annotations

import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from labelcover._arguments import check_integer
from labelcover.cli._options import (
    ColumnOptions,
    CsvOptions,
    FitOptions,
    load_dataset,
    load_for_model,
)
from labelcover.cli._outputs import check_output, output_suffix, print_facts, print_reading

# Labels whose links are printed, and how many of each.
MOST_LINKED, LINKS_SHOWN = 40, 4


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
