"""Newton's method for many small convex problems at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._convex_minima import newton_minima
    >>> wanted = np.array([3.0, -1.0])
    >>> def derivatives(which, x):
    ...     away = x - wanted[which]
    ...     return (away**2)[0], 2 * away, np.full((len(which), 1, 1), 2.0)
    >>> newton_minima(derivatives, np.ones((1, 2)), low=0.0, tolerance=1e-9, most_steps=9)
    array([[3., 0.]])
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
        free = ~fixed.T
        kept = curve * (free[:, :, None] & free[:, None, :])
        kept[:, np.arange(d), np.arange(d)] += fixed.T
        step = np.linalg.solve(kept, (slope * ~fixed).T[:, :, None])[:, :, 0].T
        tried, then = at.copy(), np.full(len(moving), np.inf)
        worse, scale = np.arange(len(moving)), 1.0
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
