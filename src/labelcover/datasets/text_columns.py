"""Free text as features: TF-IDF of words and pairs of words, or of groups of characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

WORDS, CHARACTERS = "words", "characters"
# Single letters and digits are words too: C and R are languages, 3 a version.
ANALYZERS: dict[str, dict[str, Any]] = {
    WORDS: {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    CHARACTERS: {"analyzer": "char_wb", "ngram_range": (2, 5)},
}
MOST_FEATURES = 50_000
# Words against characters is decided on so many rows and labels.
CHOICE_ROWS = 1500
CHOICE_LABELS = 100
RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0)
# Groups of characters make wider tables, so they must be better by this share.
WORTH = 0.02


class TextColumn:
    """Text as TF-IDF, with logarithmic counts and rows of length one.

    Parameters
    ----------
    name : str
        The column; features are ``name: word``.
    kind : {"words", "characters"}
        What is counted.
    terms : list of str
        The words, or groups of characters, of the features.
    idf : ndarray of shape (n_terms,)
        Their weights.
    """

    def __init__(self, name: str, kind: str, terms: list[str], idf: NDArray[np.float64]) -> None:
        self.name, self.kind, self.terms, self.idf = name, kind, terms, idf

    @classmethod
    def fitted(
        cls, name: str, texts: Sequence[str | None], Y: NDArray[np.uint8]
    ) -> TextColumn | None:
        """Return the encoder for the texts of the training rows; None if no word recurs in them."""
        plain = [text or "" for text in texts]
        chosen = choose_kind(plain, Y)
        return None if chosen is None else cls._of(name, chosen, plain)

    @classmethod
    def _of(cls, name: str, kind: str, texts: list[str]) -> TextColumn:
        vectorizer = _vectorizer(kind).fit(texts)
        return cls(name, kind, vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [f"{self.name}: {term}" for term in self.terms]

    def encode(self, texts: Sequence[str | None]) -> sparse.csr_array:
        """Return the features as a sparse table."""
        vectorizer = _vectorizer(self.kind, vocabulary={t: j for j, t in enumerate(self.terms)})
        vectorizer.idf_ = self.idf
        return sparse.csr_array(vectorizer.transform([text or "" for text in texts]))

    def __getstate__(self) -> dict[str, Any]:
        # A model file would hold an entry for each term; no term has a line break.
        return {**self.__dict__, "terms": "\n".join(self.terms)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, terms=state["terms"].split("\n"))


def choose_kind(texts: list[str], Y: NDArray[np.uint8]) -> str | None:
    """Return whether words or groups of characters predict the labels better; None: nothing recurs.

    The better one has the smaller squared error of leave-one-out predictions by ridge regression,
    its ridge chosen in the same way, on at most 1,500 rows and the 100 most frequent labels.
    """
    from sklearn.linear_model import RidgeCV

    rows = np.random.default_rng(0).permutation(len(texts))[:CHOICE_ROWS]
    frequent = np.argsort(-Y.sum(axis=0), kind="stable")[:CHOICE_LABELS]
    labels = Y[np.ix_(rows, frequent)].astype(np.float64)
    labels = labels[:, np.ptp(labels, axis=0) > 0] if len(rows) else labels
    errors = {}
    for kind in ANALYZERS:
        try:
            table = _vectorizer(kind).fit_transform([texts[i] for i in rows])
        except ValueError:  # scikit-learn's way to say that no term is left
            continue
        if not labels.shape[1] or len(rows) < 10:
            return kind
        errors[kind] = -RidgeCV(RIDGES).fit(table, labels).best_score_
    if not errors:
        return None
    return min(errors, key=lambda kind: errors[kind] * (1 if kind == WORDS else 1 + WORTH))


def _vectorizer(kind: str, **known: Any) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    bounds = known or {"min_df": 2, "max_features": MOST_FEATURES}
    return TfidfVectorizer(sublinear_tf=True, **ANALYZERS[kind], **bounds)
