"""What every learner keeps to: problems in, members out.

A *batch learner* solves many single-label problems that share one table. It has
``fit_problems(X, problems, *, n_jobs=None, verbose=False)``, which returns `Members`;
``gives_left_out``, which tells whether members have out-of-sample predictions for training rows;
``gives_probabilities``, which tells whether their class distributions are probabilities; and
``is_linear``, which tells whether it solves targets (`LinearTargets`) instead of classes. The rows
whose out-of-sample predictions are wanted are drawn before the fit and given with the problems;
afterwards `Members.left_out` has them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from labelcover._progress import progress_bar
from labelcover.chunks import Parcel, aligned_call, is_on_cluster, sent_once
from labelcover.learners._linear_targets import LinearTargets

# So many calls are handed out between two looks at the results.
BATCH = 64
# Up to so many rows all are taken, in their order.
FEW_ROWS = 512


@dataclass(frozen=True)
class Problems:
    """Single-label problems on the rows of one table.

    Attributes
    ----------
    classes : ndarray of shape (n_problems, n), int32
        ``classes[p, i]`` is the class of row ``i`` in problem ``p``, from 0.
    offsets : ndarray of shape (n_problems + 1,), int64
        The classes of problem ``p`` are ``offsets[p]:offsets[p + 1]`` of all classes side by side.
    n_values : ndarray of shape (features,), int32
        How many values a nominal feature of the table has, 0 for a numeric one.
    weights : ndarray of shape (n,), optional
        Weights of the rows, above 0 and 1 in the mean; all 1 by default.
    seeds : ndarray of shape (n_problems,), optional
        A seed for each problem, for learners whose own ``random_state`` is None.
    metadata : mapping
        What else the ``fit`` of a scikit-learn classifier is given.
    targets : LinearTargets, optional
        Targets of which there are fewer than classes, for learners that are linear in them.
    left_out_rows : ndarray of int64, optional
        The training rows whose out-of-sample class distributions are wanted, in random order; none
        by default.
    cells : ndarray of shape (n_problems, n), optional
        By what the weight of a row is multiplied in each problem, 0 where its class is not known;
        of single labels, for learners that take it (`takes_cells`).
    quick : bool
        Whether nothing but those distributions is wanted: a learner may then approximate where it
        pays.
    """

    classes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    n_values: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    seeds: NDArray[np.int64] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    targets: LinearTargets | None = None
    left_out_rows: NDArray[np.int64] | None = None
    quick: bool = False
    cells: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.classes)

    def cell_weights(self, weights: NDArray[np.float64], rows: Any) -> NDArray[np.float64]:
        """Return the weights of some rows in all problems, ``(n_problems, n_rows)``."""
        own = np.tile(weights[rows], (len(self), 1))
        return own if self.cells is None else own * self.cells[:, rows]

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Number of classes of each problem."""
        return np.diff(self.offsets)


