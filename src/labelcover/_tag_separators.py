"""What separates the tags of a cell, and how a cell is split."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

# Marks that separate only if they stand alone: not those of C++.
BETWEEN = ("/", "&", "+", "-", "_", ":")
TOGETHER = 3  # distinct cells in which parts of a tag must stand side by side, and nowhere apart
# Nothing is split inside brackets, and inside quotes that begin and end where a tag may.
PROTECTED = (
    r"\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^][]*\]|\{[^{}]*\}"
    r"""|(?<![^\s;|,/&+])"[^"]*"(?![^\s;|,/&+])|(?<![^\s;|,/&+])'[^']*(?<=[^\s'])'(?![^\s;|,/&+])"""
)
MAY_PROTECT = re.compile(r"""[(\[{"']""")
QUOTED = re.compile(r'"[^"]*"' + r"|'[^']*'")

Tags = list[str]


@dataclass(frozen=True)
class Separators:
    """What separates the tags of a column.

    Attributes
    ----------
    marks : tuple of str
        Any of these separates; none means that a cell is one tag. Blanks around a mark are part
        of it: ``", "`` is a comma with at least one blank after it.
    phrases : tuple of str
        Tags that hold a mark, and are not split.
    listed : bool
        Whether the cells are lists, which nothing separates.

    Examples
    --------
    >>> from labelcover._tag_separators import Separators
    >>> Separators((",",)).split("rain, wind (north, east),rain")
    ['rain', 'wind (north, east)']
    """

    marks: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    listed: bool = False

    def split(self, cell: str) -> Tags:
        """Return the tags of a cell without blanks around them, each once."""
        parts = self._parts(cell)
        return list(dict.fromkeys(self._joined(parts) if self.phrases else parts))

    def told(self) -> str:
        """Return what separates, for people to read."""
        if self.listed:
            return "lists"
        names = {" ": "a blank", "\t": "a tab", "\n": "a line break"}
        marks = [names.get(mark, repr(mark)) for mark in self.marks]
        return f"separated by {' or '.join(marks)}" if marks else "one in a cell, not separated"

    def told_phrases(self) -> str:
        """Return which tags hold a mark and are not split, for people to read."""
        shown = ", ".join(map(repr, self.phrases[:3])) + (", …" if len(self.phrases) > 3 else "")
        one = "is one tag" if len(self.phrases) == 1 else "are one tag each"
        return f"{shown} {one}, as the parts of such a tag never occur apart"

    def _parts(self, cell: str) -> Tags:
        if not self.marks:
            parts = [cell]
        elif MAY_PROTECT.search(cell):
            at, parts = 0, []
            for found in _patterns(self.marks)[1].finditer(cell):
                if found[1] is not None:
                    parts.append(cell[at : found.start()])
                    at = found.end()
            parts.append(cell[at:])
            parts = [_unquoted(part.strip()) for part in parts]
        else:
            parts = _patterns(self.marks)[0].split(cell)
        return [tag for part in parts if (tag := part.strip())]

    def _joined(self, parts: Tags) -> Tags:
        tags, at = [], 0
        beginnings = _beginnings(self)
        while at < len(parts):
            phrase, of = beginnings.get(parts[at], ("", []))
            whole = bool(of) and parts[at : at + len(of)] == of
            tags.append(phrase if whole else parts[at])
            at += len(of) if whole else 1
        return tags


def with_phrases(cells: Iterable[str | None], marks: Sequence[str]) -> Separators:
    """Return given marks as separators, with the tags of `cells` that hold such a mark.

    The parts of such a tag always stand side by side, in at least three distinct cells.

    Examples
    --------
    >>> from labelcover._tag_separators import with_phrases
    >>> with_phrases(["tea, or milk", "tea, or milk, ice", "ice, tea, or milk"], [","]).phrases
    ('tea, or milk',)
    """
    plain = Separators(tuple(marks))
    distinct = list(dict.fromkeys(cell.strip() for cell in cells if cell))
    return joining(plain, distinct, [plain.split(cell) for cell in distinct])


def joining(separators: Separators, cells: list[str], rows: list[Tags]) -> Separators:
    """Return separators with the tags that hold a mark: parts that stand side by side everywhere.

    `rows` are the tags of `cells` without such phrases.
    """
    counts: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    first_cell: dict[str, str] = {}
    for cell, row in zip(cells, rows, strict=True):
        counts.update(row)
        pairs.update(pairwise(row))
        for tag in row:
            first_cell.setdefault(tag, cell)
    after = {
        first: second
        for (first, second), count in pairs.items()
        if count >= TOGETHER and counts[first] == count == counts[second]
    }
    if are_sorted(rows):  # neighbours in the alphabet are side by side for that reason
        return separators
    mark = rf"\s*(?:{_patterns(separators.marks)[0].pattern})\s*"
    phrases = []
    for first in after.keys() - after.values():
        parts = [first]
        while parts[-1] in after:
            parts.append(after[parts[-1]])
        written = re.search(mark.join(map(re.escape, parts)), first_cell[first])
        # Quotes around a part are not part of the tag.
        if written is not None and _may_be_phrase(parts, separators.marks):
            phrases.append(written[0])
    return Separators(separators.marks, tuple(sorted(phrases)))


def _may_be_phrase(parts: Tags, marks: tuple[str, ...]) -> bool:
    """Tell whether parts can be one tag: codes that are always together are not."""
    if marks == (" ",):
        return all(map(str.isalpha, parts))
    return any(" " in part for part in parts)


def are_sorted(rows: list[Tags]) -> bool:
    return all(row == sorted(row, key=str.casefold) for row in rows if len(row) > 1)


# Not kept in the separators, which are part of a model on disk.
@lru_cache(maxsize=64)
def _patterns(marks: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what matches a mark, and what matches a mark in its first group, or text to keep."""
    longest_first = sorted(marks, key=len, reverse=True)
    mark = "|".join(map(mark_regex, longest_first)) if marks else r"(?!)"
    return re.compile(mark), re.compile(f"{PROTECTED}|({mark})")


@lru_cache(maxsize=64)
def _beginnings(separators: Separators) -> dict[str, tuple[str, Tags]]:
    """Return the phrases and their parts, by the first part."""
    plain = Separators(separators.marks)
    parts = [(phrase, plain.split(phrase)) for phrase in separators.phrases]
    return {of[0]: (phrase, of) for phrase, of in parts}


def mark_regex(mark: str) -> str:
    """Return the regular expression of a mark; a blank in it stands for several."""
    if not mark.strip(" "):
        return r"[ \u00a0]+"
    if mark in BETWEEN:
        return rf"(?<!^)(?<!\{mark})\{mark}(?!\{mark}|\s*$)"
    # A word may follow the blank that belongs to a comma.
    before = r"(?:\s+|(?<=\s))" if mark.startswith(" ") else ""
    after = r"(?:\s+|$)" if mark.endswith(" ") else ""
    return before + re.escape(mark.strip(" ")) + after


def _unquoted(tag: str) -> str:
    return tag[1:-1] if QUOTED.fullmatch(tag) else tag
