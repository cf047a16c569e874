"""What estimators fit: training rows go in, and confidences for new rows come out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import rows_of
from labelcover.decisions import Decision, fit_decision
from labelcover.ensemble._shares import Shares, Similar
from labelcover.learners import ReadTable, are_few_nonzeros
from labelcover.many_labels import Candidates, RankedLabels, ranked_labels
from labelcover.thresholds import inside

MOST_SEED = 2**31 - 1
# A block of features is made dense up to so many numbers (256 MB).
MOST_DENSE = 2**25
# Training rows that a model keeps to say what speaks for a label.
SAMPLE_ROWS = 200
# Training rows, and the tables of their confidences by models fitted without them.
LeftOut = tuple[NDArray[np.int64], list[NDArray[np.float64]]]


@dataclass(frozen=True)
class Block:
    """Some features of a sparse table, by their numbers, which ascend.

    If they are numbers, mostly, such a table is dense, unless it is too large.
    """

    features: NDArray[np.int64]
    is_dense: bool = False

    @classmethod
    def of(cls, X: Any, features: NDArray[np.int64]) -> "Block":
        """Return some features of a training table."""
        own = cls(features).read(X)
        counts = np.bincount(own.indices, minlength=len(features))
        fits = own.shape[0] * len(features) <= MOST_DENSE
        return cls(features, fits and not are_few_nonzeros(counts, own.shape[0]))

    def read(self, X: Any) -> Any:
        """Return the features of a table."""
        first, last = self.features[0], self.features[-1] + 1
        is_range = last - first == len(self.features)
        own = sparse.csr_array(X[:, first:last] if is_range else X[:, self.features])
        return own.toarray() if self.is_dense else own


@dataclass(frozen=True)
class TrainingRows:
    """What views are fitted on.

    Attributes
    ----------
    X : ndarray, CSR matrix or data frame of shape (n, d)
        As the learner reads it.
    Y : ndarray of shape (n, n_labels), uint8
        Or a CSR array of ones, where there are very many labels.
    n_values : ndarray of shape (d,)
        How many values a nominal feature has, 0 for a numeric one.
    weights : ndarray of shape (n,) or None
        Above 0, and 1 in the mean of the rows that were given to `fit`.
    cells : ndarray of shape (n, n_labels), optional
        By what the weight of a row is multiplied for each label: 0 where a label is not known,
        and stands as 0 in `Y`. By default all labels of all rows are known.
    metadata : mapping
        What else goes to the ``fit`` of every member.
    left_out : ndarray, optional
        The rows whose left-out confidences views are asked for after the fit, in random order.
    sample : ndarray, optional
        Of rows in chunks: those that are held in memory together, ascending, `left_out` among them.
    blocks : mapping of str to ndarray
        Features that belong together, by name: those of each text, and of all that is no text.
    made : dict
        Tables of the features of some blocks, as they were asked for, the table as it is read, and
        the sample.
    """

    X: Any
    Y: Any
    n_values: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    metadata: Mapping[str, Any]
    left_out: Any = None
    sample: NDArray[np.int64] | None = None
    cells: NDArray[np.float64] | None = None
    blocks: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def of_columns(self, names: tuple[str, ...]) -> "tuple[Block, TrainingRows]":
        """Return some blocks of features, and the rows with no others."""
        if names not in self.made:
            block = Block.of(self.X, np.sort(np.concatenate([self.blocks[name] for name in names])))
            n_values = self.n_values[block.features]
            self.made[names] = block, {"X": block.read(self.X), "n_values": n_values, "made": {}}
        block, own = self.made[names]
        return block, replace(self, **own, blocks={})

    @property
    def read(self) -> ReadTable:
        """The table as trees and neighbours read it, once for all of them."""
        if () not in self.made:
            self.made[()] = ReadTable(self.X, self.n_values)
        return self.made[()]

    @property
    def in_memory(self) -> "TrainingRows":
        """The rows that are in memory: all, or of rows in chunks a sample, read once."""
        if self.sample is None:
            return self
        if "sample" not in self.made:
            self.made["sample"] = self.rows(self.sample)
        places = None if self.left_out is None else np.searchsorted(self.sample, self.left_out)
        return replace(self.made["sample"], left_out=places)

    def leaving_out(self, rows: NDArray[np.int64] | None) -> "TrainingRows":
        """Return the same rows, of which some are left out."""
        return replace(self, left_out=rows)

    def rows(self, rows: NDArray[np.int64]) -> "TrainingRows":
        """Return some of the rows; metadata that is not one value per row stays as it is."""
        metadata = metadata_of(self.metadata, rows, self.Y.shape[0])
        weights = None if self.weights is None else self.weights[rows]
        cells = None if self.cells is None else self.cells[rows]
        own = rows_of(self.X, rows), self.Y[rows], self.n_values, weights, metadata
        return TrainingRows(*own, blocks=self.blocks, cells=cells)

    def labels(self, rows: Any = slice(None)) -> NDArray:
        """Return the labels of some rows, NaN where they are not known."""
        if self.cells is None:
            return self.Y[rows]
        return np.where(self.cells[rows] > 0, self.Y[rows], np.nan)

    def cell_weights(self, rows: Any = slice(None)) -> NDArray[np.float64] | None:
        """Return the weights of some rows, ``(n,)``, or of their cells; None if all are 1."""
        weights = None if self.weights is None else self.weights[rows]
        if self.cells is None:
            return weights
        return self.cells[rows] if weights is None else weights[:, None] * self.cells[rows]


def metadata_of(metadata: Mapping[str, Any], rows: NDArray[np.int64], n: int) -> dict[str, Any]:
    """Return the metadata of some of `n` rows; what is not one value per row stays as it is."""
    return {
        name: np.asarray(value)[rows] if np.shape(value)[:1] == (n,) else value
        for name, value in metadata.items()
    }


Checked = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class LeftOutPredictions(NamedTuple):
    """Predictions for training rows by members fitted without them.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Which training rows, of those whose weight is above 0 and of which a label is known.
    Y : ndarray of shape (n_rows, n_labels)
        Their labels, NaN where they are not known.
    confidence : ndarray of shape (n_rows, n_labels)
        Both are sparse where there are very many labels.
    """

    rows: NDArray[np.int64]
    Y: Any
    confidence: Any


@dataclass(frozen=True, eq=False)
class TableAnswer:
    """A table of confidences; where labels are very many, `Candidates` take its place.

    Attributes
    ----------
    confidence : ndarray of shape (n, n_labels)
    known : int8 array of shape (n, n_labels), optional
        0 and 1 where a label is known, -1 elsewhere: these come back as they are.
    """

    confidence: NDArray[np.float64]
    known: NDArray[np.int8] | None = None

    def dense(self) -> NDArray[np.float64]:
        """Return the confidences of all labels; 0 and 1 where they are known."""
        if self.known is None:
            return self.confidence
        return np.where(self.known < 0, self.confidence, self.known)

    stored = dense

    def top(self, n_top: int) -> RankedLabels:
        """Return the likeliest labels of each row, those that are known first."""
        return ranked_labels(self.dense(), n_top)

    def decide(self, decision: Decision) -> NDArray[np.bool_]:
        """Return which labels are predicted; what is known counts and stays."""
        return self.decided(decision.decide)

    def decided(self, decide: Callable[[NDArray[np.float64]], Any]) -> NDArray[np.bool_]:
        """Return the same for a function of confidences inside (0, 1)."""
        if self.known is None:
            return decide(self.confidence)
        chosen = np.asarray(decide(inside(self.dense())), dtype=bool)
        return np.where(self.known < 0, chosen, self.known == 1)

    def fit_decision(self, decide: Any, Y: Any, **how: Any) -> Decision:
        """Return the decision that serves a measure best, if these rows were left out."""
        return fit_decision(decide, Y, self.confidence, **how)


Answer = TableAnswer | Candidates


class View(ABC):
    """What gives confidences: members over a cover, a forest, a pool, or another method's models.

    Nobody asks a view what it is.
    """

    # Whether known labels of new rows speak for and against others.
    takes_known = False
    # What `fit` keeps for `left_out`.
    _left_out: LeftOut

    @abstractmethod
    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit everything; all seeds are drawn from `seed` before work is handed out."""

    @abstractmethod
    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``; most views have one table."""

    def answer(self, X: Any, known: NDArray[np.int8] | None, checked: Checked) -> Answer:
        """Return the answer for new rows, whose confidences are passed through `checked`.

        `known` is 0 and 1 where a label is known, -1 elsewhere; None unless the view `takes_known`.
        """
        return TableAnswer(checked(self.confidences(X)[0]))

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return training rows and their confidences by models fitted without them.

        The rows are ``rows.left_out``, but for views that know only of rows out of the bag. `rows`
        are those of `fit`. Asked once, after it: what only this needs is then forgotten.
        """
        return self.__dict__.pop("_left_out")

    def shares(self, X: Any) -> list[Shares]:
        """Return what adds up to each of the tables of `confidences` of new rows.

        Asked only where `no_shares` is empty. Who adds a view says how its confidences are sums
        over the columns of the table, label by label (`Shares`); the pool weighs these, and the
        explanation puts them into words.
        """
        raise TypeError(f"{type(self).__name__} has no shares: {self.no_shares}.")

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums over the columns of the table; empty if they are."""
        return "its confidences are no sums over the columns of the table"

    def similar(self, X: Any, n: int) -> Similar | None:
        """Return the training rows most like new ones; None if the view does not know them."""
        return None

    @property
    def member_weights(self) -> NDArray[np.float64] | None:
        """The weights of members in their labels; None if there are none."""
        return None

    @property
    def n_forest_rows(self) -> int:
        """On how many training rows trees were grown; 0 if there are none."""
        return 0

    def told(self) -> str:
        """Return what was weighed, for people to read."""
        return ""


def draw_seeds(seed: int, n: int) -> NDArray[np.int64]:
    """Return `n` seeds drawn from one."""
    return np.random.default_rng(seed).integers(MOST_SEED, size=n)


def drawn_seed(seed: int) -> int:
    """Return the first of the seeds that are drawn from one."""
    return int(draw_seeds(seed, 1)[0])


def fit_in_memory(fit: Callable[..., Any], rows: TrainingRows, seed: int, **how: Any) -> Any:
    """Return what learns all labels at once from rows in memory, with the first seed of `seed`."""
    own = rows.in_memory
    known = {"weights": own.weights, "cells": own.cells, "seed": drawn_seed(seed)}
    return fit(own.read, own.Y, **known, **how)


def sample_of(X: Any) -> Any:
    """Return some rows of a table, evenly spread, by which a model says what speaks for a label."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, SAMPLE_ROWS).astype(np.int64))
    return rows_of(X, rows)
