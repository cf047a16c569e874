"""`labelcover plan`: how large a fit will be, before the work."""

from __future__ import annotations

from typing import Annotated

import typer

from labelcover._arguments import check_integer
from labelcover.cli.dataset_loading import load_dataset
from labelcover.cli.options import AsJson, ColumnOptions, CsvOptions, Data, R
from labelcover.cli.outputs import print_facts


def plan(
    *,
    data: Data,
    columns: ColumnOptions,
    csv: CsvOptions,
    k: Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")] = 3,
    r: R = None,
    as_json: AsJson = False,
) -> None:
    """Print how large training the default on a file will be: members, products, memory.

    Nothing is fitted. Memory is a bound: what is used is often half as much.

    Example: labelcover plan tickets.csv --tags tags
    """
    check_integer("k", k, low=1)
    dataset = load_dataset(data, columns, csv)

    from labelcover import LabelCoverClassifier
    from labelcover.experiments.fit_sizes import fit_sizes

    order = min(k, 2) if r is None else r
    estimator = LabelCoverClassifier(k=k, r=order, random_state=0)
    sizes = fit_sizes(estimator, dataset.X, dataset.Y)
    print_facts(
        {
            "rows": sizes.rows,
            "features": sizes.features,
            "labels": sizes.labels,
            "members": sizes.members,
            "problems": sizes.problems,
            "label products": sizes.products,
            "memory at most, GB": float(f"{sizes.memory_gb:.2g}"),
        },
        as_json,
    )
