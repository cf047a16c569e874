"""Arithmetic in the finite field of q elements, vectorised over NumPy arrays."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def prime_power(q: int) -> tuple[int, int] | None:
    """Return ``(p, n)`` with ``q = p**n`` and `p` prime, or ``None`` if `q` is no prime power."""
    if q < 2:
        return None
    p = smallest_prime_factor(q)
    n, rest = 0, q
    while rest % p == 0:
        rest //= p
        n += 1
    return (p, n) if rest == 1 else None


def smallest_prime_factor(n: int) -> int:
    """Return the smallest prime that divides `n`, for `n` of at least 2."""
    if n % 2 == 0:
        return 2
    d = 3
    while d * d <= n:
        if n % d == 0:
            return d
        d += 2
    return n


class GaloisField:
    """The field of q elements, named by the integers 0 … q−1; 0 and 1 are themselves.

    For a prime q the elements are the residues. For ``q = p**n`` the integer's digits in base p
    are the coefficients of a polynomial, reduced by a polynomial of which ``x`` (the integer p)
    is a primitive root.

    Parameters
    ----------
    q : int
        A prime power.
    """

    def __init__(self, q: int) -> None:
        parts = prime_power(q)
        if parts is None:
            raise ValueError(f"q must be a prime power, got {q}.")
        self.q = q
        self.p, self.n = parts
        self._exp = _powers_of_primitive_element(self.p, self.n)
        self._log = np.zeros(q, dtype=np.int64)
        self._log[self._exp] = np.arange(q - 1)
        self._place = self.p ** np.arange(self.n, dtype=np.int64)
        self._digits = np.arange(q)[:, None] // self._place % self.p

    def add(self, a, b) -> NDArray[np.int64]:
        """Return ``a + b``."""
        if self.n == 1:
            return (np.asarray(a) + b) % self.p
        return (self._digits[a] + self._digits[b]) % self.p @ self._place

    def subtract(self, a, b) -> NDArray[np.int64]:
        """Return ``a − b``."""
        if self.n == 1:
            return (np.asarray(a) - b) % self.p
        return (self._digits[a] - self._digits[b]) % self.p @ self._place

    def multiply(self, a, b) -> NDArray[np.int64]:
        """Return ``a · b``."""
        a, b = np.asarray(a), np.asarray(b)
        product = self._exp[(self._log[a] + self._log[b]) % (self.q - 1)]
        return np.where((a == 0) | (b == 0), 0, product)

    def power(self, a, e: int) -> NDArray[np.int64]:
        """Return ``a ** e`` for ``e ≥ 1``."""
        a = np.asarray(a)
        return np.where(a == 0, 0, self._exp[self._log[a] * e % (self.q - 1)])

    def inverse(self, a) -> NDArray[np.int64]:
        """Return ``1 / a`` for non-zero `a`."""
        return self._exp[-self._log[a] % (self.q - 1)]

    def logarithm(self, a) -> NDArray[np.int64]:
        """Return the exponent to which `primitive` must be raised to give non-zero `a`."""
        return self._log[a]

    def exponential(self, e) -> NDArray[np.int64]:
        """Return ``primitive ** e``."""
        return self._exp[np.asarray(e) % (self.q - 1)]


@lru_cache(maxsize=64)
def galois_field(q: int) -> GaloisField:
    """Return the field of q elements, made once."""
    return GaloisField(q)


def _powers_of_primitive_element(p: int, n: int) -> NDArray[np.int64]:
    """Powers 0 … q−2 of a generator of the multiplicative group, as integers in base p."""
    q = p**n
    if n == 1:
        candidates = (_power_cycle_of_integer(g, p) for g in range(1, p))
    else:
        # The low coefficients of the monic polynomial that x**n is reduced by.
        candidates = (_power_cycle_of_x(low, p, n) for low in range(1, q))
    for powers in candidates:
        if len(powers) == q - 1:
            return np.array(powers, dtype=np.int64)
    raise AssertionError(f"no primitive element of GF({q})")


def _power_cycle_of_integer(g: int, p: int) -> list[int]:
    powers, value = [1], g
    while value != 1:
        powers.append(value)
        value = value * g % p
    return powers


def _power_cycle_of_x(low: int, p: int, n: int) -> list[int]:
    coefficients = [low // p**i % p for i in range(n)]
    powers: list[int] = []
    value = [1] + [0] * (n - 1)
    one = value
    while True:
        powers.append(sum(c * p**i for i, c in enumerate(value)))
        top = value[-1]
        value = [(c - top * l) % p for c, l in zip([0, *value[:-1]], coefficients, strict=True)]
        if value == one or not any(value) or len(powers) >= p**n:
            return powers if value == one else []
