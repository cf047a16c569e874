"""How large a fit of the default will be, before it is started: labelsets, links, memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._label_values import label_rows, split_unknown
from labelcover.covers import linked_labels
from labelcover.ensemble import (
    LabelCoverClassifier,
    Plan,
    TableFacts,
    choose_cover,
    labels_are_many,
    linking_cover,
    plan_views,
)

# The most that the default holds, whatever the table has: rows whose kernel is exact, left-out
# rows, distinct labelsets that correct the pool.
EXACT_ROWS, LEFT_OUT_ROWS, MOST_LABELSETS = 1_000, 2_048, 5_000
__all__ = [
    "FitSizes",
    "fit_sizes",
]

# Bytes of the program itself, with everything imported and compiled.
PROGRAM = 350_000_000
# Tables of the size of X, of the kernel and of the solution that are held at the same time.
X_COPIES, KERNEL_COPIES, SOLUTION_COPIES = 4, 5, 8
# Bytes of all trees for a label of a row.
TREES_PER_LABEL_CELL = 2_500
# With very many labels: bytes for a nonzero of X (means, trees, linear SVMs) and for a label.
MANY_PER_NONZERO, MANY_PER_LABEL = 1_000, 8_000


@dataclass(frozen=True)
class FitSizes:
    """How large a fit is.

    Attributes
    ----------
    rows, features, labels : int
    labelsets : int
        Those of the cover.
    links : int
        How many pairs of labels a labelset holds together.
    memory_gb : float
        Bound of the memory of the process, with the table.
    plan : Plan or None
        Which views are fitted, and why; None where only candidates are looked at.
    """

    rows: int
    features: int
    labels: int
    labelsets: int
    links: int
    memory_gb: float
    plan: Plan | None


def fit_sizes(
    estimator: LabelCoverClassifier, X: Any, Y: Any, blocks: Mapping[str, Any] | None = None
) -> FitSizes:
    """Return how large the fit of the default estimator on a table will be.

    The cover is made, nothing else.

    Parameters
    ----------
    estimator : LabelCoverClassifier
        With the default ``estimator="auto"``; its cover, `k`, `r` and `size` count.
    X : array or sparse matrix of shape (n, d)
    Y : array or sparse matrix of shape (n, n_labels)
    blocks : mapping of str to ndarray, optional
        The features of each text, and of all that is no text, as `Dataset.blocks`.

    Examples
    --------
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.datasets import load
    >>> from labelcover.experiments.fit_sizes import fit_sizes
    >>> data = load("debtags")
    >>> sizes = fit_sizes(LabelCoverClassifier(random_state=0), data.X, data.Y)
    >>> sizes.labelsets <= 4 * sizes.labels, sizes.links <= 24 * 23 / 2
    (True, True)
    """
    if estimator.estimator not in (None, "auto"):
        raise ValueError(
            "estimator must be the default, whose sizes are known, "
            f"got LabelCoverClassifier({estimator.estimator!r})."
        )
    many, labels = labels_are_many(Y), label_rows(split_unknown(Y)[0])
    given: Any = labels if many else labels.toarray()
    by_default = isinstance(estimator.cover, str) and estimator.cover == "auto"
    cover, _ = choose_cover(
        given,
        linking_cover if by_default else estimator.cover,
        k=estimator.k,
        r=estimator.r,
        size=estimator.size,
        random_state=0,
    )
    facts = None if many else TableFacts.of(X, labels, blocks)
    return FitSizes(
        rows=X.shape[0],
        features=X.shape[1],
        labels=labels.shape[1],
        labelsets=len(cover),
        links=linked_labels(cover).nnz // 2,
        memory_gb=memory_bound(X, labels, facts) / 1e9,
        plan=None if facts is None else plan_views(facts),
    )


def memory_bound(X: Any, Y: sparse.csr_array, facts: TableFacts | None) -> float:
    """Return the bytes that a fit of the default does not exceed: those of its largest tables.

    There are no `facts` where labels are so many that only candidates are looked at.
    """
    n, d = X.shape
    nonzeros = X.nnz if sparse.issparse(X) else n * d
    if facts is None:
        return PROGRAM + MANY_PER_NONZERO * nonzeros + MANY_PER_LABEL * Y.shape[1]
    of_x = 12 * nonzeros if sparse.issparse(X) else 8 * n * d
    blocks = facts.blocks.values()
    of_x += sum(n * b.n_columns * (12 * b.nonzero_share if b.is_sparse else 8) for b in blocks)
    exact, left_out = min(n, EXACT_ROWS), min(n, LEFT_OUT_ROWS)
    patterns = {row.tobytes() for row in np.split(Y.indices, Y.indptr[1:-1])}
    tables = (
        KERNEL_COPIES * n * exact * max(1, len(blocks))
        + SOLUTION_COPIES * exact * Y.shape[1]
        + left_out * min(len(patterns), MOST_LABELSETS)
    )
    return PROGRAM + X_COPIES * of_x + 8 * tables + TREES_PER_LABEL_CELL * Y.nnz
