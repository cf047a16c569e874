"""One C4.5 tree as a value: grown, pruned, asked, counted and put into words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._c45.pruning_kernels import grown_and_pruned
from labelcover.learners._c45.row_kernels import distributions
from labelcover.learners._c45.split_kernels import TOLERANCE, VALUE_STEP
from labelcover.learners._features import read_only
from labelcover.learners._problems import Members

MANY_VALUES = 0.3  # a nominal feature with more values than this times n is left out of mean gains


class FeatureTable(NamedTuple):
    """The features of the training rows, laid out for growing any number of trees.

    Attributes
    ----------
    values : ndarray of shape (features, n)
        NaN where missing, value numbers from 0 for nominal features.
    n_values : ndarray of shape (features,), int32
        Number of values of a nominal feature, 0 for a numeric one.
    unit : bool
        Whether no value is missing and all rows weigh the same.
    sorted_features : ndarray
        The numeric features whose rows are sorted: all but those of two values, if `unit`.
    order, rank, far : ndarray
        With a row for each of these, their rows by ascending value, missing values last; and
        `value_ranks`, empty unless `unit`.
    starts, rare : ndarray
        Row ``i`` has the rarer of two values in the features ``rare[starts[i]:starts[i + 1]]``.
    is_switch : ndarray of bool
        Which features have two values, if `unit`, that are not too close to be separated.
    pair : ndarray of shape (features, 2)
        The lowest and the highest value.
    branching : ndarray
        The nominal features but those of two values, if `unit`.
    """

    values: NDArray[np.float64]
    n_values: NDArray[np.int32]
    unit: bool
    sorted_features: NDArray[np.int64]
    order: NDArray[Any]
    rank: NDArray[Any]
    far: NDArray[Any]
    starts: NDArray[np.int64]
    rare: NDArray[np.int32]
    is_switch: NDArray[np.bool_]
    pair: NDArray[np.float64]
    branching: NDArray[np.int64]

    @classmethod
    def of(
        cls, X: NDArray[np.float64], n_values: NDArray[np.int32], *, weighted: bool
    ) -> "FeatureTable":
        """Return the table of `X` (rows by features), preparing every numeric feature once."""
        values = np.array(X.T, dtype=np.float64, order="C")
        unit = not weighted and not bool(np.isnan(values).any())
        lowest, highest = values.min(axis=1), values.max(axis=1)
        high = values == highest[:, None]
        two_values = (high | (values == lowest[:, None])).all(axis=1)
        switch = unit & two_values & ((n_values == 0) | (n_values == 2))
        # Values that are too close are one, and one value alone never splits.
        is_switch = switch & (lowest + VALUE_STEP < highest)
        rare = (high == (2 * high.sum(axis=1) <= len(X))[:, None]) & is_switch[:, None]
        row, feature = np.nonzero(rare.T)

        sorted_features = np.flatnonzero((n_values == 0) & ~switch)
        numeric = values if len(sorted_features) == len(values) else values[sorted_features]
        # Half the bytes where they are enough: the tables are read over and over.
        small = np.uint16 if len(X) < 2**16 else np.int32
        order = np.argsort(numeric, axis=1, kind="stable").astype(small)
        rank, far = value_ranks(numeric, order) if unit else (order[:0], order[:0])
        return cls(
            values,
            n_values,
            unit,
            sorted_features,
            order,
            rank,
            far,
            starts=np.searchsorted(row, np.arange(len(X) + 1)),
            rare=feature.astype(np.int32),
            is_switch=is_switch,
            pair=np.column_stack([lowest, highest]),
            branching=np.flatnonzero((n_values > 0) & ~switch),
        )


def value_ranks(
    values: NDArray[np.float64], order: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the ranks of values in each row, and the rank from which on each rank is separated.

    The first is the number of a value among the distinct ones of its row; the second has for each
    rank the least one whose value is larger by more than `VALUE_STEP`. `order` sorts each row.
    """
    rank, far = np.zeros_like(order), np.zeros_like(order)
    ordered = np.take_along_axis(values, order, axis=1)
    is_larger = np.diff(ordered, axis=1, prepend=-np.inf) > 0
    np.put_along_axis(rank, order, np.cumsum(is_larger, axis=1, dtype=order.dtype) - 1, axis=1)
    for k, is_level in enumerate(is_larger):
        levels = ordered[k, is_level]
        far[k, : len(levels)] = np.searchsorted(levels, levels + VALUE_STEP, side="right")
    return rank, far


