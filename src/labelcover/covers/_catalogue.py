"""The covers that come with the library, verified when they are read.

The catalogue is a file of JSON lines. A line holds the labels m, k and r of a cover, its size,
imbalance and method, and the cover itself as one of

``rows``
    all labels of all labelsets, a character each (m ≤ 128);
``field`` and ``base``
    base blocks over the finite field of that order: their translates are a design on the
    field's elements, of which surplus ones are taken out.
"""

import json
import string
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from labelcover.covers._cover import Cover
from labelcover.covers._designs.difference import developed
from labelcover.covers._designs.plans import shortened
from labelcover.covers._local_search import balanced, filled
from labelcover.covers.bounds import lower_bound

FILE = "catalogue.jsonl"
ALPHABET = string.digits + string.ascii_letters + "+-" + "".join(map(chr, range(0xC0, 0x100)))

Key = tuple[int, int, int]
Entry = dict[str, Any]


class DamagedEntry(ValueError):
    """An entry of the catalogue is not what it promises."""


def catalogued_cover(n_labels: int, k: int, r: int = 2) -> Cover | None:
    """Return the cover of the catalogue for these numbers, expanded and verified, or ``None``."""
    entry = read_catalogue().get((n_labels, k, r))
    return None if entry is None else cover_of(entry)


def cover_of(entry: Entry) -> Cover:
    """Return the cover that `entry` describes, after checking that it is what it says."""
    name = "catalogue entry " + str(tuple(entry.get(x) for x in "mkr"))
    try:
        if "field" in entry:
            m, field = entry["m"], entry["field"]
            rows = developed(np.array(entry["base"]), field).astype(np.int32)
            if field > m:
                rows = balanced(filled(shortened(rows, field, m), m), m, entry["r"])
        else:
            codes = np.array([ALPHABET.index(c) for c in entry["rows"]], dtype=np.int32)
            rows = codes.reshape(entry["size"], entry["k"])
        least = lower_bound(entry["m"], entry["k"], entry["r"])
        cover = Cover(rows, entry["m"], method=entry["method"], lower_bound=least)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedEntry(f"{name} is damaged: {error}") from None
    if (cover.k, len(cover), cover.imbalance) != (entry["k"], entry["size"], entry["imbalance"]):
        raise DamagedEntry(f"{name} is damaged: it expands to {cover!r}.")
    if cover.coverage(entry["r"]) < 1.0:
        raise DamagedEntry(f"{name} is damaged: it does not cover all {entry['r']}-labelsets.")
    return cover


def read_entries(text: str) -> dict[Key, Entry]:
    """Return the entries of a catalogue's text by their ``(n_labels, k, r)``."""
    entries = (json.loads(line) for line in text.splitlines() if line)
    return {(entry["m"], entry["k"], entry["r"]): entry for entry in entries}


@lru_cache(maxsize=1)
def read_catalogue() -> dict[Key, Entry]:
    """Return the entries of the catalogue of the library."""
    return read_entries((files(__package__) / FILE).read_text(encoding="utf-8"))
