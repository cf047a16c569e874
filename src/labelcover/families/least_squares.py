"""All least squares members from one factorisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import progress_bar
from labelcover.families._decode import add_members
from labelcover.families.base import Family, mean_confidence, row_blocks
from labelcover.families.dispatch import family_of
from labelcover.families.encoding import Encoding
from labelcover.learners._least_squares import softmax_columns
from labelcover.learners.class_ridge import ClassRidge
from labelcover.learners.least_squares import LeastSquaresClassifier, least_squares_settings


@family_of.register(LeastSquaresClassifier)
class LeastSquaresFamily(Family):
    """Members like a `LeastSquaresClassifier`, solved side by side in one ridge system.

    The kernel, its width and the ridge are those that are best for the members together (a
    sample of them where there are many); the temperature is each member's own. Members that pose
    the same problem are solved once. With the same kernel, width and ridge, every member is the
    `LeastSquaresClassifier` of its classes.

    Leave-one-out confidences are those of all training rows, or of a sample of at least 512 rows
    where rows times classes exceed 2²⁷.
    """

    has_leave_one_out = True

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
        """Factorise once and solve every distinct problem."""
        if fit_params:
            raise ValueError(
                f"fit_params must be empty, as least squares takes none, got {sorted(fit_params)}."
            )
        self.encoding_ = encoding.without_codes()
        first, problem = encoding.distinct()
        codes = encoding.codes if len(first) == len(problem) else encoding.codes[first]
        sizes = np.diff(encoding.offsets)[first]
        self.offsets_ = np.concatenate([[0], np.cumsum(sizes)])
        # Where the class distribution of each member begins among those of the problems.
        self.starts_ = self.offsets_[problem]
        settings = least_squares_settings(self.estimator)
        with progress_bar("solving members", len(first), show=verbose) as bar:
            ridge = ClassRidge(_doubles(X), codes, self.offsets_, settings)
            self.coef_ = np.empty((self.offsets_[-1], ridge.n_features))
            self.intercept_ = np.empty(self.offsets_[-1])
            self.sharpness_ = np.empty(len(first))
            sums = np.zeros((len(ridge.rows), encoding.cover.n_labels))
            for solution in ridge.solutions():
                at = solution.problems
                classes = slice(self.offsets_[at.start], self.offsets_[at.stop])
                self.coef_[classes] = solution.coefficients
                self.intercept_[classes] = solution.intercept
                self.sharpness_[at] = solution.sharpness
                members = np.flatnonzero((problem >= at.start) & (problem < at.stop))
                self._add(solution.left_out, sums, members, classes.start)
                bar.advance(at.stop - at.start)
        self._left_out = ridge.rows, mean_confidence(sums, encoding.cover)
        self.features_ = ridge.for_prediction()
        self.kernel_, self.gamma_, self.alpha_ = ridge.chosen
        return self

    def class_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the members' class distributions side by side."""
        probabilities = self._problem_probabilities(X)
        sizes = np.diff(self.encoding_.offsets)
        within = np.arange(sizes.sum()) - np.repeat(self.encoding_.offsets[:-1], sizes)
        return probabilities[:, np.repeat(self.starts_, sizes) + within]

    def confidence(self, X: Any, *, votes: bool = False) -> NDArray[np.float64]:
        """Return the mean over the members that hold a label: one product, then one decoding."""
        cover = self.encoding_.cover
        sums = np.zeros((X.shape[0], cover.n_labels))
        everyone = np.arange(len(cover))
        for rows in row_blocks(X.shape[0], int(self.offsets_[-1])):
            self._add(self._problem_probabilities(X[rows]), sums[rows], everyone, 0, votes)
        return mean_confidence(sums, cover)

    def leave_one_out_confidence(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows of the training set and their confidences by members fitted without them."""
        return self._left_out

    def _problem_probabilities(self, X: Any) -> NDArray[np.float64]:
        scores = np.asarray(self.features_.transform(_doubles(X)) @ self.coef_.T)
        scores += self.intercept_
        softmax_columns(scores, self.offsets_, self.sharpness_)
        return scores

    def _add(self, probabilities, sums, members, first_class, votes=False):
        """Add to `sums` what `members` say, whose problems begin at class `first_class`."""
        cover, offsets = self.encoding_.cover, self.encoding_.offsets
        add_members(
            probabilities,
            self.starts_[members] - first_class,
            offsets[members],
            offsets[members + 1],
            self.encoding_.patterns,
            cover.labelsets[members],
            votes,
            sums,
        )


def _doubles(X: Any) -> Any:
    return X.astype(np.float64, copy=False)
