"""What a command prints on standard output when it is done."""

from __future__ import annotations

import json

from rich.console import Console


def console() -> Console:
    """Return what prints tables: names as they are, whatever brackets and colons they hold."""
    return Console(soft_wrap=True, markup=False, emoji=False, highlight=False)


def print_facts(facts: dict, as_json: bool) -> None:
    """Print names and values, in two columns or as JSON."""
    if as_json:
        print(json.dumps(facts))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = " to ".join(map(str, value)) if isinstance(value, list) else _shown(name, value)
        print(f"{name:<{width}}  {shown}")  # in one line, so that a path can be copied


def _shown(name: str, value) -> str:
    return f"{value:.2%}" if name == "coverage" and isinstance(value, float) else str(value)
