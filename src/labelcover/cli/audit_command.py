"""`labelcover audit`: labels that look wrong."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from labelcover._arguments import check_real
from labelcover.cli.labelled_data import labelled_data
from labelcover.cli.options import AsJson, ColumnOptions, CsvOptions, Data
from labelcover.cli.outputs import HTML, check_output, command_line
from labelcover.cli.printing import print_facts, print_reading, reading_facts


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
        float, typer.Option(help="How likely a label must be wrong to be written, 0 to 1.")
    ] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Find labels of a file that look wrong, and labels that look missing.

    Example: labelcover audit tickets.csv --tags tags -o suspects.csv
    """
    check_real("--above", above, low=0, high=1)
    check_output(output, data, suffixes=[".csv"])
    if page is not None:
        check_output(page, data, option="--page", suffixes=HTML)
        if page.resolve() == output.resolve():
            raise ValueError(f"--page must be another file than --output, got {page} for both.")
        from labelcover.experiments.report import write_audit_page  # may say what is missing
    dataset = labelled_data(data, columns, csv)
    print_reading([dataset], as_json)

    from labelcover.audit import suspicious_labels

    began = time.perf_counter()
    suspects = suspicious_labels(dataset.X, dataset.Y, label_names=dataset.label_names)
    written = suspects.write(output, row_names=dataset.ids, above=above)
    facts = {
        "rows": len(dataset.Y),
        "labels": len(dataset.label_names),
        "wrong": len(suspects.ranked("wrong", above=above)),
        "missing": len(suspects.ranked("missing", above=above)),
        "seconds": round(time.perf_counter() - began, 3),
        "written": f"{output} ({written} lines)",
    }
    if page is not None:
        write_audit_page(
            page,
            suspects,
            name=dataset.name,
            row_names=dataset.ids,
            above=above,
            command=command_line(),
        )
        facts["page"] = str(page)
    print_facts(facts | reading_facts([dataset], as_json), as_json)
