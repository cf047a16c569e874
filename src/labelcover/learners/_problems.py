"""What every learner keeps to: problems in, members out.

The rows whose out-of-sample predictions are wanted are drawn before the fit and given with the
problems; afterwards `Members.left_out` has them. What is linear in its targets solves
`LinearTargets`, of which the one-hot classes of all problems are combinations.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from labelcover._progress import progress_bar
from labelcover.chunks import Parcel, is_on_cluster, sent_once

# So many calls are handed out between two looks at the results.
BATCH = 64
# Up to so many rows all are taken, in their order.
FEW_ROWS = 512
# Sparse columns with a larger share of ones are multiplied as dense ones, which is faster.
MOST_SPARSE = 0.03


class TargetRows(NamedTuple):
    """Which rows each target holds.

    Attributes
    ----------
    holds : CSR array of shape (n_targets, n_groups)
        1 where a target holds the rows of a group.
    group : ndarray of shape (n,) or None
        The group of each row; None if each is one of its own. Rows with the same labels are the
        same to all targets, and sums over rows are made by group first.
    """

    holds: sparse.csr_array
    group: NDArray[np.int64] | None

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        if self.group is None:
            return np.asarray(self.holds @ weights)
        return np.asarray(self.holds @ np.bincount(self.group, weights, self.holds.shape[1]))

    def sums(self, rows: Any, block: slice, weights: NDArray[np.float64] | None) -> Any:
        """Return weighted sums of a block of rows, dense or sparse: by group, else by target."""
        shares = np.ones(rows.shape[0]) if weights is None else weights[block]
        if self.group is not None:
            entries = shares, (self.group[block], np.arange(len(shares)))
            return sparse.csr_array(entries, shape=(self.holds.shape[1], len(shares))) @ rows
        holds = self.holds if len(shares) == self.holds.shape[1] else self.holds[:, block]
        return _product(holds if weights is None else holds @ sparse.diags_array(shares), rows)

    def by_target(self, sums: Any) -> NDArray[np.float64]:
        """Return `sums`, over all rows, by target and dense."""
        sums = sums if self.group is None else _product(self.holds, sums)
        return sums.toarray() if sparse.issparse(sums) else sums


def _product(holds: sparse.csr_array, rows: Any) -> Any:
    if not sparse.issparse(rows) and holds.nnz > MOST_SPARSE * holds.shape[0] * holds.shape[1]:
        return holds.toarray() @ rows
    return holds @ rows


# What tells which rows of a block each target holds, from the labels of the block.
Rule = Callable[[Any], TargetRows]


@dataclass(frozen=True)
class LinearTargets:
    """0/1 columns, the targets, of which the one-hot classes of all problems are combinations.

    What is linear in its targets, as ridge regression is, needs to be solved for these alone. The
    classes of a labelset are linear in the products of its labels (1, y_a, y_a·y_b, …), which
    labelsets share; the classes of any problem in all of them but one.

    Attributes
    ----------
    rule : callable
        Returns the `TargetRows` of a table of labels, for all targets. It can be pickled.
    labels : ndarray of shape (n, ...)
        What the rule reads, of all training rows.
    combine : CSR array of shape (n_classes, n_targets)
    constant : ndarray of shape (n_classes,)
        One-hot classes of rows, a row each, are ``combine @ dense() + constant``.
    numbers : ndarray
        Which of all targets these are, ascending.
    """

    rule: Rule
    labels: NDArray
    combine: sparse.csr_array
    constant: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def held(self) -> TargetRows:
        """Which training rows each target holds."""
        return self.block_rule(self.labels)

    @property
    def block_rule(self) -> Rule:
        """The rule of these targets, for blocks of rows; it can be pickled."""
        return partial(_some_targets, self.rule, self.numbers)

    def dense(self) -> NDArray[np.float64]:
        """Return the targets of all rows, ``(n_targets, n)``."""
        dense = self.held.holds.toarray()
        return dense if self.held.group is None else dense[:, self.held.group]

    @property
    def combination(self) -> tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]]:
        """What makes classes of targets, as compiled loops take it: `combine` and `constant`.

        Numbers are int64, whatever SciPy chose for them: loops are compiled for each type.
        """
        starts, columns = (
            numbers.astype(np.int64, copy=False)
            for numbers in (self.combine.indptr, self.combine.indices)
        )
        return starts, columns, self.combine.data, self.constant

    def of_some(self, classes: NDArray[np.int64]) -> "LinearTargets":
        """Return the targets of some classes."""
        own = self.combine[classes]
        used = np.unique(own.indices)
        constant, numbers = self.constant[classes], self.numbers[used]
        return replace(self, combine=own[:, used], constant=constant, numbers=numbers)

    def of_rows(self, rows: NDArray[np.int64]) -> "LinearTargets":
        """Return the same targets of some rows."""
        return replace(self, labels=self.labels[rows])

    @classmethod
    def of_classes(cls, classes: NDArray[np.int32], offsets: NDArray[np.int64]) -> "LinearTargets":
        """Return the classes of each problem as targets but for the largest, which is the rest."""
        offsets = offsets - offsets[0]
        column = classes + offsets[:-1, None]
        counts = np.bincount(column.ravel(), minlength=int(offsets[-1]))
        return cls.of_class_rule(np.transpose, classes.T, counts, offsets)

    @classmethod
    def of_class_rule(
        cls,
        classes_of: Callable[[Any], NDArray[np.int32]],
        labels: NDArray,
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> "LinearTargets":
        """Return the same for classes that a function tells of labels, ``(n_problems, n)``.

        `counts` says how many rows each class holds.
        """
        n_classes = len(counts)
        largest = np.array([low + counts[low:high].argmax() for low, high in pairwise(offsets)])
        is_target = np.ones(n_classes, dtype=bool)
        is_target[largest] = False
        of_target, number = np.flatnonzero(is_target), np.arange(n_classes - len(largest))
        problem = np.searchsorted(offsets[:-1], of_target, side="right") - 1
        cells = np.concatenate([of_target, largest[problem]]), np.tile(number, 2)
        signs = np.repeat([1.0, -1.0], len(number))
        combine = sparse.csr_array((signs, cells), shape=(n_classes, len(number)))
        rule = partial(_class_targets, classes_of, offsets, is_target)
        return cls(rule, labels, combine, (~is_target).astype(np.float64), number)


def _some_targets(rule: Rule, numbers: NDArray[np.int64], labels: Any) -> TargetRows:
    """Return the rows that some of the targets of a rule hold."""
    found = rule(labels)
    if len(numbers) == found.holds.shape[0]:
        return found
    return TargetRows(found.holds[numbers], found.group)


def _class_targets(
    classes_of: Callable[[Any], NDArray[np.int32]],
    offsets: NDArray[np.int64],
    is_target: NDArray[np.bool_],
    labels: Any,
) -> TargetRows:
    """Return which rows each class holds, but for the largest class of each problem."""
    classes = classes_of(labels)
    column = classes + offsets[:-1, None]
    number = np.cumsum(is_target) - 1
    kept = is_target[column]
    rows = np.broadcast_to(np.arange(classes.shape[1]), classes.shape)[kept]
    shape = (int(is_target.sum()), classes.shape[1])
    holds = sparse.csr_array((np.ones(len(rows)), (number[column[kept]], rows)), shape=shape)
    return TargetRows(holds, None)


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
        of single labels.
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
    targets: Any = None
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

    def paths(self, X: Any, origin: NDArray[np.float64] | None = None) -> Any:
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
    where: AbstractContextManager[Any] = nullcontext()
    if shared and is_on_cluster():
        how.pop("require", None)
        parcels = {id(each): Parcel(each) for each in shared}
        jobs = [_sent(job, parcels) for job in jobs]
        where = sent_once(list(parcels.values()))
    with where, Parallel(n_jobs=n_jobs, **how) as parallel, bar_of as bar:
        for start in range(0, len(jobs), BATCH):
            for result in parallel(jobs[start : start + BATCH]):
                bar.advance()
                yield result


def _sent(job: Any, parcels: dict[int, Parcel]) -> Any:
    """Return a delayed call for a worker of a cluster, what is shared and arrays in parcels."""

    def parcel(value: Any) -> Any:
        own = Parcel(value) if isinstance(value, np.ndarray) else value
        return parcels.get(id(value), own)

    call, arguments, named = job
    named = {name: parcel(value) for name, value in named.items()}
    return delayed(call.function)(*map(parcel, arguments), **named)
