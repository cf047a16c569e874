"""Several probabilities of the same labels, pooled log-linearly into better ones.

For label ``j`` with frequency ``π_j`` and views ``v`` with probabilities ``p_v``::

    logit p = logit π_j + b_j + Σ_v w_jv (logit p_v − logit π_j),   w ≥ 0

The weights minimise the log-loss on predictions for rows that no view has seen. They are fitted
for all labels together first, then for each label with a penalty on the distance from the common
ones, so that rare labels keep close to them. How much labels differ is estimated too: a thousand
labels with a few positive rows each get nearly the same weights. As means over members are
under-confident, the weights usually sum to more than one: the pool calibrates too. All such weights
are found by Newton's method, for many labels at once (`newton_minima`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from labelcover.ensemble._confidence_kernels import pool_derivatives

# The penalty is one over the variance of the weights among labels. Before anything is seen the
# weights of a label deviate from the common ones by about a half, which is as sure as if so many
# labels had been seen.
VARIANCE, VARIANCE_LABELS = 0.25, 100
MOST_STEPS = 30
# Blocks of columns are kept or dropped by so many labels, the most frequent ones.
MOST_LABELS = 100
# Steps of Newton's method end with one shorter than this; what is left is about its square.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class LogLinearPool:
    """Fitted weights of views.

    Attributes
    ----------
    base : ndarray of shape (n_labels,)
        Log-odds of the labels in training.
    weights : ndarray of shape (n_labels, n_views)
    intercept : ndarray of shape (n_labels,)
    common : ndarray of shape (n_views + 1,)
        Weights and intercept for all labels together.
    """

    base: NDArray[np.float64]
    weights: NDArray[np.float64]
    intercept: NDArray[np.float64]
    common: NDArray[np.float64]

    def pool(self, views: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the pooled probabilities of views with probabilities inside (0, 1)."""
        odds = np.tile(self.base + self.intercept, (len(views[0]), 1))
        for v, view in enumerate(views):
            odds += self.weights[:, v] * (logit(view) - self.base)
        return expit(odds)


