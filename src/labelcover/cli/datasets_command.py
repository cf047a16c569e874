"""`labelcover datasets`: those known by name."""

from __future__ import annotations

import json

from rich.table import Table

from labelcover.cli.options import AsJson
from labelcover.cli.outputs import console


def datasets(
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, their properties, and which are on this machine.

    Example: labelcover datasets
    """
    from labelcover.datasets import KNOWN, is_here

    columns = ("rows", "features", "labels", "cardinality", "density")
    lines = [
        {"name": name, **{c: getattr(known, c) for c in columns}, "here": is_here(name)}
        for name, known in KNOWN.items()
    ]
    if as_json:
        print(json.dumps(lines))
        return
    table = Table(box=None, pad_edge=False)
    for column in lines[0]:
        table.add_column(column, justify="left" if column in ("name", "here") else "right")
    for line in lines:
        table.add_row(
            *("yes" if v is True else "no" if v is False else str(v) for v in line.values())
        )
    console().print(table)
