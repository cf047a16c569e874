"""`labelcover audit`: labels that look wrong."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated

import typer

from labelcover._arguments import check_real
from labelcover.cli._dataset_loading import load_dataset
from labelcover.cli._options import AsJson, ColumnOptions, CsvOptions, Data, Raw
from labelcover.cli._outputs import (
    HTML,
    check_output,
    command_line,
    console,
    print_facts,
    print_reading,
    reading_facts,
)


def audit(
    *,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the suspicious labels to this CSV file.")
    ],
    columns: ColumnOptions,
    csv: CsvOptions,
    page: Annotated[Path | None, typer.Option(help="Write a page too, to this HTML file.")] = None,
    above: Annotated[
        float | None,
        typer.Option(
            help="Write all labels whose suspicion exceeds this, 0 to 1; by default as many as "
            "look wrong.",
            show_default=False,
        ),
    ] = None,
    raw: Raw = False,
    as_json: AsJson = False,
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
    suspects = suspicious_labels(dataset.X, dataset.Y, label_names=dataset.label_names)
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
    print_facts(facts | reading_facts([dataset], as_json), as_json)
    if not as_json:
        console().print(suspects.in_words())
