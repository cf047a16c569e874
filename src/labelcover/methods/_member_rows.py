"""The rows and columns that members of a method are trained on."""

from abc import abstractmethod
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import rows_of
from labelcover.ensemble import (
    CoverView,
    TrainingRows,
    View,
    drawn_seed,
    leaving_out_some,
    single_labels,
)
from labelcover.learners import is_frame

# What members say of a label: how probable it is, or whether they predict it.
AGGREGATES = ("mean", "votes")


def fitted(name: str, doc: str) -> property:
    """Return an attribute of an estimator that its view has found."""
    return property(attrgetter(f"view_.{name}"), doc=doc)


def rows_with_labels(training: TrainingRows, labels: NDArray[np.int64]) -> TrainingRows:
    """Return training rows with some of their labels as further features."""
    return replace(
        training,
        X=with_labels(training.X, training.Y[:, labels]),
        n_values=values_with_labels(training.n_values, len(labels)),
    )


def with_labels(X: Any, labels: NDArray[Any]) -> Any:
    """Return a table of the kind that `X` is, with labels as further columns."""
    if not labels.shape[1]:
        return X
    if is_frame(X):
        return _frame_with_labels(X, labels)
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(labels, dtype=X.dtype)], format="csr")
    # Row by row, whatever the order of X is: sums must not depend on that.
    table = np.empty((len(labels), X.shape[1] + labels.shape[1]), X.dtype)
    return np.concatenate([X, labels], axis=1, out=table, casting="unsafe")


def _frame_with_labels(X: Any, labels: NDArray[Any]) -> Any:
    taken, n, values = list(X.columns), labels.shape[1], labels.astype(np.float64)
    if taken and all(isinstance(name, int | np.integer) for name in taken):
        names: list[Any] = [max(taken) + 1 + j for j in range(n)]
    else:
        mark = ""
        while any(f"label{mark}{j}" in taken for j in range(n)):
            mark += "_"
        names = [f"label{mark}{j}" for j in range(n)]
    if not hasattr(X, "iloc"):
        return X.hstack(type(X)(values, schema=names))
    # Names of rows may occur twice, and rows are not to be matched by them.
    return X.reset_index(drop=True).join(type(X)(values, columns=names))


def values_with_labels(n_values: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return the numbers of values of a table with `n` labels: nominal with two values each.

    A scikit-learn classifier, which is not told what is nominal, gets labels as numbers.
    """
    if not len(n_values):
        return n_values
    return np.concatenate([n_values, np.full(n, 2, np.int32)])


def fitted_singles(
    learner: Any,
    labels: NDArray[np.int64],
    training: TrainingRows,
    seed: int,
    **how: Any,
) -> CoverView:
    """Return members for some labels, each alone; `how` goes to `CoverView.fit`."""
    cover = single_labels(labels, training.Y.shape[1])
    return CoverView(learner, [cover]).fit(training, seed, **how)


def fitted_leaving_out(
    learner: Any, training: TrainingRows, seed: int, **how: Any
) -> tuple[TrainingRows, CoverView]:
    """Return the training rows, some left out if members tell of these, and members for all labels.

    Each label has a member alone; `how` goes to `CoverView.fit`.
    """
    every = np.arange(training.Y.shape[1])
    if learner.gives_left_out:
        cover = single_labels(every, len(every))
        training = leaving_out_some(training, learner, [cover], drawn_seed(seed))
    return training, fitted_singles(learner, every, training, seed, **how)


class MeanOfMembers(View):
    """The mean of what `members` say, each fitted on some of the rows."""

    members: list[Any]

    @abstractmethod
    def says(self, member: Any, X: Any) -> NDArray[np.float64]:
        """Return the confidences of a member, ``(n, n_labels)``."""

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the mean over the members, ``(n, n_labels)``."""
        return [np.mean([self.says(member, X) for member in self.members], axis=0)]

    def keep_left_out(self, training: TrainingRows, held: list[NDArray[np.int64]]) -> None:
        """Keep for `left_out`, if it is asked for, what members say of rows held out of them."""
        if training.left_out is None:
            return
        sums, times = np.zeros(training.Y.shape), np.zeros(len(training.Y))
        for member, rows in zip(self.members, held, strict=True):
            if len(rows):
                sums[rows] += self.says(member, rows_of(training.X, rows))
                times[rows] += 1
        found = np.flatnonzero(times)
        self._left_out = found, [sums[found] / times[found, None]]
