"""Arithmetic in the finite field of q elements, vectorised over NumPy arrays."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def prime_powers(n: int) -> list[tuple[int, int]]:
    """Return ``(p, e)`` for each prime p that divides `n`, the product of all ``p**e``."""
    found = []
    p = 2
    while n > 1:
        if p * p > n:
            p = n
        e = 0
        while n % p == 0:
            n //= p
            e += 1
        if e:
            found.append((p, e))
        p += 1
    return found


def prime_power(q: int) -> tuple[int, int] | None:
    """Return ``(p, n)`` with ``q = p**n`` and `p` prime, or ``None`` if `q` is no prime power."""
    parts = prime_powers(q)
    return parts[0] if len(parts) == 1 else None


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
        return (self._digits[a] + self._digits[b]) % self.p @ self._place

    def subtract(self, a, b) -> NDArray[np.int64]:
        """Return ``a − b``."""
        return (self._digits[a] - self._digits[b]) % self.p @ self._place

    def multiply(self, a, b) -> NDArray[np.int64]:
        """Return ``a · b``."""
        a, b = np.asarray(a), np.asarray(b)
        product = self._exp[(self._log[a] + self._log[b]) % (self.q - 1)]
        return np.where((a == 0) | (b == 0), 0, product)

    def power(self, a, e: int) -> NDArray[np.int64]:
        """Return ``a ** e`` for ``e ≥ 1``, or for any e if `a` is not zero."""
        a = np.asarray(a)
        return np.where(a == 0, 0, self._exp[self._log[a] * e % (self.q - 1)])

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
    # The low coefficients of the monic polynomial that x**n is reduced by. For n = 1 its root is
    # minus the only one, so that the least generator is found first.
    for low in range(1, q) if n > 1 else range(q - 1, 0, -1):
        powers = _power_cycle_of_x(low, p, n)
        if len(powers) == q - 1:
            return np.array(powers, dtype=np.int64)
    raise AssertionError(f"no primitive element of GF({q})")


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
