"""The candidate labels of rows with their confidences: predictions where no table would fit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.ensemble.candidate_kernels import merge_others

# Assumed where a system does not tell how much memory it has.
USUAL_MEMORY = 8 * 2**30


class RankedLabels(NamedTuple):
    """The likeliest labels of rows, the likeliest first.

    Attributes
    ----------
    labels : ndarray of shape (n, n_top), int64
        Numbers of labels.
    confidence : ndarray of shape (n, n_top)
        Their confidences, strictly inside (0, 1).
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]

    def table(self, n_labels: int) -> sparse.csr_array:
        """Return the confidences as a sparse table, ``(n, n_labels)``, which the measures take.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover.ensemble.candidate_labels import RankedLabels
        >>> ranked = RankedLabels(np.array([[2, 0]]), np.array([[0.75, 0.5]]))
        >>> ranked.table(4).toarray()
        array([[0.5 , 0.  , 0.75, 0.  ]])
        """
        n, most = self.labels.shape
        rows = np.repeat(np.arange(n), most)
        cells = rows, self.labels.ravel()
        return sparse.csr_array((self.confidence.ravel(), cells), shape=(n, n_labels))


def ranked_labels(P: NDArray[np.float64], n_top: int) -> RankedLabels:
    """Return the likeliest labels by a table of confidences; of equal ones, the first."""
    order = np.argsort(-P, axis=1, kind="stable")[:, :n_top]
    return RankedLabels(order, np.take_along_axis(P, order, axis=1))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate labels of rows.

    Attributes
    ----------
    labels : ndarray of shape (n, most), int32
        The likeliest first; -1 where a row has no more.
    confidence : ndarray of shape (n, most)
        Strictly inside (0, 1); 0 where there is no candidate.
    others : ndarray of shape (n_labels,)
        The confidence of each label in rows that do not have it as a candidate.
    """

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    others: NDArray[np.float64]

    @classmethod
    def ranked(cls, labels, P, others) -> Candidates:
        """Return candidates in any order, with probabilities, as `Candidates`."""
        P = np.where(labels >= 0, P, 0.0)
        # Labels first, so that of equal probabilities the lower label comes first.
        by_label = np.argsort(np.where(labels >= 0, labels, len(others)), axis=1, kind="stable")
        labels, P = (np.take_along_axis(each, by_label, axis=1) for each in (labels, P))
        order = np.argsort(-P, axis=1, kind="stable")
        return cls(
            np.take_along_axis(labels, order, axis=1), np.take_along_axis(P, order, axis=1), others
        )

    def top(self, n_top: int) -> RankedLabels:
        """Return the likeliest labels of each row, candidates or not."""
        order = np.argsort(-self.others, kind="stable")
        return RankedLabels(
            *merge_others(self.labels, self.confidence, self.others, order, int(n_top))
        )

    def sparse_table(self) -> sparse.csr_array:
        """Return the confidences of candidates as a sparse table, ``(n, n_labels)``."""
        return self.chosen(self.labels >= 0, self.confidence)

    def dense_table(self) -> NDArray[np.float64]:
        """Return the confidences of all labels, ``(n, n_labels)``."""
        check_fits(len(self.labels), len(self.others))
        table = np.tile(self.others, (len(self.labels), 1))
        rows, places = np.nonzero(self.labels >= 0)
        table[rows, self.labels[rows, places]] = self.confidence[rows, places]
        return table

    def chosen(self, cells: NDArray[np.bool_], values: NDArray | None = None) -> sparse.csr_array:
        """Return ones (or `values`) for some of the candidates, as a sparse table."""
        rows, places = np.nonzero(cells & (self.labels >= 0))
        data = np.ones(len(rows), np.int64) if values is None else values[rows, places]
        shape = len(self.labels), len(self.others)
        return sparse.csr_array((data, (rows, self.labels[rows, places])), shape=shape)


def check_fits(n_rows: int, n_labels: int) -> None:
    """Raise a ``ValueError`` if a table of confidences would take half of the memory or more."""
    needed, memory = 8 * n_rows * n_labels, _memory()
    if needed > memory / 2:
        raise ValueError(
            f"The confidences of {n_rows} rows and {n_labels} labels would take "
            f"{needed / 2**30:.1f} GB, more than half of the memory, {memory / 2**30:.1f} GB. Use "
            "predict_top(X, n_top), which gives the likeliest labels of each row, or fewer rows."
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return USUAL_MEMORY
