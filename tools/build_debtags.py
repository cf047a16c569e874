"""Build ``debtags.npz``, the embedded set, from a Debian package index, without any random number.

usage: python tools/build_debtags.py Packages Translation-en.xz debtags.npz

The facts are those of the package index of Debian 12.15 ("bookworm", main, amd64) and of its
English descriptions; the tags were given to the packages by the debtags contributors. Credit is
theirs and the Debian project's: https://debtags.debian.org and https://www.debian.org.

A row is a source package that has a program and is tagged with its interface, its use and the
language it is written in; rows are in the order of the SHA-256 of their names. Labels are tags of
at least 6 % of the rows. Features are facts of the index (dependencies, section, name, sizes) and
the presence of the 220 most frequent words of the description. Features that nearly are a label
or another feature are left out.
"""

from __future__ import annotations

import hashlib
import lzma
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

MIN_LABEL = 0.06  # share of rows with a label, at least
MAX_LABEL_PHI = 0.90  # a label this close to a more frequent one is left out
MIN_SHARE = 0.01  # share of rows with a dependency or section, at least
N_WORDS = 220
MAX_WORD_SHARE = 0.30
MAX_PHI = 0.85  # a feature this close to a label or to a more frequent feature is left out
MIN_ROWS = 10  # rows with a yes-or-no feature, at least
# role is constant, suite and devel are product lines, scope is a matter of taste.
SKIPPED_FACETS = {"role", "suite", "devel", "scope"}
HOSTS = (
    "github",
    "gitlab",
    "sourceforge",
    "gnu.org",
    "gnome.org",
    "kde.org",
    "cpan.org",
    "launchpad",
    "savannah",
    "debian.org",
)
# Patterns of package names, in the order of the features.
NAME_PATTERNS = (
    *("^lib", "^x", "^g", "^k", "^q", "^py", "perl", "gtk", "qt", "d$", "-utils$", "-tools?$"),
    *("^gnome", "view", "edit", "mon", "2", "-", "[0-9]"),
)
STOP_WORDS = set(
    (Path(__file__).parent / "debtags_stop_words.txt").read_text(encoding="utf-8").split()
)

Stanza = dict[str, str]


def build(packages: str, translation: str, target: str) -> None:
    """Write the data set made of the two index files to `target`."""
    with open(packages, encoding="utf-8") as file:
        rows = choose_rows(stanzas(file))
    labels, Y = label_table([tags(row) for row in rows])
    rows = [row for row, any_label in zip(rows, Y.max(axis=1), strict=True) if any_label]
    Y = Y[Y.max(axis=1) > 0]
    with lzma.open(translation, "rt", encoding="utf-8") as file:
        texts = descriptions(file, rows)
    columns = facts(rows) | word_columns(texts)
    X = np.array(list(columns.values()), dtype=np.float32).T
    keep = informative(X, Y, list(columns))
    np.savez_compressed(
        target,
        X=X[:, keep].astype(np.uint8),
        Y=Y,
        feature_names=np.array(list(columns))[keep],
        label_names=np.array(labels),
        names=np.array([row["Package"] for row in rows]),
    )


def stanzas(lines: Iterable[str]) -> Iterator[Stanza]:
    """Yield the paragraphs of a Debian control file."""
    current: Stanza = {}
    key = ""
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if current:
                yield current
            current = {}
        elif line[0] in " \t":
            current[key] += "\n" + line
        else:
            key, value = line.split(":", 1)
            current[key] = value.strip()
    if current:
        yield current


def tags(row: Stanza) -> set[str]:
    """Return the tags of a package, without the reminders to add some."""
    found = (tag.strip() for tag in row.get("Tag", "").replace("\n", " ").split(","))
    return {tag for tag in found if tag and not tag.endswith("TODO")}


def source(row: Stanza) -> str:
    """Return the name of the source package."""
    return row.get("Source", row["Package"]).split()[0]


def choose_rows(index: Iterable[Stanza]) -> list[Stanza]:
    """Return one well-tagged program per source package, in an order that means nothing."""
    best: dict[str, tuple[tuple[bool, int, str], Stanza]] = {}
    for row in index:
        own = tags(row)
        facets = {tag.split("::")[0] for tag in own}
        if "role::program" not in own or not {"interface", "use", "implemented-in"} <= facets:
            continue
        order = (row["Package"] != source(row), -len(own), row["Package"])
        if source(row) not in best or order < best[source(row)][0]:
            best[source(row)] = (order, row)
    chosen = [row for _, row in best.values()]
    return sorted(chosen, key=lambda row: hashlib.sha256(row["Package"].encode()).hexdigest())


def label_table(tags_of_rows: list[set[str]]) -> tuple[list[str], np.ndarray]:
    """Return the frequent tags that are not nearly a more frequent one, and their table."""
    counts = Counter(tag for own in tags_of_rows for tag in own)
    frequent = [
        tag
        for tag, count in counts.items()
        if count >= MIN_LABEL * len(tags_of_rows) and tag.split("::")[0] not in SKIPPED_FACETS
    ]
    labels: list[str] = []
    columns: list[np.ndarray] = []
    for tag in sorted(frequent, key=lambda t: (-counts[t], t != "interface::x11", t)):
        column = np.array([tag in own for own in tags_of_rows], dtype=np.uint8)
        if all(abs(np.corrcoef(column, other)[0, 1]) <= MAX_LABEL_PHI for other in columns):
            labels.append(tag)
            columns.append(column)
    return labels, np.stack(columns, axis=1)


