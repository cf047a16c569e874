"""Build the catalogue of covers, or improve it: an entry is only ever replaced by a better one.

    python tools/build_catalogue.py                      # every entry that is not optimal, quickly
    python tools/build_catalogue.py --effort 100000000   # the same with more work for each
    python tools/build_catalogue.py --only 45,5,2 53,5,2
    python tools/build_catalogue.py --import-from DIR    # covers C_{m}_{k}_{r}.npy made elsewhere

Better is smaller, or as small and less imbalanced. The file is written whole after each change,
so the script may be stopped at any time. With the same arguments it does the same work.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numpy as np

from labelcover._files import replacing
from labelcover.covers import Cover, build_cover
from labelcover.covers._catalogue import (
    ALPHABET,
    FILE,
    Entry,
    Key,
    cover_of,
    read_entries,
)
from labelcover.covers._designs.difference import developed, wilson_family
from labelcover.covers._designs.plans import shortened
from labelcover.covers._local_search import Annealer, balanced, filled
from labelcover.covers.bounds import lower_bound

PATH = Path(str(files("labelcover.covers") / FILE))
MOST_BYTES = 300_000

# Pairs of labels of the paper's data sets with its k beyond the ranges below: Delicious and
# MediaMill, both from difference families over the field of the given order.
FAMILIES = {(101, 5, 2): 101, (983, 6, 2): 991}


def wanted_keys() -> list[tuple[int, int, int]]:
    """Return every (m, k, r) that the catalogue should hold, small ones first."""
    pairs = [(m, k, 2) for m in range(3, 65) for k in range(3, 8) if m >= k]
    triples = [(m, k, 3) for m in range(4, 25) for k in range(4, 8) if m >= k]
    return pairs + triples + list(FAMILIES)


def entry_of(
    cover: Cover,
    r: int,
    family: tuple[int, Iterable] | None = None,
) -> Entry:
    """Return the entry for a cover of at most 128 labels, or of base blocks.

    Parameters
    ----------
    cover : Cover
        With its method and lower bound.
    r : int
        The order it covers.
    family : (int, base blocks), optional
        The field's order and the base blocks of the difference family that `cover` comes from.
    """
    entry: Entry = {
        "m": cover.n_labels,
        "k": cover.k,
        "r": r,
        "size": len(cover),
        "imbalance": cover.imbalance,
        "method": cover.method,
    }
    if family is not None:
        entry["field"] = family[0]
        entry["base"] = [[int(x) for x in row] for row in family[1]]
    else:
        table = cover.labelsets[np.lexsort(cover.labelsets.T[::-1])]
        entry["rows"] = "".join(ALPHABET[x] for x in table.ravel())
    return entry


def write_entries(entries: dict[Key, Entry]) -> str:
    """Return the text of a catalogue: by r, k and m, a line each."""
    order = sorted(entries, key=lambda key: key[::-1])
    return "".join(json.dumps(entries[key], separators=(",", ":")) + "\n" for key in order)


class Catalogue:
    """The catalogue's file, rewritten at every improvement."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries = read_entries(path.read_text(encoding="utf-8")) if path.exists() else {}

    def rows(self, m: int, k: int, r: int):
        """Return the rows of an entry, for covers that it may be part of."""
        entry = self.entries.get((m, k, r))
        return None if entry is None else cover_of(entry).labelsets

    def is_settled(self, key) -> bool:
        """Whether no better entry is possible."""
        entry = self.entries.get(key)
        settled = entry is not None and entry["size"] <= lower_bound(*key)
        return settled and entry["imbalance"] <= 1

    def offer(self, cover: Cover, r: int, family=None) -> bool:
        """Take the cover if it is better than the entry; say so."""
        key = (cover.n_labels, cover.k, r)
        old = self.entries.get(key)
        if old is not None and (len(cover), cover.imbalance) >= (old["size"], old["imbalance"]):
            return False
        entry = entry_of(cover, r, family)
        cover_of(entry)  # refuses what does not expand to a cover
        self.entries[key] = entry
        self.write()
        was = "new" if old is None else f"was {old['size']}, imbalance {old['imbalance']}"
        print(f"{key}: {cover!r} ({was})", flush=True)
        return True

    def write(self) -> None:
        """Replace the file."""
        text = write_entries(self.entries)
        if len(text.encode()) > MOST_BYTES:
            raise SystemExit(f"the catalogue would exceed {MOST_BYTES} bytes")
        with replacing(self.path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def offer_family(catalogue: Catalogue, key, field: int) -> None:
    """Offer the cover of a difference family."""
    m, k, r = key
    base = wilson_family(k, field)
    rows = developed(base, field)
    if field > m:
        rows = balanced(filled(shortened(rows, field, m), m), m, r)
    method = f"difference family over GF({field})" + (", shortened" if field > m else "")
    bound = lower_bound(m, k, r)
    catalogue.offer(Cover(rows, m, method=method, lower_bound=bound), r, (field, base))


def offer_neighbours(catalogue: Catalogue, key) -> None:
    """Offer what the covers of one label more and one place more hold."""
    m, k, r = key
    bound = lower_bound(m, k, r)
    entry = catalogue.entries.get((m + 1, k, r))
    if entry is not None and m + 1 <= 64:
        rows = np.where(cover_of(entry).labelsets == m, -1, cover_of(entry).labelsets)
        made = Cover(balanced(filled(rows, m), m, r), m, method=entry["method"], lower_bound=bound)
        catalogue.offer(made, r)
    entry = catalogue.entries.get((m - 1, k - 1, r))
    if entry is not None:
        rows = cover_of(entry).labelsets
        rows = np.column_stack([rows, np.full(len(rows), m - 1)])
        made = Cover(balanced(rows, m, r), m, method=entry["method"], lower_bound=bound)
        catalogue.offer(made, r)


def offer_levelled(catalogue: Catalogue, key, steps: int, seed: int) -> None:
    """Offer the entry's own cover with its labels' counts made more equal."""
    m, _, r = key
    entry = catalogue.entries[key]
    if entry["imbalance"] > 1:
        rng = np.random.default_rng(seed)
        rows = Annealer(m, r, rng, steps).levelled(cover_of(entry).labelsets)
        bound = lower_bound(*key)
        catalogue.offer(Cover(rows, m, method=entry["method"], lower_bound=bound), r)


def offer_arrays(catalogue: Catalogue, folder: Path) -> None:
    """Offer the covers of a folder of NumPy files."""
    for path in sorted(folder.glob("C_*_*_*.npy")):
        m, k, r = map(int, re.findall(r"\d+", path.name))
        if (m, k, r) not in FAMILIES:
            rows = balanced(np.load(path, allow_pickle=False), m, r)
            bound = lower_bound(m, k, r)
            catalogue.offer(Cover(rows, m, method="collected", lower_bound=bound), r)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--effort", type=int, default=2_000_000, help="annealing steps a cover")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="m,k,r of the entries to work on")
    parser.add_argument("--missing", action="store_true", help="only entries that are not there")
    parser.add_argument("--import-from", type=Path, help="folder of C_{m}_{k}_{r}.npy files")
    parser.add_argument("--merge", type=Path, help="another catalogue, of a run elsewhere")
    arguments = parser.parse_args()
    catalogue = Catalogue(PATH)
    if arguments.import_from is not None:
        offer_arrays(catalogue, arguments.import_from)
    if arguments.merge is not None:
        for key, entry in read_entries(arguments.merge.read_text(encoding="utf-8")).items():
            if key not in FAMILIES:
                catalogue.offer(cover_of(entry), key[2])
    keys = wanted_keys()
    if arguments.only:
        keys = [tuple(map(int, text.split(","))) for text in arguments.only]
    keys = sorted(keys)
    if arguments.missing:
        keys = [key for key in keys if key not in catalogue.entries]
    for key in keys:
        m, k, r = key
        if key in FAMILIES:
            offer_family(catalogue, key, FAMILIES[key])
        elif not catalogue.is_settled(key):
            offer_neighbours(catalogue, key)
            if not catalogue.is_settled(key):
                made = build_cover(
                    m,
                    k,
                    r,
                    effort=arguments.effort,
                    random_state=arguments.seed,
                    parts=catalogue.rows,
                )
                catalogue.offer(made, r)
                offer_levelled(catalogue, key, arguments.effort, arguments.seed)
    for key in reversed(keys):  # what was gained last may serve fewer labels
        if key not in FAMILIES and not catalogue.is_settled(key):
            offer_neighbours(catalogue, key)
    catalogue.write()


if __name__ == "__main__":
    main()
