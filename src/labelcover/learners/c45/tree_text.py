"""A C4.5 tree in words, in the layout that WEKA's J48 prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners.c45.split_kernels import TOLERANCE
from labelcover.learners.c45.tree import Tree


def tree_text(
    tree: Tree,
    *,
    pruned: bool,
    feature_names: Sequence[str],
    categories: Sequence[NDArray[Any] | None],
    classes: NDArray[Any],
) -> str:
    """Return the tree, a line per branch, with the weight and the errors of every leaf."""
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
    for branch in range(tree.n_sons[node]):
        son = tree.first[node] + branch
        if tree.nominal[node]:
            test = f"= {categories[tree.feature[node]][branch]}"
        else:
            test = f"{'<=' if branch == 0 else '>'} {_decimal(tree.threshold[node])}"
        line = f"{indent}{name} {test}"
        if tree.feature[son] < 0:
            yield f"{line}: {_leaf(tree.dist[son], tree.dist[node], classes)}"
        else:
            yield line
            yield from _lines(tree, son, indent + "|   ", feature_names, categories, classes)


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
