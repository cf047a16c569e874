"""What every family promises to the ensemble."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelcover.families.encoding import Encoding


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
    """

    has_leave_one_out = False

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    @abstractmethod
    def fit(
        self,
        X,
        encoding: Encoding,
        *,
        seeds: NDArray[np.int64],
        fit_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Self:
        """Fit every member.

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
    def class_probabilities(self, X) -> NDArray[np.float64]:
        """Return the members' class distributions side by side, ``(n, encoding.n_classes)``.

        Columns ``encoding.offsets[j]:encoding.offsets[j + 1]`` are member ``j``'s and sum to one.
        """

    @abstractmethod
    def confidence(self, X, *, votes: bool = False) -> NDArray[np.float64]:
        """Return ``(n, n_labels)``: the mean over the members that hold a label (Algorithm 2).

        With ``votes=False`` a member contributes the probability of the label (RAKEL++), with
        ``votes=True`` the 0/1 value of the label in its most probable class (RAKEL). A label in
        no labelset gets 0. Works in blocks of rows of bounded memory.
        """

    def leave_one_out_confidence(self) -> NDArray[np.float64]:
        """Return the confidence of every training row by members fitted without that row."""
        raise NotImplementedError(f"{type(self).__name__} has no leave-one-out predictions.")