@dataclass(frozen=True)
class Tree:
    """A tree: an entry per node, level by level, the children of a node side by side.

    Attributes
    ----------
    feature : ndarray of int32
        The feature a node splits on, -1 in a leaf.
    threshold : ndarray of float
        Values up to it go to the first child (numeric splits).
    first, n_children : ndarray of int32
        The children of node ``i`` are ``first[i]`` to ``first[i] + n_children[i] - 1``.
    dist : ndarray of shape (nodes, classes)
        Training weight of every class.
    nominal : ndarray of bool
        Whether the node splits on a nominal feature.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    first: NDArray[np.int32]
    n_children: NDArray[np.int32]
    dist: NDArray[np.float64]
    nominal: NDArray[np.bool_]

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return int(np.count_nonzero(self.feature < 0))

    def parent(self) -> NDArray[np.int64]:
        """Return the parent of every node, -1 for the root."""
        inner = np.flatnonzero(self.feature >= 0)
        return np.concatenate([[-1], np.repeat(inner, self.n_children[inner])])

    def depth(self) -> int:
        """Return the number of splits on the longest way from the root to a leaf."""
        depths = np.zeros(len(self.feature), dtype=np.int64)
        parent = self.parent()
        for node in range(1, len(depths)):
            depths[node] = depths[parent[node]] + 1
        return int(depths.max())

    def gains(self, n_features: int) -> NDArray[np.float64]:
        """Return, per feature, the information in bits that its splits gain in training."""
        total = self.dist.sum(axis=1)
        bits = _xlog2x(total) - _xlog2x(self.dist).sum(axis=1)
        below = np.zeros(len(total))
        np.add.at(below, self.parent()[1:], bits[1:])
        inner = self.feature >= 0
        gained = np.bincount(self.feature[inner], (bits - below)[inner], n_features)
        return np.maximum(gained, 0.0)


class TreeStack(Members):
    """Trees packed one after the other, for answering all of them in one pass.

    Parameters
    ----------
    trees : sequence of Tree
    laplace : bool
        Whether leaves answer with one added to the weight of every class.
    """

    def __init__(self, trees: Sequence[Tree], *, laplace: bool = False) -> None:
        self.trees = trees
        sizes = [len(tree.feature) for tree in trees]
        widths = [tree.dist.shape[1] for tree in trees]
        self.roots = np.cumsum([0, *sizes[:-1]])
        self.offsets = np.cumsum([0, *widths])
        self.answers, nodes = np.zeros((sum(sizes), max(widths))), []
        for at, t in zip(self.roots, trees, strict=True):
            own, total = _answers(t, laplace=laplace), t.dist.sum(axis=1)
            self.answers[at : at + len(own), : own.shape[1]] = own
            nodes.append((t.feature, t.threshold, t.first + at, t.n_children, t.nominal, total))
        self.nodes = tuple(np.concatenate(each) for each in zip(*nodes, strict=True))

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return `X` dense, row by row: the trees are compiled for one layout."""
        return X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)

    def distributions(self, prepared: NDArray[np.float64], problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some trees side by side, a row per row."""
        offsets = self.offsets[problems.start : problems.stop + 1]
        return distributions(
            *read_only(prepared),
            read_only(*self.nodes),
            *read_only(self.roots[problems], self.answers),
            offsets - offsets[0],
        )


def _answers(tree: Tree, *, laplace: bool) -> NDArray[np.float64]:
    """Return the class distribution that each node answers with; an empty one has its parent's."""
    more = float(laplace)
    total = np.cumsum(tree.dist, axis=1)[:, -1:]  # from left to right
    answers = (tree.dist + more) / np.where(total > 0, total + more * tree.dist.shape[1], 1.0)
    parent = tree.parent()
    for node in np.flatnonzero(total[:, 0] < TOLERANCE):
        if node > 0:
            answers[node] = answers[parent[node]]
    return answers


def _xlog2x(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.log2(np.where(x > 0, x, 1.0))


def grown_tree(
    table: FeatureTable,
    label: NDArray[np.int32],
    n_classes: int,
    *,
    weights: NDArray[np.float64] | None,
    confidence: float,
    min_leaf: float,
    pruned: bool,
    subtree_raising: bool,
) -> Tree:
    """Return the tree of the rows of `table` with classes `label`.

    `weights` are given if the table was made as `weighted`, and only then.
    """
    w = np.ones(len(label)) if weights is None else weights
    few = (table.n_values == 0) | (MANY_VALUES * w.sum() - table.n_values > TOLERANCE)
    how = few if few.any() else ~few, pruned, subtree_raising, confidence
    z = NormalDist().inv_cdf(1.0 - confidence)
    grown = grown_and_pruned(table, label, w, n_classes, float(min_leaf), *how, z)
    feature, threshold, first, n_children, dist = grown
    nominal = (feature >= 0) & (table.n_values[feature] > 0)
    return Tree(feature, threshold, first, n_children, dist, nominal)


def tree_text(
    tree: Tree,
    *,
    pruned: bool,
    feature_names: Sequence[str],
    categories: Sequence[NDArray[Any] | None],
    classes: NDArray[Any],
) -> str:
    """Return the tree as WEKA's J48 prints it: a line per branch, weight and errors of leaves."""

    def leaf(node: int, parent: int) -> str:
        total, errors = tree.dist[node].sum(), tree.dist[node].sum() - tree.dist[node].max()
        dist, most = tree.dist[node if total > TOLERANCE else parent], 0
        for c in range(len(dist)):
            if dist[c] - dist[most] > TOLERANCE:
                most = c
        wrong = f"/{_rounded(errors)}" if errors > TOLERANCE else ""
        return f"{classes[most]} ({_rounded(total)}{wrong})"

    def lines(node: int, indent: str) -> Iterator[str]:
        f = tree.feature[node]
        values: Any = categories[f]
        for branch in range(tree.n_children[node]):
            child = tree.first[node] + branch
            if tree.nominal[node]:
                test = f"= {values[branch]}"
            else:
                test = f"{'<=' if branch == 0 else '>'} {_decimal(tree.threshold[node])}"
            answer = f": {leaf(child, node)}" if tree.feature[child] < 0 else ""
            yield f"{indent}{feature_names[f]} {test}{answer}"
            if not answer:
                yield from lines(child, indent + "|   ")

    body = "\n".join(lines(0, "")) if tree.feature[0] >= 0 else f": {leaf(0, 0)}"
    return (
        f"J48 {'pruned' if pruned else 'unpruned'} tree\n------------------\n\n{body}\n\n"
        f"Number of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{len(tree.feature)}\n"
    )


def _decimal(value: float) -> str:
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _rounded(weight: float) -> str:
    return repr(math.floor(float(weight) * 100.0 + 0.5) / 100.0)
