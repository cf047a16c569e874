"""Text for a terminal: control characters of names are shown, not obeyed."""

from __future__ import annotations

import re

# What moves the cursor, changes colours or turns the direction of what follows; tabs and line
# breaks are left.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return a text as a terminal may show it: control characters are written as ``\x1b``.

    Examples
    --------
    >>> from labelcover._visible_text import visible
    >>> print(visible("\x1b[31mred"))
    \x1b[31mred
    """
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)
