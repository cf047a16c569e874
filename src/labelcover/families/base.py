"""What every family promises to the ensemble."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelcover.covers import Cover
from labelcover.families._decode import add_members
from labelcover.families.encoding import Encoding

# Class distributions are held for so many rows at once that they fit in this many numbers (64 MB).
BLOCK_NUMBERS = 2**23


class Family(ABC):
    """All members of one ensemble, fitted together on one X.

    Parameters
    ----------
    estimator : scikit-learn classifier
        The member, unfitted: its parameters are those of every member.

    Attributes
    ----------
    has_leave_one_out : bool
        Whether `leave_one_out_confidence` is offered after `fit`.
    wants_leave_one_out : bool
        Whether it will be asked for; where not, `fit` may spare the work. Never changes members.
    encoding_ : Encoding
        The classes of the members; set by `fit`, without the training rows.
    """

    has_leave_one_out = False
    wants_leave_one_out = True
    encoding_: Encoding

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    @abstractmethod
    def fit(
        self,
        X: Any,
        encoding: Encoding,
        *,
        seeds: NDArray[np.int64],
        fit_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Self:
        """Fit every member and set `encoding_`.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Already validated; shared by all members and never changed.
        encoding : Encoding
            The class of every row for every member. A member with one class needs no model.
        seeds : ndarray of shape (size,)
            One seed per member, drawn beforehand, so that results do not depend on `n_jobs`.
        fit_params : mapping, optional
            Metadata routed to the members' ``fit`` (``sample_weight`` and the like).
        """

    @abstractmethod
    def class_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return ``(n, encoding_.n_classes)``: in each row the members' class distributions.

        Columns ``encoding_.offsets[j]:encoding_.offsets[j + 1]`` belong to member ``j`` and sum
        to one.
        """

    def confidence(self, X: Any, *, votes: bool = False) -> NDArray[np.float64]:
        """Return ``(n, n_labels)``: the mean over the members that hold a label (Algorithm 2).

        With ``votes=False`` a member contributes the probability of the label (RAKEL++), with
        ``votes=True`` the 0/1 value of the label in its most probable class (RAKEL; the first
        class on ties). A label in no labelset gets 0. Works in blocks of rows of bounded memory.
        """
        cover, offsets = self.encoding_.cover, self.encoding_.offsets
        sums = np.zeros((X.shape[0], cover.n_labels))
        for rows in row_blocks(X.shape[0], self.encoding_.n_classes):
            probabilities = self.class_probabilities(X[rows])
            add_members(
                probabilities,
                offsets[:-1],
                offsets[:-1],
                offsets[1:],
                self.encoding_.patterns,
                cover.labelsets,
                votes,
                sums[rows],
            )
        return mean_confidence(sums, cover)

    def leave_one_out_confidence(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows of the training set and their confidences by members fitted without them.

        Returns
        -------
        rows : ndarray of shape (n_rows,)
            Indices of training rows: all of them, or a sample where there are many.
        confidence : ndarray of shape (n_rows, n_labels)
        """
        raise NotImplementedError(f"{type(self).__name__} has no leave-one-out predictions.")


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Yield slices of ``range(n)`` so that a block of `width` numbers a row stays bounded."""
    step = max(1, BLOCK_NUMBERS // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def mean_confidence(sums: NDArray[np.float64], cover: Cover) -> NDArray[np.float64]:
    """Return ``Sum_j / Votes_j`` (Algorithm 2, line 13); a label in no labelset gets 0."""
    return sums / np.maximum(cover.label_counts, 1)
