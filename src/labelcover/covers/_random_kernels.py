"""Random numbers for compiled loops: the state is an argument, never global."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def seeded(seed):
    """Return a generator's state for `seed`, an array of one 64-bit word (splitmix64)."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state = np.empty(1, dtype=np.uint64)
    state[0] = (z ^ (z >> np.uint64(31))) | np.uint64(1)
    return state


@njit(cache=True)
def _next_word(state):
    """Step the generator (xorshift64*, Vigna 2016) and return 64 bits."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@njit(cache=True)
def below(state, n):
    """Return a random integer of ``0 … n−1``, for n below 2³²."""
    high = _next_word(state) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))


@njit(cache=True)
def uniform(state):
    """Return a random number in ``[0, 1)``."""
    return np.float64(_next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
