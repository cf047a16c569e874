"""All least squares members from one factorisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import progress_bar
from labelcover.families._decode import add_members
from labelcover.families._weights import weighted_rows
from labelcover.families.base import BLOCK_NUMBERS, Family, mean_confidence
from labelcover.families.dispatch import family_of
from labelcover.families.encoding import Encoding
from labelcover.learners._least_squares import softmax_columns
from labelcover.learners.class_ridge import ClassRidge, problem_blocks
from labelcover.learners.least_squares import LeastSquaresClassifier, least_squares_settings

# Rows in one product.
BLOCK_ROWS = 1_024


@family_of.register(LeastSquaresClassifier)
class LeastSquaresFamily(Family):
    """Members like a `LeastSquaresClassifier`, solved side by side in one ridge system.

    The kernel, its width and the ridge are those that are best for the members together (a
    sample of them where there are many); the temperature is each member's own. Members that pose
    the same problem are solved once. With the same kernel, width and ridge, every member is the
    `LeastSquaresClassifier` of its classes.

    Leave-one-out confidences are those of all training rows up to 512, else of a sample of up to
    2,048 (down to 512 where rows times classes would exceed 2²⁶).
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
        self.encoding_ = encoding.without_codes()
        first, self.problem_ = encoding.distinct()
        codes = encoding.codes if len(first) == len(encoding.cover) else encoding.codes[first]
        X, codes, weights, kept = weighted_rows(_doubles(X), codes, fit_params, self.estimator)
        sizes = np.diff(encoding.offsets)[first]
        self.offsets_ = np.concatenate([[0], np.cumsum(sizes)])
        settings = least_squares_settings(self.estimator)
        with progress_bar("solving members", len(first), show=verbose) as bar:
            wanted = self.wants_leave_one_out
            ridge = ClassRidge(X, codes, self.offsets_, settings, weights=weights, leave_out=wanted)
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
                if solution.left_out is not None:
                    self._add(solution.left_out, at, sums)
                bar.advance(at.stop - at.start)
        self._left_out = None
        if wanted:
            self._left_out = (kept[ridge.rows], mean_confidence(sums, encoding.cover))
        self.features_ = ridge.for_prediction()
        self.kernel_, self.gamma_, self.alpha_ = ridge.chosen
        return self

    def class_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the members' class distributions side by side."""
        everything = slice(0, len(self.sharpness_))
        probabilities = self._probabilities(self.features_.transform(_doubles(X)), everything)
        sizes = np.diff(self.encoding_.offsets)
        within = np.arange(sizes.sum()) - np.repeat(self.encoding_.offsets[:-1], sizes)
        return probabilities[:, np.repeat(self.offsets_[self.problem_], sizes) + within]

    def confidence(self, X: Any, *, votes: bool = False) -> NDArray[np.float64]:
        """Return the mean over the members that hold a label: one product, then one decoding.

        Large products are taken in blocks of rows and members.
        """
        cover = self.encoding_.cover
        sums = np.zeros((X.shape[0], cover.n_labels))
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, X.shape[0]))
            features = self.features_.transform(_doubles(X[rows]))
            most = BLOCK_NUMBERS // (rows.stop - rows.start)
            for problems in problem_blocks(self.offsets_, most):
                self._add(self._probabilities(features, problems), problems, sums[rows], votes)
        return mean_confidence(sums, cover)

    def leave_one_out_confidence(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows of the training set and their confidences by members fitted without them."""
        if self._left_out is None:
            raise ValueError(
                "wants_leave_one_out must be true in fit for leave-one-out predictions."
            )
        return self._left_out

    def _probabilities(self, features: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        offsets = self.offsets_[problems.start : problems.stop + 1]
        classes = slice(offsets[0], offsets[-1])
        scores = np.asarray(features @ self.coef_[classes].T)
        scores += self.intercept_[classes]
        softmax_columns(scores, offsets, self.sharpness_[problems])
        return scores

    def _add(
        self, probabilities: NDArray[np.float64], problems: slice, sums: Any, votes: bool = False
    ) -> None:
        """Add to `sums` what the members of some problems say."""
        members = np.flatnonzero(
            (self.problem_ >= problems.start) & (self.problem_ < problems.stop)
        )
        offsets = self.encoding_.offsets
        add_members(
            probabilities,
            self.offsets_[self.problem_[members]] - self.offsets_[problems.start],
            offsets[members],
            offsets[members + 1],
            self.encoding_.patterns,
            self.encoding_.cover.labelsets[members],
            votes,
            sums,
        )


def _doubles(X: Any) -> Any:
    return X.astype(np.float64, copy=False)