class ScorePaths(Protocol):
    """Scores of classes as sums over columns: of softmax members, whose scores are such sums.

    Attributes
    ----------
    prepared
        As `Members.prepare` gives it.
    """

    prepared: Any

    def start(self, problem: int) -> NDArray[np.float64]:
        """Return the scores of the classes of a problem where all parts are 0."""

    def scores(self, problem: int, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of the classes of a problem for some of the rows."""

    def parts(self, rows: NDArray[np.int64], slopes: list[tuple[int, NDArray[np.float64]]]) -> Any:
        """Return what columns add to a sum of scores, each class of some problems times a slope.

        Slopes are ``(n_rows, n_classes)``; the parts an array or CSR, ``(n_rows, n_columns)``.
        """


class Members(ABC):
    """The fitted models of some problems.

    Attributes
    ----------
    offsets : ndarray of shape (n_problems + 1,), int64
        Those of the problems.
    row_width : int
        How many numbers `prepare` makes of a row: who asks for many rows takes them in blocks.
    has_paths : bool
        Whether the scores behind distributions are sums over the columns of the table (`paths`).
    """

    offsets: NDArray[np.int64]
    row_width: int = 1
    has_paths: bool = False
    _training: Any = None

    def prepare(self, X: Any) -> Any:
        """Return what `distributions` takes: the work on new rows that all problems share."""
        return X

    @abstractmethod
    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side, a row per row."""

    def paths(self, X: Any, origin: NDArray[np.float64] | None = None) -> ScorePaths:
        """Return what adds up to the scores of the classes of new rows.

        `origin` are the columns where parts are 0, as the members scale them; by default 0.
        """
        raise TypeError(f"The scores of {type(self).__name__} are no sums over columns.")

    def left_out(self, problems: slice) -> NDArray[np.float64]:
        """Return the same for ``left_out_rows`` by models fitted without them.

        Only learners with ``gives_left_out`` have it, where rows were asked for.
        """
        raise TypeError(f"{type(self).__name__} has no left-out predictions.")

    def forget_training(self) -> None:
        """Free what only `left_out` needs."""
        self._training = None


def random_order(n: int, seed: int) -> NDArray[np.int64]:
    """Return the numbers of `n` rows in the order in which they are left out: random if many."""
    return np.arange(n) if n <= FEW_ROWS else np.random.default_rng(seed).permutation(n)


def problem_blocks(offsets: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Yield slices of problems with no more than `most` classes (or one problem) each."""
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop


def fitted_in_threads(
    fit: Callable[..., Any],
    table: Any,
    problems: Problems,
    options: dict[str, Any],
    *,
    n_jobs: int | None,
    text: str,
    verbose: bool,
) -> list[Any]:
    """Return ``fit(table, classes, n_classes, weights=weights, **options)`` of every problem.

    On a Dask cluster its workers take the place of threads. `fit` is a function of a module, which
    is sent by name: of a class method Dask would send the code, and workers would compile it anew.
    """
    jobs = (
        delayed(fit)(table, classes, int(n_classes), weights=problems.weights, **options)
        for classes, n_classes in zip(problems.classes, problems.n_classes, strict=True)
    )
    how: dict[str, Any] = {"text": text, "verbose": verbose, "require": "sharedmem"}
    return list(in_parallel(jobs, n_jobs, shared=[table], **how))


def in_parallel(
    jobs: Iterable[Any],
    n_jobs: int | None,
    *,
    text: str = "",
    verbose: bool = False,
    shared: Sequence[Any] = (),
    **how: Any,
) -> Iterator[Any]:
    """Yield the results of delayed calls in order, a batch at a time.

    Not every joblib backend can return a generator, and a list of all results may be large. Where
    there is one worker, the calls are made here: joblib's book-keeping takes longer than some.

    Parameters
    ----------
    shared : sequence
        Arguments that all calls have. They are sent to the workers of a Dask cluster once, where
        calls then run even if they would share memory here.
    **how
        As for ``joblib.Parallel``.
    """
    jobs = list(jobs)
    bar_of = progress_bar(text, len(jobs), show=verbose)
    if effective_n_jobs(n_jobs) == 1:
        with bar_of as bar:
            for call, arguments, named in jobs:
                bar.advance()
                yield call.function(*arguments, **named)
        return
    if shared and is_on_cluster():
        how.pop("require", None)
        parcels = {id(each): Parcel(each) for each in shared}
        jobs = [_sent(job, parcels) for job in jobs]
        shared = list(parcels.values())
    with sent_once(shared), Parallel(n_jobs=n_jobs, **how) as parallel, bar_of as bar:
        for start in range(0, len(jobs), BATCH):
            for result in parallel(jobs[start : start + BATCH]):
                bar.advance()
                yield result


def _sent(job: Any, parcels: dict[int, Parcel]) -> Any:
    """Return a delayed call for a worker of a cluster, with what it shares in parcels."""
    call, arguments, named = job
    return delayed(aligned_call)(
        call.function,
        *(parcels.get(id(each), each) for each in arguments),
        **{name: parcels.get(id(each), each) for name, each in named.items()},
    )
