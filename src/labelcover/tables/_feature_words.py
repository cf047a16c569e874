"""Features back in the words of the table: what reasons are told by."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover.tables._column_encoders import DateColumn, NumberColumn
from labelcover.tables._text_columns import WORDS, TextColumn

# Words in more than four fifths of the rows tell nothing: their weight is at most ln 5/4 + 1.
COMMON_WEIGHT = 1 + float(np.log(1.25))


class Units(NamedTuple):
    """What is told of the features of a row, and what each adds.

    Attributes
    ----------
    parts : ndarray of shape (n_units,)
    counts : ndarray of shape (n_units,)
        How many features each stands for.
    name : function
        Of the number of a unit: its words; empty if it is never told alone.
    """

    parts: NDArray[np.float64]
    counts: NDArray[np.int64]
    name: Callable[[int], str]


class FeatureWords:
    """What says a feature, by its number, and its value in the words of the table.

    Numbers are those of the table, whatever their scale in X. Of what is or is not there (a word, a
    value of a category, a month) the value is not told: ``subject: invoice``, ``not colour = red``.

    Parameters
    ----------
    encoders : sequence
        Those of columns, in the order of features.
    shift, factor : ndarray
        How numbers were scaled; there are as many as features of numbers and dates.
    texts : mapping of str to sequence of str, optional
        The texts of the rows that are explained, by column: where groups of characters were
        counted, their words are told.
    """

    def __init__(
        self,
        encoders: Sequence[Any],
        shift: NDArray[np.float64],
        factor: NDArray[np.float64],
        texts: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.shift, self.factor, self.texts = shift, factor, dict(texts or {})
        self.names = [name for made in encoders for name in made.feature_names]
        self.is_number = np.zeros(len(self.names), dtype=bool)
        self.is_told = np.ones(len(self.names), dtype=bool)
        # Features of one unit are told together; a word that is absent, with all that are.
        self.unit, self.column = np.arange(len(self.names)), np.zeros(len(self.names), np.int64)
        self.is_word = np.zeros(len(self.names), dtype=bool)
        self.terms: dict[int, list[str]] = {}
        self.columns = [made.name for made in encoders]
        self.first: list[int] = []
        at = 0
        for c, made in enumerate(encoders):
            own = slice(at, at + len(made.feature_names))
            self.first.append(at)
            self.column[own] = c
            if isinstance(made, NumberColumn):
                self.is_number[own] = made.is_number
            elif isinstance(made, TextColumn) and made.kind != WORDS:
                self.terms[c] = made.terms
            elif isinstance(made, TextColumn):
                self.is_told[own] = np.logical_not(_are_common(made.terms, made.idf))
            if isinstance(made, DateColumn):
                kinds = [name.partition(" = ")[0] for name in made.feature_names]
                self.unit[own] = [at + kinds.index(kind) for kind in kinds]
            elif isinstance(made, TextColumn) or getattr(made, "separators", None):
                self.is_word[own] = True
            else:
                self.unit[own] = at  # the mark of a missing number belongs to it
            at = own.stop

    def __call__(self, f: int, value: float) -> str:
        """Return a feature and its value in words."""
        value = self._unscaled(f, value)
        if self.is_number[f]:
            return f"{self.names[f]} = {value:.6g}"
        # Zeros and ones, to rounding if they were scaled; a word has any weight above 0.
        return self.names[f] if self._is_there(f, value) else f"not {self.names[f]}"

    def of_rows(self, rows: Sequence[int]) -> "FeatureWords":
        """Return the same for some of the rows, in their order."""
        words = copy(self)
        words.texts = {name: [cells[i] for i in rows] for name, cells in self.texts.items()}
        return words

    def told_names(self) -> list[str]:
        """Return the names of features, empty for stop words and groups of characters."""
        told = self.is_told.copy()
        told[np.isin(self.column, list(self.terms))] = False
        return [name if own else "" for name, own in zip(self.names, told, strict=True)]

    def units(
        self,
        row: int,
        features: NDArray[np.int64],
        parts: NDArray[np.float64],
        values: NDArray[np.float64],
        *,
        whole_columns: bool = False,
    ) -> Units:
        """Return what is told of a row of `texts`, whose `values` are in X, and what it adds.

        `parts` are those of some `features`. Nothing smaller than a column is told if
        `whole_columns`.
        """
        n, column = len(self.names), self.column[features]
        if whole_columns:
            return _summed(column, parts, lambda c: self.columns[c])
        keys = self.unit[features]
        absent = self.is_word[features] & (values[features] == 0)
        keys = np.where(absent, n + column, keys)
        split = [c for c in self.terms if c in set(column.tolist())]
        told: list[tuple[str, float, int]] = []
        for c in split:
            own = (column == c) & ~absent
            told += self._words(c, row, features[own], parts[own])
            keys[own] = -1
        found = _summed(keys[keys >= 0], parts[keys >= 0], lambda key: self._name(key, values))
        if not told:
            return found
        names, own_parts, counts = zip(*told, strict=True)
        m = len(found.parts)
        return Units(
            np.append(found.parts, own_parts),
            np.append(found.counts, counts),
            lambda u: found.name(u) if u < m else names[u - m],
        )

    def _name(self, key: int, values: NDArray[np.float64]) -> str:
        n = len(self.names)
        if key >= n:
            return f"{self.columns[key - n]}: what is not there"
        if self.is_word[key]:
            return self.names[key] if self.is_told[key] else ""
        marks = np.flatnonzero((self.unit == key) & ~self.is_number).tolist()
        there = [f for f in marks if self._is_there(f, self._unscaled(f, values[f]))]
        if there:
            return self.names[there[0]]
        if self.is_number[key]:
            return self(key, values[key])
        kind = self.names[key].partition(" = ")[0]
        return f"{kind}: none of its values" if len(marks) > 1 else f"not {self.names[key]}"

    def _words(
        self, c: int, row: int, features: NDArray[np.int64], parts: NDArray[np.float64]
    ) -> list[tuple[str, float, int]]:
        """Return the words of a text by their groups of characters; one unit without the text."""
        texts = self.texts.get(self.columns[c])
        own: defaultdict[str, list[float]] = defaultdict(list)
        words = [] if texts is None else list(dict.fromkeys(texts[row].split()))
        padded = [(word, f" {word} ", f" {word.lower()} ") for word in words]
        for f, part in zip(features.tolist(), parts.tolist(), strict=True):
            term = self.terms[c][f - self.first[c]]
            having = [word for word, cased, lower in padded if term in cased or term in lower]
            for word in having or [""]:
                own[f"{self.columns[c]}: {word or 'its letters'}"] += [part / max(1, len(having))]
        common = _are_common([name.partition(": ")[2].lower() for name in own])
        return [
            ("" if is_common else name, sum(each), len(each))
            for is_common, (name, each) in zip(common, own.items(), strict=True)
        ]

    def _unscaled(self, f: int, value: float) -> float:
        return value / self.factor[f] + self.shift[f] if f < len(self.factor) else value

    def _is_there(self, f: int, value: float) -> bool:
        return bool(value > (0.5 if f < len(self.factor) else 0))


def _summed(keys: NDArray[np.int64], parts: NDArray[np.float64], name: Any) -> Units:
    counts, sums = np.bincount(keys), np.bincount(keys, parts)  # sooner than np.unique
    found = np.flatnonzero(counts)
    own = np.asarray(sums[found], dtype=np.float64)
    return Units(own, counts[found], lambda u: name(int(found[u])))


def _are_common(terms: Sequence[str], weights: Iterable[float] = repeat(np.inf)) -> list[bool]:
    """Return whether each term is nothing but stop words, or is in nearly all rows."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # slow to import

    return [
        weight < COMMON_WEIGHT or all(word in ENGLISH_STOP_WORDS for word in term.split())
        for term, weight in zip(terms, weights, strict=False)
    ]
