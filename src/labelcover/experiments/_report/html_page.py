"""What all pages share: one self-contained file from a template, with style and scripts in it."""

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from labelcover._files import replacing

HERE = Path(__file__).parent
PACKAGES = ("labelcover", "numpy", "scipy", "scikit-learn", "numba")


def write_html_page(
    path: str | os.PathLike[str],
    template: Path,
    values: Mapping[str, Any],
    *,
    scripts: Sequence[str] = (),
) -> None:
    """Write a template that extends ``base.html`` as one HTML file, replaced as a whole.

    Parameters
    ----------
    path : path-like
        The file to write.
    template : Path
    values : mapping of str
        What the template shows: ``title``, ``findings`` (sentences) and more of its own.
    scripts : sequence of str
        Files of this folder. A page without scripts does not allow any.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, HERE]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template(template.name).render(
        style=_text("style.css"), script=Markup("\n").join(map(_text, scripts)), **values
    )
    with replacing(path) as temporary:
        # A file name need not be UTF-8, and a page that shows it is.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def _text(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))


def versions_shown() -> dict[str, str]:
    """Return the versions that matter for a page's numbers."""
    return {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
