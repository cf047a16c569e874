"""Free text as features: TF-IDF of words and pairs of words, or of groups of characters."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.tables._column_kinds import ColumnKind

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

WORDS, CHARACTERS, CASED = "words", "characters", "characters, case kept"
# Single letters and digits are words too: C and R are languages, 3 a version.
ANALYZERS: dict[str, dict[str, Any]] = {
    WORDS: {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    CHARACTERS: {"analyzer": "char_wb", "ngram_range": (2, 5)},
    CASED: {"analyzer": "char_wb", "ngram_range": (2, 5), "lowercase": False},
}
#: What is counted, in the words of a report.
COUNTED = {
    WORDS: "words and pairs of words",
    CHARACTERS: "groups of characters",
    CASED: "groups of characters, in capital or small letters",
}
MOST_FEATURES = 50_000
# Words against characters is decided on so many rows and labels.
CHOICE_ROWS = 1000
FEWEST_ROWS = 10
CHOICE_LABELS = 100
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0)
# Groups of characters make wider tables, so they must be better by this share, and all that is not
# the simplest by so many standard errors.
WORTH = 0.02
CLEARLY = 2.0


@dataclass(eq=False)
class TextColumn:
    """Text as TF-IDF, with logarithmic counts and rows of length one.

    Attributes
    ----------
    name : str
        The column; features are ``name: word``.
    kind : {"words", "characters", "characters, case kept"}
        What is counted.
    terms : list of str
        The words, or groups of characters, of the features.
    idf : ndarray of shape (n_terms,)
        Their weights.
    """

    name: str
    kind: str
    terms: list[str]
    idf: NDArray[np.float64]

    @classmethod
    def fitted(cls, name: str, texts: list[str], Y: NDArray[np.uint8]) -> TextColumn | None:
        """Return the encoder for the texts of the training rows; None if no word recurs in them."""
        chosen = choose_kind(texts, Y)
        return None if chosen is None else cls._of(name, chosen, texts)

    @classmethod
    def of_names(
        cls, name: str, texts: list[str], Y: NDArray[np.uint8], *, instead_of: str | None
    ) -> TextColumn | None:
        """Return the encoder for one-word names by their characters; None if these say nothing.

        They must be better than the names as a whole, ``"words"``, or than nothing at all, None.
        """
        errors = _Errors(texts, Y)
        if not _parts_recur(errors.texts) or not errors.characters_beat(instead_of):
            return None
        return cls._of(name, errors.case(), texts)

    @classmethod
    def _of(cls, name: str, kind: str, texts: list[str]) -> TextColumn:
        vectorizer = _vectorizer(kind).fit(texts)
        return cls(name, kind, vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [f"{self.name}: {term}" for term in self.terms]

    @property
    def told(self) -> ColumnKind:
        """What to tell of the column."""
        return ColumnKind(self.name, "text", f"{len(self.terms)} {COUNTED[self.kind]}")

    def encode(self, texts: list[str]) -> sparse.csr_array:
        """Return the features as a sparse table."""
        vectorizer = _vectorizer(self.kind, vocabulary={t: j for j, t in enumerate(self.terms)})
        vectorizer.idf_ = self.idf
        return sparse.csr_array(vectorizer.transform(texts))

    def __getstate__(self) -> dict[str, Any]:
        # A model file would hold an entry for each term; no term has a line break.
        return {**self.__dict__, "terms": "\n".join(self.terms)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, terms=state["terms"].split("\n"))


def choose_kind(texts: list[str], Y: NDArray[np.uint8]) -> str | None:
    """Return whether words or groups of characters predict the labels better; None: nothing recurs.

    Characters are taken if their error is smaller than that of words (see `_Errors`) by at least
    2 % and two standard errors; the case of letters is kept if that makes it smaller still.
    """
    errors = _Errors(texts, Y)
    if errors.of(WORDS) is None:
        return None if errors.of(CHARACTERS) is None else errors.case()
    return errors.case() if errors.characters_beat(WORDS) else WORDS


class _Errors:
    """Squared errors of leave-one-out predictions by ridge regression, by what is counted.

    The ridge is the best one. At most 1,000 rows and the 100 most frequent labels are looked at:
    the rows follow from the texts, so that one row more changes one of them at most.
    """

    def __init__(self, texts: list[str], Y: NDArray[np.uint8]) -> None:
        keys = np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.int64)
        rows = np.argsort(keys, kind="stable")[:CHOICE_ROWS]
        counts = np.asarray(Y.sum(axis=0), dtype=np.int64).ravel()
        some: Any = Y[rows][:, np.argsort(-counts, kind="stable")[:CHOICE_LABELS]]
        labels = np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=np.float64)
        self.labels = labels[:, np.ptp(labels, axis=0) > 0] if len(rows) else labels
        self.texts = [texts[i] for i in rows]
        self.has_capitals = any(text != text.lower() for text in self.texts)
        self.of = cache(self._errors)

    def _errors(self, kind: str | None) -> NDArray[np.float64] | None:
        """Return the error of each row, NaN if there is nothing to compare; None: nothing recurs.

        For None these are the errors of the frequencies of the labels.
        """
        from sklearn.linear_model import RidgeCV

        n = len(self.texts)
        if kind is None:
            return (((self.labels - self.labels.mean(axis=0)) * n / (n - 1)) ** 2).mean(axis=1)
        try:
            table = _vectorizer(kind).fit_transform(self.texts)
        except ValueError:  # scikit-learn's way to say that no term is left
            return None
        if n < FEWEST_ROWS or not self.labels.shape[1]:
            return np.full(n, np.nan)
        fitted = RidgeCV(RIDGES, store_cv_results=True).fit(table, self.labels)
        errors = fitted.cv_results_.reshape(n, -1, len(RIDGES))
        return errors[:, :, RIDGES.index(fitted.alpha_)].mean(axis=1)

    def is_better(self, kind: str, than: str | None, worth: float = WORTH) -> bool:
        """Return whether an error is smaller by a share and by two standard errors."""
        errors, others = self.of(kind), self.of(than)
        if errors is None or others is None or np.isnan(errors).any():
            return False
        gain = others - errors
        noise = gain.std(ddof=1) / np.sqrt(len(gain))
        return bool(gain.mean() > max(CLEARLY * noise, worth * others.mean()))

    def characters_beat(self, other: str | None) -> bool:
        """Return whether characters are better, among names with or without capital letters."""
        if self.is_better(CHARACTERS, other):
            return True
        are_names = sum(len(text.split()) for text in self.texts) < 2 * len(self.texts)
        return are_names and self.has_capitals and self.is_better(CASED, other)

    def case(self) -> str:
        """Return whether characters are counted with the case of letters, where that is better."""
        if not self.has_capitals:
            return CHARACTERS
        return CASED if self.is_better(CASED, CHARACTERS, worth=0.0) else CHARACTERS


def _parts_recur(names: list[str]) -> bool:
    """Return whether most names share a part with another one, and differ in more than digits.

    Random keys share few groups of three characters, and T-0001, T-0002 only count the rows.
    """
    filled = [name for name in names if name]
    if 2 * len({re.sub(r"\d+", "", name) for name in filled}) <= len(filled):
        return False
    parts = [{name[i : i + 3].lower() for i in range(len(name) - 2)} for name in filled]
    rows = Counter(part for each in parts for part in each)
    return 2 * sum(any(rows[part] > 1 for part in each) for each in parts) >= len(filled)


def _vectorizer(kind: str, **known: Any) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    bounds = known or {"min_df": 2, "max_features": MOST_FEATURES}
    return TfidfVectorizer(sublinear_tf=True, **ANALYZERS[kind], **bounds)
