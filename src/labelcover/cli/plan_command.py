"""`labelcover plan`: how large a fit will be, before the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from labelcover._arguments import check_integer
from labelcover.cli.dataset_loading import load_dataset
from labelcover.cli.options import AsJson, ColumnOptions, CsvOptions, Data, R
from labelcover.cli.outputs import print_facts

if TYPE_CHECKING:
    from labelcover.ensemble import Plan


def plan(
    *,
    data: Data,
    columns: ColumnOptions,
    csv: CsvOptions,
    k: Annotated[int, typer.Option("-k", help="Number of labels in each labelset.")] = 3,
    r: R = None,
    as_json: AsJson = False,
) -> None:
    """Print what training the default on a file will fit, and how large that will be.

    The views with the reason of each, members, products and memory. Nothing is fitted. Memory is a
    bound: what is used is often half as much.

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
            **_views(sizes.plan),
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


def _views(plan: Plan | None) -> dict[str, str]:
    """Return the reason of each view of a plan, by its name."""
    if plan is None:
        return {"candidates": "so many labels that only some of each row are looked at"}
    return {f"view: {view.name}": view.reason for view in plan.views}
