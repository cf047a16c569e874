"""Compiled hill-climbing for systems of triples."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.random_kernels import below, seeded


@njit(cache=True)
def _take_live(live, place, degree, x, y):
    """Remove `y` from the live neighbours of `x`."""
    last = live[x, degree[x] - 1]
    at = place[x, y]
    live[x, at] = last
    place[x, last] = at
    degree[x] -= 1


@njit(cache=True)
def _give_live(live, place, degree, x, y):
    """Add `y` to the live neighbours of `x`."""
    live[x, degree[x]] = y
    place[x, y] = degree[x]
    degree[x] += 1


@njit(cache=True)
def _change_pair(x, y, z, step, wanted, third, used, live, place, degree):
    """Add (step 1) or remove (step −1) the triple xyz at the pair xy, both ways round."""
    for _ in range(2):
        if step == 1:
            third[x, y, used[x, y]] = z
            used[x, y] += 1
            if used[x, y] == wanted[x, y]:
                _take_live(live, place, degree, x, y)
        else:
            if used[x, y] == wanted[x, y]:
                _give_live(live, place, degree, x, y)
            last = used[x, y] - 1
            for s in range(last):
                if third[x, y, s] == z:
                    third[x, y, s] = third[x, y, last]
                    break
            used[x, y] = last
        x, y = y, x


@njit(cache=True)
def climb_triples(wanted, most_steps, seed):
    """Triples in which each pair xy occurs ``wanted[x, y]`` times, by Stinson's hill-climbing.

    Parameters
    ----------
    wanted : array of shape (m, m)
        Symmetric multiplicities with a zero diagonal; each row sums to an even number and the
        whole to a multiple of six.
    most_steps : int
        When to give up.
    seed : int

    Returns
    -------
    array of shape (count, 3)
        Fewer triples than wanted if the climb was given up.
    """
    state = seeded(seed)
    m = len(wanted)
    target = wanted.sum() // 6
    third = np.zeros((m, m, wanted.max()), dtype=np.int32)
    used = np.zeros((m, m), dtype=np.int8)
    live = np.zeros((m, m), dtype=np.int32)
    place = np.zeros((m, m), dtype=np.int32)
    degree = np.zeros(m, dtype=np.int64)
    for a in range(m):
        for b in range(m):
            if wanted[a, b] > 0:
                _give_live(live, place, degree, a, b)
    count = 0
    # Labels with a live pair, so that a step never looks for one.
    open_labels = np.arange(m)
    n_open = m
    for _ in range(most_steps):
        if count == target:
            break
        at = below(state, n_open)
        x = open_labels[at]
        if degree[x] < 2:
            if degree[x] == 0:
                n_open -= 1
                open_labels[at] = open_labels[n_open]
            if n_open == 0:
                break
            continue
        i = below(state, degree[x])
        j = below(state, degree[x] - 1)
        if j >= i:
            j += 1
        y, z = np.int64(live[x, i]), np.int64(live[x, j])
        if used[y, z] == wanted[y, z]:
            # The pair yz is spent: the new triple takes the place of one that holds it.
            w = np.int64(third[y, z, below(state, used[y, z])])
            if w == x:
                continue
            if degree[w] == 0:
                known = False
                for o in range(n_open):
                    if open_labels[o] == w:
                        known = True
                        break
                if not known:
                    open_labels[n_open] = w
                    n_open += 1
            _change_pair(y, z, w, -1, wanted, third, used, live, place, degree)
            _change_pair(y, w, z, -1, wanted, third, used, live, place, degree)
            _change_pair(z, w, y, -1, wanted, third, used, live, place, degree)
            count -= 1
        _change_pair(x, y, z, 1, wanted, third, used, live, place, degree)
        _change_pair(x, z, y, 1, wanted, third, used, live, place, degree)
        _change_pair(y, z, x, 1, wanted, third, used, live, place, degree)
        count += 1
    return _listed_triples(third, used, count)


@njit(cache=True)
def _listed_triples(third, used, count):
    m = len(used)
    out = np.empty((count, 3), dtype=np.int32)
    at = 0
    for x in range(m):
        for y in range(x + 1, m):
            for s in range(used[x, y]):
                z = third[x, y, s]
                if z > y:
                    out[at, 0], out[at, 1], out[at, 2] = x, y, z
                    at += 1
    return out
