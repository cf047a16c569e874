"""An exponential that compilers can take several at a time; `numpy.exp` in a loop they cannot."""

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
    series = 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    power = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return series * np.int64(power).view(np.float64)
