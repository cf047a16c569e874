"""An exponential and a logarithm that compilers can take several at a time.

Those of NumPy they cannot take so in a loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LOG2_E = 1.4426950408889634
# The logarithm of 2 in two parts; the first has zeros enough for an exact product with n.
LN2_HIGH, LN2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
# Added to a number of less than 2⁵¹, this leaves it rounded in the lowest bits.
ROUND = 6755399441055744.0


@njit(cache=True, fastmath={"contract"})
def exponential(x):
    """Return ``eˣ`` for ``x`` ≤ 0, to the last bit or two; below -708 it is that of -708.

    ``eˣ = 2ⁿ eʳ`` with n the nearest integer to ``x / ln 2``, so that ``|r| ≤ ln 2 / 2`` and
    twelve terms of its series are enough.
    """
    x = x if x > -708.0 else -708.0
    shifted = x * LOG2_E + ROUND
    n = shifted - ROUND
    r = x - n * LN2_HIGH - n * LN2_LOW
    # Pairs of terms, then pairs of these, so that few wait for another.
    square = r * r
    fourth = square * square
    low = 0.5 + r * (1.0 / 6.0)
    low += square * (1.0 / 24.0 + r * (1.0 / 120.0))
    high = 1.0 / 720.0 + r * (1.0 / 5040.0)
    high += square * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    top = 1.0 / 3628800.0 + r * (1.0 / 39916800.0) + square * (1.0 / 479001600.0)
    low += fourth * (high + fourth * top)
    series = 1.0 + (r + square * low)
    power = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return series * np.int64(power).view(np.float64)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def logarithm_beyond_one(x):
    """Return ``log(1 + x)`` for ``x`` from 0 to 1, to the last bit or two.

    It is twice the area tangent of ``z = x / (2 + x)``, and as ``z ≤ 1/3``, sixteen terms of its
    series are enough.
    """
    z = x / (2.0 + x)
    square = z * z
    series = 1.0 / 31.0
    series = series * square + 1.0 / 29.0
    series = series * square + 1.0 / 27.0
    series = series * square + 1.0 / 25.0
    series = series * square + 1.0 / 23.0
    series = series * square + 1.0 / 21.0
    series = series * square + 1.0 / 19.0
    series = series * square + 1.0 / 17.0
    series = series * square + 1.0 / 15.0
    series = series * square + 1.0 / 13.0
    series = series * square + 1.0 / 11.0
    series = series * square + 1.0 / 9.0
    series = series * square + 1.0 / 7.0
    series = series * square + 1.0 / 5.0
    series = series * square + 1.0 / 3.0
    return 2.0 * z * (series * square + 1.0)
