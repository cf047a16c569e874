"""What the families of C4.5 and SMO have in common: distinct problems, fitted in threads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from labelcover._progress import progress_bar
from labelcover.families._weights import weighted_rows
from labelcover.families.base import Family
from labelcover.families.encoding import Encoding


class ThreadedFamily(Family):
    """Members that share one prepared X and are fitted in parallel threads.

    Members that pose the same problem share one model. A subclass prepares X in `_prepare`, which
    returns how one problem is fitted, and answers all problems at once in `_distributions`.
    """

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
        """Fit every distinct problem; the learners use no random numbers."""
        first, problem = encoding.distinct()
        codes = encoding.codes[first]
        n_classes = np.diff(encoding.offsets)[first]
        X, codes, weights, _ = weighted_rows(X, codes, fit_params, self.estimator)
        fit_one = self._prepare(X, weights)
        with progress_bar("fitting members", len(first), show=verbose) as bar:

            def fit_and_tell(label: NDArray[np.int32], classes: int) -> Any:
                model = fit_one(label, classes)
                bar.advance()
                return model

            models = Parallel(n_jobs=n_jobs, require="sharedmem")(
                delayed(fit_and_tell)(label, int(c))
                for label, c in zip(codes, n_classes, strict=True)
            )
        self._pack(models)
        self.encoding_ = encoding.without_codes()
        self.columns_ = _member_columns(problem, n_classes)
        return self

    def class_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the members' class distributions side by side."""
        distributions = self._distributions(X)
        return distributions if self.columns_ is None else distributions[:, self.columns_]

    @abstractmethod
    def _prepare(
        self, X: Any, weights: NDArray[np.float64] | None
    ) -> Callable[[NDArray[np.int32], int], Any]:
        """Return a function of the classes of all rows and their number that fits one problem."""

    @abstractmethod
    def _pack(self, models: list[Any]) -> None:
        """Keep the models of all distinct problems, ready to answer together."""

    @abstractmethod
    def _distributions(self, X: Any) -> NDArray[np.float64]:
        """Return the class distributions of all distinct problems side by side."""


def _member_columns(
    problem: NDArray[np.int64], n_classes: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return where the classes of each member stand among those of the distinct problems.

    None if every member poses a problem of its own.
    """
    if len(problem) == len(n_classes):
        return None
    starts = np.cumsum([0, *n_classes])
    return np.concatenate([np.arange(starts[p], starts[p + 1]) for p in problem])
