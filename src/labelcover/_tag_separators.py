"""What separates the tags of a column, found from all its cells, and how a cell is split."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from labelcover._words import WORDS

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

#: Marks that separate tags, the likeliest first, and the bits by which a reading with one of them
#: is shorter than its description says: how often people separate tags so. Most blanks and hyphens
#: are part of a tag, and many a word.
MARKS: dict[str, int] = WORDS["marks between tags"]
PART_OF_NAMES = frozenset("-_: ")  # marks that are looked at alone, never beside another
SECOND = 25  # bits that a second mark costs
# Bits of a tag, and of each of its characters, in the list of all tags.
TAG_BITS, CHARACTER_BITS = 8, 2
# Cells that recur tell little more: how often they do is the business of the labels.
MOST_REPEATS = 3
# So many distinct cells are looked at, and so many characters.
LARGEST_SAMPLE, MOST_CHARACTERS = 2000, 300_000
LONGEST = 80  # characters of an example
# Readings are near if their descriptions differ by so many bits, or by this share of the bits of
# the cells that they read differently.
NEAR_BITS, NEAR_SHARE = 6, 0.08
NEAR_TO_WHOLE = 0.25  # that a comma, which separates most often, separates nothing must be clear
# Parts of names have a place: genus and species, town and state. This share of occurrences must be
# of such parts (of words, and of what other marks separate), and chance be ruled out by so many
# bits.
NAMES_SHARE, NAMES_BITS = (0.5, 0.9), 10
# A blank beside another mark.
BESIDE = re.compile(r"[,;|] | (?:[,;|/&+·•>-]|and|und|et) ")

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
        if not self.marks:
            parts = [cell]
        elif MAY_PROTECT.search(cell):
            at, parts = 0, []
            for found in _patterns(self.marks)[1].finditer(cell):
                if found[1] is not None:
                    parts.append(cell[at : found.start()])
                    at = found.end()
            parts = [part.strip() for part in (*parts, cell[at:])]
            parts = [part[1:-1] if QUOTED.fullmatch(part) else part for part in parts]
        else:
            parts = _patterns(self.marks)[0].split(cell)
        tags = [tag for part in parts if (tag := part.strip())]
        return list(dict.fromkeys(self._joined(tags) if self.phrases else tags))

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
        # Codes that are always together are no tag.
        words = (part.isalpha() for part in parts)
        is_one = all(words) if separators.marks == (" ",) else any(" " in part for part in parts)
        if written is not None and is_one:
            phrases.append(written[0])
    return Separators(separators.marks, tuple(sorted(phrases)))


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


class UnclearSeparators(ValueError):
    """Cells whose tags can be read in two ways, each about as likely."""

    def __init__(self, readings: Sequence[tuple[Separators, str]]) -> None:
        ways = " or ".join(f"{separators.told()} ({example})" for separators, example in readings)
        super().__init__(f"tags can be read in two ways: {ways}")
        self.readings = readings

    def __reduce__(self):
        return type(self), (self.readings,)


@dataclass(frozen=True)
class _Reading:
    """One way to read the sampled cells, and the bits of its description."""

    separators: Separators
    rows: list[Tags]
    bits: float


def found_separators(cells: Iterable[str | None], marks: Iterable[str] = MARKS) -> Separators:
    """Return what separates the tags of cells: the reading with the shortest description.

    A reading is described by the list of its tags, letter by letter, and by each distinct cell as
    tags of that list, frequent ones with fewer bits (minimum description length). So tags that
    recur are cheap, and a mark that is part of tags is not a separator: its pieces are as many as
    the tags were, and need a place each in every cell.

    Raises
    ------
    UnclearSeparators
        If two readings have descriptions of about the same length.

    Examples
    --------
    >>> from labelcover._tag_separators import found_separators
    >>> found_separators(["rain, heavy; wind", "rain, heavy; fog", "wind; fog"]).marks
    (';',)
    >>> found_separators(["New York", "New Orleans", "San Francisco", "Boston", "San Jose"]).marks
    ()
    """
    counts = Counter(cell.strip() for cell in cells if cell and cell.strip())
    distinct = list(counts)
    step = max(1, len(distinct) / LARGEST_SAMPLE, sum(map(len, distinct)) / MOST_CHARACTERS)
    n = math.ceil(len(distinct) / step)
    sample = [distinct[i * len(distinct) // n] for i in range(n)]
    weights = [min(counts[cell], MOST_REPEATS) for cell in sample]
    readings = _readings(sample, weights, list(marks))
    best, *others = sorted(readings, key=lambda reading: reading.bits)
    whole = next(each for each in readings if not each.separators.marks)
    if best is not whole and (_are_names(best) or _is_no_shorter(best, whole, counts)):
        raise _unclear(best, whole)
    for other in others[:1]:
        differ = [
            weight
            for one, two, weight in zip(best.rows, other.rows, weights, strict=True)
            if one != two
        ]
        near = NEAR_TO_WHOLE if best is whole and _prior(other.separators.marks) < 0 else NEAR_SHARE
        share = near * sum(differ) / sum(weights)
        if other.bits - best.bits < max(NEAR_BITS, share * abs(best.bits)):
            raise _unclear(best, other)
    return with_phrases(distinct, best.separators.marks)


def separators_of_known(cells: Iterable[str | None], known: Collection[str]) -> Separators:
    """Return what separates the tags of cells if most of the tags are known: from training.

    It is the reading with the fewest tags that are not known.

    Examples
    --------
    >>> from labelcover._tag_separators import separators_of_known
    >>> separators_of_known(["dry red"], ["dry", "red"]).marks
    (' ',)
    """
    counts = Counter(cell.strip() for cell in cells if cell and cell.strip())
    marks = [mark for mark in MARKS if _in_any(mark, list(counts))]
    beside = [mark for mark in marks if mark not in PART_OF_NAMES]
    known = set(known)

    def unknown(separators: Separators) -> int:
        rows = ((separators.split(cell), count) for cell, count in counts.items())
        return sum(count * (tag not in known) for row, count in rows for tag in row)

    plain = map(Separators, [(), *((mark,) for mark in marks), *combinations(beside, 2)])
    tried = [
        Separators(each.marks, tuple(tag for tag in known if len(each.split(tag)) > 1))
        for each in plain
    ]
    return min(tried, key=unknown)  # the first of equals


def _readings(sample: list[str], weights: list[int], marks: list[str]) -> list[_Reading]:
    """Return the readings of cells that differ in their tags: none, one, two or three marks."""
    readings: dict[tuple[tuple[str, ...], ...], _Reading] = {}

    def look_at(*tried: str) -> bool:
        separators = Separators(tried)
        rows = [separators.split(cell) for cell in sample]
        separators = joining(separators, sample, rows)
        if separators.phrases:
            rows = [separators.split(cell) for cell in sample]
        reading = _Reading(separators, rows, _bits(rows, weights) + _prior(tried))
        if PART_OF_NAMES.issuperset(tried) and tried and _are_names(reading):
            return False
        key = tuple(map(tuple, rows))
        return readings.setdefault(key, reading) is reading

    look_at()
    alone = [mark for mark in marks if _in_any(mark, sample) and look_at(mark)]
    beside = [mark for mark in alone if mark not in PART_OF_NAMES]
    pairs = [
        (a, b)
        for i, a in enumerate(beside)
        for b in beside[i + 1 :]
        if a.strip() != b.strip() and look_at(a, b)
    ]
    if pairs:
        best = min(readings.values(), key=lambda reading: reading.bits).separators.marks
        for mark in beside if best in pairs else ():
            if mark.strip() not in [each.strip() for each in best]:
                look_at(*best, mark)
    return list(readings.values())


def _in_any(mark: str, cells: list[str]) -> bool:
    found = re.compile(mark_regex(mark))
    if mark == " " and sum(BESIDE.search(cell) is not None for cell in cells) > len(cells) / 50:
        return False  # a blank beside another mark separates nothing by itself
    return any(found.search(cell) for cell in cells)


def _are_names(reading: _Reading) -> bool:
    """Tell whether most tags have a fixed place, first or last, and none of those is ever alone.

    Tags in alphabetical order have such places too, and say nothing.
    """
    several = [row for row in reading.rows if len(row) > 1]
    if are_sorted(reading.rows):
        return False
    alone = {row[0] for row in reading.rows if len(row) == 1}
    inside = {tag for row in several for tag in row[1:-1]}
    first, last = ({row[at] for row in several} - inside - alone for at in (0, -1))
    fixed = first ^ last
    counts = Counter(tag for row in several for tag in row)
    in_place, occurrences, bits = 0, 0, 0.0
    for row in reading.rows:
        held = [tag for tag in row if tag in fixed]
        in_place += len(held)
        occurrences += len(row)
        bits += sum(math.log2(len(row)) for tag in held if counts[tag] > 1)
    share = NAMES_SHARE[not PART_OF_NAMES.issuperset(reading.separators.marks)]
    return bits >= NAMES_BITS and in_place >= share * occurrences


def _is_no_shorter(best: _Reading, whole: _Reading, counts: Counter[str]) -> bool:
    """Tell whether a comma leaves more tags than there are cells, which recur.

    Of few places such as Salem, Oregon, each of them in many rows, both readings recur.
    """
    tags = {tag for row in best.rows for tag in row}
    is_comma = [mark.strip() for mark in best.separators.marks] == [","]
    recur = counts.total() >= 2 * len(counts)
    return is_comma and recur and len(tags) > len(whole.rows) > 1 and min(map(len, best.rows)) > 1


def _unclear(*both: _Reading) -> UnclearSeparators:
    """Return an error with the shortest cell in which two readings differ."""
    at = min(
        (i for i, row in enumerate(both[0].rows) if row != both[1].rows[i]),
        key=lambda i: sum(map(len, both[0].rows[i])),
    )
    told = []
    for each in both:
        tags = {tag for row in each.rows for tag in row}
        shown = " + ".join(map(repr, each.rows[at]))
        shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
        told.append((each.separators, f"{len(tags)} tags, such as {shown}"))
    return UnclearSeparators(told)


def _prior(marks: tuple[str, ...]) -> float:
    return min((MARKS[mark] for mark in marks), default=0) + SECOND * max(0, len(marks) - 1)


def _bits(rows: list[Tags], weights: list[int]) -> float:
    """Return the length of the description of cells as rows of tags, in bits."""
    counts, sizes = Counter[str](), Counter[int]()
    for row, weight in zip(rows, weights, strict=True):
        sizes[len(row)] += weight
        for tag in row:
            counts[tag] += weight
    listed = sum(TAG_BITS + CHARACTER_BITS * len(tag) for tag in counts)
    return listed + _code_bits(counts) + _code_bits(sizes)


def _code_bits(counts: Counter) -> float:
    total = counts.total()
    return sum(count * math.log2(total / count) for count in counts.values())
