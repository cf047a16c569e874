"""One C4.5 tree as a value: grown, pruned, asked, counted and put into words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._c45.growing_kernels import grow
from labelcover.learners._c45.pruning_kernels import collapse, compact, prune
from labelcover.learners._c45.row_kernels import distributions
from labelcover.learners._c45.split_kernels import TOLERANCE, VALUE_STEP, Switches
from labelcover.learners._features import read_only
from labelcover.learners._problems import Members

MANY_VALUES = 0.3  # a nominal feature with more values than this times n is left out of mean gains


@dataclass(frozen=True)
class FeatureTable:
    """The features of the training rows, laid out for growing any number of trees.

    Attributes
    ----------
    values : ndarray of shape (features, n)
        NaN where missing, value numbers from 0 for nominal features.
    n_values : ndarray of shape (features,), int32
        Number of values of a nominal feature, 0 for a numeric one.
    sorted : (features, values, order, rank, far)
        The numeric features whose rows are sorted: which those are, and, with a row each, their
        values; the rows by ascending value, missing values last; the ranks of the values and
        which may be separated (`value_ranks`, empty unless `unit`).
    switches : Switches
        The features of two values, if `unit`.
    unit : bool
        Whether no value is missing and all rows weigh the same.
    """

    values: NDArray[np.float64]
    n_values: NDArray[np.int32]
    sorted: tuple[NDArray, ...]
    switches: Switches
    unit: bool

    @classmethod
    def of(
        cls, X: NDArray[np.float64], n_values: NDArray[np.int32], *, weighted: bool
    ) -> "FeatureTable":
        """Return the table of `X` (rows by features), preparing every numeric feature once."""
        values = np.array(X.T, dtype=np.float64, order="C")
        unit = not weighted and not np.isnan(values).any()
        lowest, highest = values.min(axis=1), values.max(axis=1)
        high = values == highest[:, None]
        two_values = (high | (values == lowest[:, None])).all(axis=1)
        switch = unit & two_values & ((n_values == 0) | (n_values == 2))
        rare_is_high = 2 * high.sum(axis=1) <= len(X)
        rare = high == rare_is_high[:, None]
        # Values that are too close are one, and one value alone never splits.
        rare[~switch | ~(lowest + VALUE_STEP < highest)] = False
        is_rare = np.ascontiguousarray(rare.T)
        row, feature = np.nonzero(is_rare)
        column, rare_row = np.nonzero(rare)
        switches = Switches(
            starts=np.searchsorted(row, np.arange(len(X) + 1)),
            features=feature.astype(np.int32),
            column_starts=np.searchsorted(column, np.arange(len(values) + 1)),
            rows=rare_row.astype(np.int32),
            is_rare=is_rare,
            pair=np.column_stack([lowest, highest]),
            rare_is_high=rare_is_high,
            branching=np.flatnonzero((n_values > 0) & ~switch),
        )

        sorted_features = np.flatnonzero((n_values == 0) & ~switch)
        numeric = values if len(sorted_features) == len(values) else values[sorted_features]
        # Half the bytes where they are enough: the tables are read over and over.
        small = np.uint16 if len(X) < 2**16 else np.int32
        order = np.argsort(numeric, axis=1, kind="stable").astype(small)
        rank, far = value_ranks(numeric, order) if unit else (order[:0], order[:0])
        return cls(
            values,
            n_values,
            (sorted_features, numeric, order, rank, far),
            switches,
            unit,
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
        self.nodes = (
            np.concatenate([tree.feature for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate([tree.first + at for tree, at in zip(trees, self.roots, strict=True)]),
            np.concatenate([tree.n_children for tree in trees]),
            np.concatenate([tree.nominal for tree in trees]),
            np.concatenate([tree.dist.sum(axis=1) for tree in trees]),
        )
        answers = [_answers(tree, laplace=laplace).ravel() for tree in trees]
        self.answers = np.concatenate(answers)
        ends = np.cumsum([0, *(len(a) for a in answers)])
        self.answer_at = np.concatenate(
            [at + np.arange(n) * w for at, n, w in zip(ends, sizes, widths, strict=False)]
        )

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return `X` dense, row by row: the trees are compiled for one layout."""
        return X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)

    def distributions(self, prepared: NDArray[np.float64], problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some trees side by side, a row per row."""
        offsets = self.offsets[problems.start : problems.stop + 1]
        return distributions(
            *read_only(prepared),
            read_only(*self.nodes),
            *read_only(self.roots[problems], self.answers, self.answer_at),
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
    if weights is None:
        weights = np.ones(len(label))
    features = table.values, table.n_values, table.sorted, table.switches
    few = (table.n_values == 0) | (MANY_VALUES * weights.sum() - table.n_values > TOLERANCE)
    in_mean = few if few.any() else ~few
    tree, segments = grow(features, label, weights, n_classes, float(min_leaf), table.unit, in_mean)
    collapse(tree)
    if pruned:
        z = NormalDist().inv_cdf(1.0 - confidence)
        prune(tree, segments, features, label, weights, table.unit, subtree_raising, confidence, z)
    feature, threshold, first, n_children, dist = compact(tree)
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
    if tree.feature[0] < 0:
        body = ": " + _leaf(tree.dist[0], tree.dist[0], classes)
    else:
        body = "\n".join(_lines(tree, 0, "", feature_names, categories, classes))
    return (
        f"J48 {'pruned' if pruned else 'unpruned'} tree\n------------------\n\n{body}\n\n"
        f"Number of Leaves  : \t{tree.n_leaves}\n\nSize of the tree : \t{len(tree.feature)}\n"
    )


def _lines(
    tree: Tree,
    node: int,
    indent: str,
    feature_names: Sequence[str],
    categories: Sequence[Any],
    classes: NDArray[Any],
) -> Iterator[str]:
    name = feature_names[tree.feature[node]]
    for branch in range(tree.n_children[node]):
        child = tree.first[node] + branch
        if tree.nominal[node]:
            test = f"= {categories[tree.feature[node]][branch]}"
        else:
            test = f"{'<=' if branch == 0 else '>'} {_decimal(tree.threshold[node])}"
        line = f"{indent}{name} {test}"
        if tree.feature[child] < 0:
            yield f"{line}: {_leaf(tree.dist[child], tree.dist[node], classes)}"
        else:
            yield line
            yield from _lines(tree, child, indent + "|   ", feature_names, categories, classes)


def _leaf(dist: NDArray[np.float64], parent: NDArray[np.float64], classes: NDArray[Any]) -> str:
    total = dist.sum()
    errors = total - dist.max()
    label = classes[_majority(dist if total > TOLERANCE else parent)]
    return f"{label} ({_rounded(total)}{f'/{_rounded(errors)}' if errors > TOLERANCE else ''})"


def _majority(dist: NDArray[np.float64]) -> int:
    """Return the class of largest weight, the first of equals."""
    best = 0
    for c in range(1, len(dist)):
        if dist[c] - dist[best] > TOLERANCE:
            best = c
    return best


def _decimal(value: float) -> str:
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _rounded(weight: float) -> str:
    return repr(math.floor(float(weight) * 100.0 + 0.5) / 100.0)