def inside(P: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Return probabilities that come no nearer to 0 and 1 than about `least`."""
    return (np.clip(P, 0, 1) + least) / (1 + 2 * least)


def fit_pool(
    views: list[NDArray[np.float64]],
    Y: NDArray[np.uint8],
    frequency: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None = None,
    *,
    variance: float = VARIANCE,
) -> LogLinearPool:
    """Return the pool of some views.

    Parameters
    ----------
    views : list of ndarray of shape (n, n_labels)
        Probabilities inside (0, 1) of left-out rows.
    Y : ndarray of shape (n, n_labels)
        The labels of these rows.
    frequency : ndarray of shape (n_labels,)
        How frequent the labels are in training, inside (0, 1).
    sample_weight : ndarray of shape (n,) or (n, n_labels), optional
        Weights of the rows, or of their cells: 0 where a label is not known.
    variance : float
        How far weights of labels are from the common ones, before anything is seen: about its
        square root.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble._log_linear_pool import fit_pool
    >>> random = np.random.default_rng(0)
    >>> truth = random.uniform(0.1, 0.9, (500, 2))
    >>> Y = (random.random((500, 2)) < truth).astype(np.uint8)
    >>> timid, noise = 0.25 + 0.5 * truth, random.uniform(0.1, 0.9, (500, 2))
    >>> pool = fit_pool([timid, noise], Y, Y.mean(axis=0))
    >>> bool(pool.weights[0, 0] > 1 > pool.weights[0, 1])
    True
    """
    base = logit(frequency)
    n, m = Y.shape
    if sample_weight is None:
        weights = np.ones((m, n))
    elif sample_weight.ndim == 2:
        weights = np.ascontiguousarray(sample_weight.T)
    else:
        weights = np.tile(sample_weight / sample_weight.mean(), (m, 1))
    # (n_views + 1, n_labels, n): what the weights and the intercept are multiplied by.
    inputs = np.stack([*((logit(view) - base).T for view in views), np.ones((m, n))])
    bases = np.repeat(base[:, None], n, axis=1)
    cells = inputs, bases, np.ascontiguousarray(Y.T), weights
    of_all = tuple(each.reshape(*each.shape[:-2], 1, m * n) for each in cells)
    start = np.append(np.full(len(views), 1 / len(views)), 0.0)
    how: dict[str, Any] = {"tolerance": TOLERANCE, "most_steps": MOST_STEPS}
    how["low"] = np.append(np.zeros(len(views)), -np.inf)
    common = least_loss(of_all, start, 1.0, **how)[:, 0]
    found = least_loss(cells, common, _penalty(cells, common, variance), **how)
    return LogLinearPool(base, found[:-1].T.copy(), found[-1].copy(), common)


def least_loss(
    cells: tuple[NDArray, ...], centre: NDArray[np.float64], penalty: float, **how: Any
) -> NDArray[np.float64]:
    """Return the weights of every label, ``(d, n_labels)``, all by Newton's method.

    Minimised is the log-loss of `cells`, the tables of `pool_derivatives`, plus ``penalty / 2``
    times the squared distance from `centre`. The other parameters are those of `newton_minima`.
    """

    def derivatives(which: NDArray[np.int64], theta: NDArray[np.float64]) -> Derivatives:
        loss, slope, curve = pool_derivatives(*cells, which, theta)
        away = theta - centre[:, None]
        loss += penalty / 2 * (away**2).sum(axis=0)
        return loss, slope + penalty * away, curve + penalty * np.eye(len(centre))

    return newton_minima(derivatives, np.tile(centre[:, None], (1, len(cells[1]))), **how)


def _penalty(cells, common, variance) -> float:
    """Return one over the variance of the weights among labels, by the method of moments.

    At the common weights the slope of a label has the covariance ``H + τ² H²``, with the second
    derivatives ``H`` of its log-loss and the variance ``τ²`` of its weights around the common
    ones. Labels count by one over the trace of ``H``. Few labels cannot tell, so what they say is
    averaged with `variance`.
    """
    n_labels = len(cells[1])
    theta = np.tile(common[:, None], (1, n_labels))
    _, slope, curve = pool_derivatives(*cells, np.arange(n_labels), theta)
    trace = np.trace(curve, axis1=1, axis2=2)
    share = 1 / np.maximum(trace, np.finfo(np.float64).tiny)
    beyond = share @ ((slope**2).sum(axis=0) - trace)
    found = beyond / (share @ (curve**2).sum(axis=(1, 2)))
    seen = n_labels * np.clip(found, 0, variance)
    return float((n_labels + VARIANCE_LABELS) / (seen + VARIANCE_LABELS * variance))


def useful_blocks(
    blocks: Mapping[Any, Sequence[NDArray[np.float64]]],
    Y: NDArray[np.uint8],
    frequency: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None = None,
) -> list[Any]:
    """Return the blocks whose views are pooled; the others say nothing that these do not.

    A block of columns that says nothing has several views, whose weights fit the noise of few
    left-out rows. Blocks are dropped one by one, the least needed first, while the log-loss of
    rows on which the pool was not fitted does not rise.

    Parameters
    ----------
    blocks : mapping to lists of ndarray of shape (n, n_labels)
        The probabilities of the views of each block.
    Y, frequency, sample_weight
        As in `fit_pool`. Only the most frequent labels are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble._log_linear_pool import useful_blocks
    >>> random = np.random.default_rng(0)
    >>> truth = random.uniform(0.1, 0.9, (500, 2))
    >>> Y = (random.random((500, 2)) < truth).astype(np.uint8)
    >>> noise = [random.uniform(0.1, 0.9, (500, 2)) for _ in range(3)]
    >>> useful_blocks({"numbers": [truth], "title": noise}, Y, Y.mean(axis=0))
    ['numbers']
    """
    labels = np.sort(np.argsort(-frequency, kind="stable")[:MOST_LABELS])
    weights = np.ones(len(Y)) if sample_weight is None else sample_weight
    weights = weights[:, None] if weights.ndim == 1 else weights[:, labels]
    tables = {name: [each[:, labels] for each in own] for name, own in blocks.items()}
    Y, frequency = Y[:, labels], frequency[labels]

    def loss(names: Sequence[Any]) -> float:
        """Return the log-loss of each half of the rows by a pool that was fitted on the other."""
        views, total = [table for name in names for table in tables[name]], 0.0
        for half in (0, 1):
            fitted, asked = slice(half, None, 2), slice(1 - half, None, 2)
            own = weights[fitted, 0] if weights.shape[1] == 1 else weights[fitted]
            pool = fit_pool([table[fitted] for table in views], Y[fitted], frequency, own)
            P = pool.pool([table[asked] for table in views])
            right = np.where(Y[asked] > 0, P, 1 - P)
            total -= float((weights[asked] * np.log(np.maximum(right, np.finfo(float).tiny))).sum())
        return total

    kept = list(blocks)
    least = loss(kept)
    while len(kept) > 1:
        found = {name: loss([each for each in kept if each != name]) for name in kept}
        name = min(found, key=lambda each: found[each])
        if found[name] > least:
            break
        least = found[name]
        kept.remove(name)
    return kept


Derivatives = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def newton_minima(
    derivatives: Callable[[NDArray[np.int64], NDArray[np.float64]], Derivatives],
    start: NDArray[np.float64],
    *,
    low: NDArray[np.float64] | float = -np.inf,
    tolerance: float,
    most_steps: int,
) -> NDArray[np.float64]:
    """Return where each of some convex functions of few variables is smallest.

    Steps that lead uphill, or to where a function is infinite, are halved. A function whose step
    moved no variable by `tolerance` is done; what is then left is about the square of that.

    Parameters
    ----------
    derivatives : callable
        From the numbers of some functions and their variables, ``(n_variables, n_some)``, to the
        values, ``(n_some,)``, the gradients, ``(n_variables, n_some)``, and the second
        derivatives, ``(n_some, n_variables, n_variables)``.
    start : ndarray of shape (n_variables, n_functions)
    low : ndarray of shape (n_variables,) or float
        The least that the variables may be.
    tolerance : float
    most_steps : int
    """
    found = start.copy()
    d = len(found)
    least = np.broadcast_to(low, d)[:, None]
    moving = np.arange(found.shape[1])
    now, slope, curve = derivatives(moving, found)
    for _ in range(most_steps):
        # A variable at its least that would become smaller stays there.
        at = found[:, moving]
        fixed = (at <= least) & (slope > 0)
        if fixed.any():
            free = ~fixed.T
            curve = curve * (free[:, :, None] & free[:, None, :])
            curve[:, np.arange(d), np.arange(d)] += fixed.T
        step = np.linalg.solve(curve, (slope * ~fixed).T[:, :, None])[:, :, 0].T
        tried, then = at.copy(), np.full(len(moving), np.inf)
        worse: Any = slice(None)
        scale = 1.0
        for _ in range(most_steps):
            tried[:, worse] = np.maximum(at[:, worse] - scale * step[:, worse], least)
            values = derivatives(moving[worse], np.ascontiguousarray(tried[:, worse]))
            then[worse], slope[:, worse], curve[worse] = values
            worse, scale = np.flatnonzero(then > now + 1e-12 * np.abs(now)), scale / 2
            if not len(worse):
                break
        better = then <= now
        found[:, moving[better]] = tried[:, better]
        # What has hardly moved, or got no better, stays where it is.
        left = better & (np.abs(tried - at).max(axis=0) >= tolerance)
        moving, now, slope, curve = moving[left], then[left], slope[:, left], curve[left]
        if not len(moving):
            break
    return found
