"""A chain of binary models: each has the labels before it as features, besides X."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labelcover._table_numbers import blocks, rows_of
from labelcover.ensemble import TrainingRows
from labelcover.learners import LabelSystem, Members, Problems, is_frame
from labelcover.methods._member_rows import values_with_labels, with_labels

# Rows with labels beside them are made in blocks of so many numbers (64 MB).
BLOCK_NUMBERS = 2**23

Rows = NDArray[np.int64] | None
Labels = NDArray[np.uint8]
Floats = NDArray[np.float64]


class Chain(Protocol):
    """A fitted chain."""

    @property
    def order(self) -> NDArray[np.int64]:
        """The label of each link, ``(n_labels,)``."""
        ...

    def prepare(self, X: Any) -> Any:
        """Return what `probability` takes: the work on new rows that all links share."""
        ...

    def probability(self, prepared: Any, rows: Rows, link: int, before: Labels) -> Floats:
        """Return the probability of a link's label, given ``before``, the labels before it.

        `rows` says which of the prepared rows each row of ``before`` belongs to; None: all.
        """
        ...


@dataclass(frozen=True)
class LinkedChain:
    """A chain with one model of the learner for each link.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
    links : list of Members
        One problem each.
    """

    order: NDArray[np.int64]
    links: list[Members]

    @classmethod
    def fitted(
        cls, learner: Any, training: TrainingRows, order: NDArray[np.int64], seeds: Any
    ) -> "LinkedChain":
        """Fit a link for each label: the labels before it are features, with their true values."""
        Y = training.Y[:, order]
        links = []
        for link, X in enumerate(tables_of_links(training.X, Y)):
            problems = Problems(
                np.ascontiguousarray(Y[None, :, link], dtype=np.int32),
                np.array([0, 2]),
                values_with_labels(training.n_values, link),
                training.weights,
                seeds[link : link + 1],
                training.metadata,
            )
            links.append(learner.fit_problems(X, problems))
        return cls(order, links)

    def prepare(self, X: Any) -> Any:
        """Return `X`."""
        return X

    def probability(self, prepared: Any, rows: Rows, link: int, before: Labels) -> Floats:
        """Return the probability of a link's label, given the labels before it; see `Chain`."""
        members = self.links[link]
        answers = np.empty(len(before))
        width = prepared.shape[1] + link + members.row_width
        for block in blocks(len(before), BLOCK_NUMBERS // width):
            whole = rows is None and block.stop - block.start == len(before)
            chosen = block if rows is None else rows[block]
            X = with_labels(prepared if whole else rows_of(prepared, chosen), before[block])
            answers[block] = members.distributions(members.prepare(X), slice(0, 1))[:, 1]
        return answers


@dataclass(frozen=True)
class WithConstants:
    """A chain of the labels that vary in training, and those that do not before it.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        Constant labels first, then those of the chain.
    constants : ndarray of shape (n_constant,)
        Their values.
    chain : Chain or None
        Of the labels that vary, numbered among all; None if there are none.
    """

    order: NDArray[np.int64]
    constants: NDArray[np.float64]
    chain: Chain | None

    def prepare(self, X: Any) -> Any:
        """Return what the chain prepares, and the number of rows."""
        return None if self.chain is None else self.chain.prepare(X), X.shape[0]

    def probability(self, prepared: Any, rows: Rows, link: int, before: Labels) -> Floats:
        """Return the probability of a link's label, given the labels before it; see `Chain`."""
        varying, n = prepared
        first = len(self.constants)
        if link < first or self.chain is None:
            return np.full(n if rows is None else len(rows), self.constants[link])
        return self.chain.probability(varying, rows, link - first, before[:, first:])


def fitted_chains(
    learner: Any,
    training: TrainingRows,
    orders: NDArray[np.int64],
    seeds: NDArray[np.int64],
    *,
    drawn: NDArray[np.int64] | None = None,
) -> list[Chain]:
    """Return a chain for each of some orders, fitted on the same rows.

    A label that is the same in all rows is no problem to be fitted and no feature: it comes first
    and has probability 0 or 1. Least squares solves all labels in one factorisation, which the
    chains share; other learners fit one model per link.

    Parameters
    ----------
    seeds : ndarray of shape (n_orders, n_labels)
    drawn : ndarray of shape (n,), optional
        How often each row counts; by default once.
    """
    counted = training if drawn is None else _weighted(training, drawn)
    varies = np.ptp(counted.Y, axis=0) > 0
    labels = np.flatnonzero(varies)
    system = _label_system(learner, counted, labels, seeds[0, :1]) if len(labels) else None
    if drawn is None or system is not None:
        sample = counted
    else:
        sample = training.rows(np.repeat(np.arange(len(drawn)), drawn))
    chains: list[Chain] = []
    for order, of_links in zip(orders, seeds, strict=True):
        constant, varying = order[~varies[order]], order[varies[order]]
        chain: Chain | None = None
        if system is not None:
            chain = system.chain(np.searchsorted(labels, varying))
        elif len(labels):
            chain = LinkedChain.fitted(learner, sample, varying, of_links)
        if len(constant):
            values = sample.Y[0, constant].astype(np.float64)
            chain = WithConstants(np.concatenate([constant, varying]), values, chain)
        assert chain is not None
        chains.append(chain)
    return chains


def _weighted(training: TrainingRows, drawn: NDArray[np.int64]) -> TrainingRows:
    """Return each row drawn once, with weight 2 if drawn twice: leave-one-out leaves both out."""
    rows = np.flatnonzero(drawn)
    sample = training.rows(rows)
    weights = drawn[rows].astype(np.float64) * (1 if sample.weights is None else sample.weights)
    return replace(sample, weights=None if (weights == 1).all() else weights)


def _label_system(
    learner: Any, training: TrainingRows, labels: NDArray[np.int64], seeds: NDArray[np.int64]
) -> LabelSystem | None:
    problems = Problems(
        np.ascontiguousarray(training.Y[:, labels].T, dtype=np.int32),
        2 * np.arange(len(labels) + 1),
        training.n_values,
        training.weights,
        seeds,
    )
    system: LabelSystem | None = learner.label_system(training.X, problems)
    return system


def tables_of_links(X: Any, Y: NDArray[np.uint8]) -> Iterator[Any]:
    """Yield for each link the table with the labels before it: no, the first, the first two, …."""
    if is_frame(X):
        yield from (with_labels(X, Y[:, :link]) for link in range(Y.shape[1]))
        return
    table, width = with_labels(X, Y), X.shape[1]
    yield from (table[:, : width + link] for link in range(Y.shape[1]))
