"""`labelcover plan`: what training will take, before the work."""

from __future__ import annotations

from typing import Annotated

import typer

from labelcover._arguments import check_integer
from labelcover.cli.labelled_data import labelled_data
from labelcover.cli.options import AsJson, ColumnOptions, CsvOptions, Data, R
from labelcover.cli.printing import print_facts


def plan(
    *,
    data: Data,
    columns: ColumnOptions,
    csv: CsvOptions,
    k: Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")] = 3,
    r: R = None,
    as_json: AsJson = False,
) -> None:
    """Print what training the default on a file will take: members, products, memory, time.

    Nothing is fitted. Seconds are CPU seconds on one thread of the machine where the costs were
    measured; expect half to twice as many.

    Example: labelcover plan tickets.csv --tags tags
    """
    check_integer("k", k, low=1)
    dataset = labelled_data(data, columns, csv)

    from labelcover import LabelCoverClassifier
    from labelcover.experiments.planning import plan_fit

    order = min(k, 2) if r is None else r
    found = plan_fit(LabelCoverClassifier(k=k, r=order, random_state=0), dataset.X, dataset.Y)
    print_facts(
        {
            "views": found.kind,
            "rows": found.rows,
            "features": found.features,
            "labels": found.labels,
            "members": found.members,
            "label products": found.products,
            "CPU seconds": float(f"{found.seconds:.2g}"),
            "memory, GB": float(f"{found.memory_gb:.2g}"),
        },
        as_json,
    )