def facts(rows: list[Stanza]) -> dict[str, list[int]]:
    """Return the features that are fields of the index."""
    columns: dict[str, list[int]] = {}
    for prefix, fields in (
        ("dep=", ("Depends", "Pre-Depends")),
        ("rec=", ("Recommends", "Suggests")),
    ):
        related = [set().union(*(named(row.get(field)) for field in fields)) for row in rows]
        columns |= indicators(prefix, related)
    columns |= indicators("section=", [{row["Section"]} for row in rows])
    columns["arch=all"] = [int(row["Architecture"] == "all") for row in rows]
    columns["multiarch"] = [int("Multi-Arch" in row) for row in rows]
    columns["provides"] = [int("Provides" in row) for row in rows]
    columns["conflicts"] = [int("Conflicts" in row or "Breaks" in row) for row in rows]
    columns["enhances"] = [int("Enhances" in row) for row in rows]
    columns["homepage"] = [int("Homepage" in row) for row in rows]
    for host in HOSTS:
        columns["home~" + host] = [int(host in row.get("Homepage", "").lower()) for row in rows]
    columns["source_differs"] = [int(row["Package"] != source(row)) for row in rows]
    for pattern in NAME_PATTERNS:
        shown = pattern.replace("s?", "(s)")
        columns["name~" + shown] = [int(bool(re.search(pattern, row["Package"]))) for row in rows]
    columns["log2_installed_size"] = [log2(int(row.get("Installed-Size", 0))) for row in rows]
    columns["log2_download_size"] = [log2(int(row["Size"]) / 1024) for row in rows]
    for field in ("Depends", "Recommends", "Suggests"):
        columns["n_" + field.lower()] = [
            min(sum(1 for clause in row.get(field, "").split(",") if clause.strip()), 99)
            for row in rows
        ]
    columns["name_length"] = [len(row["Package"]) for row in rows]
    return columns


def named(field: str | None) -> set[str]:
    """Return the packages that a relation field names, alternatives included."""
    alternatives = (part.strip() for part in re.split(r"[,|]", field or ""))
    return {re.sub(r"[\s(:\[].*", "", part) for part in alternatives} - {""}


def indicators(prefix: str, sets: list[set[str]]) -> dict[str, list[int]]:
    """Return a yes-or-no column for every thing that is in at least one set in a hundred."""
    counts = Counter(thing for own in sets for thing in own)
    common = sorted(thing for thing, count in counts.items() if count >= MIN_SHARE * len(sets))
    return {prefix + thing: [int(thing in own) for own in sets] for thing in common}


def log2(size: float) -> int:
    """Return the size on a scale of doublings, rounded."""
    return round(math.log2(1 + size))


def descriptions(lines: Iterable[str], rows: list[Stanza]) -> list[str]:
    """Return the English description of every row."""
    texts = {row["Package"]: row["Description"] for row in rows}
    missing = set(texts)
    for stanza in stanzas(lines):
        if (name := stanza.get("Package", "")) in missing:
            texts[name] = stanza.get("Description-en", "")
            missing.remove(name)
    return [texts[row["Package"]] for row in rows]


def word_columns(texts: list[str]) -> dict[str, list[int]]:
    """Return a yes-or-no column for each of the most frequent words."""
    words_of = [words(text) for text in texts]
    counts = Counter(word for own in words_of for word in own)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    top = [word for word, count in ordered if count <= MAX_WORD_SHARE * len(texts)][:N_WORDS]
    return {"word=" + word: [int(word in own) for own in words_of] for word in sorted(top)}


def words(text: str) -> set[str]:
    """Return the words of a text, in the singular as far as a simple rule can tell."""
    found = set()
    for word in set(re.findall(r"[a-z][a-z0-9+#]+", text.lower())):
        if len(word) < 3 and word != "c++":
            continue
        if len(word) > 5 and word.endswith("ies"):
            word = word[:-3] + "y"
        elif len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
        if word not in STOP_WORDS and word + "s" not in STOP_WORDS:
            found.add(word)
    return found


def informative(X: np.ndarray, Y: np.ndarray, names: list[str]) -> np.ndarray:
    """Return a mask of the features that vary and are neither a label nor another feature."""
    n, spread = len(X), X.std(axis=0)
    varies = spread > 0
    Z = np.where(varies, (X - X.mean(axis=0)) / np.where(varies, spread, 1), 0)
    leak = np.abs(Z.T @ ((Y - Y.mean(axis=0)) / Y.std(axis=0))) / n
    binary = np.array([set(np.unique(column)) <= {0, 1} for column in X.T])
    keep = varies & (leak.max(axis=1) <= MAX_PHI) & ~(binary & (X.sum(axis=0) < MIN_ROWS))
    kept: list[int] = []
    candidates = np.flatnonzero(keep & binary)
    for j in sorted(candidates, key=lambda j: (-X[:, j].sum(), names[j])):
        if kept and (np.abs(Z[:, kept].T @ Z[:, j]) / n).max() > MAX_PHI:
            keep[j] = False
        else:
            kept.append(int(j))
    return keep


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    build(*sys.argv[1:])
