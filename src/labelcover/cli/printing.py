"""What a command prints on standard output when it is done."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from labelcover._visible_text import visible

if TYPE_CHECKING:
    from labelcover.datasets import Dataset

# In a file or a pipe nothing ends a line but its content: a row of a table is one line.
WIDTH_WITHOUT_TERMINAL = 10_000


def let_streams_encode_all() -> None:
    """Let what is printed never fail for a character that a terminal or a pipe cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _VisibleConsole(Console):
    """A console that shows control characters of strings instead of obeying them."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text), **how)


def console() -> Console:
    """Return what prints tables: names as they are, whatever brackets and colons they hold."""
    printer = _VisibleConsole(soft_wrap=True, markup=False, emoji=False, highlight=False)
    if not printer.is_terminal:
        printer.width = WIDTH_WITHOUT_TERMINAL
    return printer


def print_reading(datasets: Sequence[Dataset], as_json: bool) -> None:
    """Print what was read from tables, and how; JSON has it at the end, see `reading_facts`."""
    for dataset in datasets:
        if dataset.encoder is not None and not as_json:
            console().print(f"{dataset.encoder.report}\n")


def reading_facts(datasets: Sequence[Dataset], as_json: bool) -> dict[str, Any]:
    """Return what was read from tables, and how, as data for JSON."""
    read = [each.encoder.report.as_dict() for each in datasets if each.encoder is not None]
    return {"reading": read} if as_json and read else {}


def print_facts(facts: dict, as_json: bool) -> None:
    """Print names and values, in two columns or as JSON."""
    if as_json:
        print(json.dumps(facts))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = " to ".join(map(str, value)) if isinstance(value, list) else _shown(name, value)
        print(visible(f"{name:<{width}}  {shown}"))  # in one line, so that a path can be copied


def _shown(name: str, value) -> str:
    return f"{value:.2%}" if name == "coverage" and isinstance(value, float) else str(value)
