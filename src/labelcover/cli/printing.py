"""What a command prints on standard output when it is done."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table


def print_facts(facts: dict, as_json: bool) -> None:
    """Print names and values, as a table or as JSON."""
    if as_json:
        print(json.dumps(facts))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in facts.items():
        shown = " to ".join(map(str, value)) if isinstance(value, list) else _shown(name, value)
        table.add_row(name, shown)
    Console(soft_wrap=True).print(table)


def _shown(name: str, value) -> str:
    return f"{value:.2%}" if name == "coverage" and isinstance(value, float) else str(value)
