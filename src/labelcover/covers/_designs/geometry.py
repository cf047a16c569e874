"""Finite fields, and lines and circles of the geometries over them.

In the designs of the geometries every pair or triple lies once; their functions return the blocks
as an array of point indices, a row per block.
"""

from functools import lru_cache
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

Blocks = NDArray[np.int64]


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
    is a primitive root. The logarithm of an element, which is not that of 0, is the power of the
    primitive element that it is.
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
        product = self.exponential(self._log[a] + self._log[b])
        return np.where((np.asarray(a) == 0) | (np.asarray(b) == 0), 0, product)

    def power(self, a, e: int) -> NDArray[np.int64]:
        """Return ``a ** e`` for ``e ≥ 1``, or for any e if `a` is not zero."""
        return np.where(np.asarray(a) == 0, 0, self.exponential(self._log[a] * e))

    def logarithm(self, a) -> NDArray[np.int64]:
        """Return the logarithm of `a`."""
        return self._log[a]

    def exponential(self, e) -> NDArray[np.int64]:
        """Return the element whose logarithm is `e`, modulo q − 1."""
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
        coefficients = [low // p**i % p for i in range(n)]
        value = one = [1] + [0] * (n - 1)
        powers: list[int] = []
        while any(value) and (value != one or not powers) and len(powers) < q:
            powers.append(sum(c * p**i for i, c in enumerate(value)))
            shifted = zip([0, *value[:-1]], coefficients, strict=True)
            value = [(c - value[-1] * l) % p for c, l in shifted]
        if value == one and len(powers) == q - 1:
            return np.array(powers, dtype=np.int64)
    raise AssertionError(f"no primitive element of GF({q})")


def affine_lines(dimension: int, q: int) -> Blocks:
    """Return the lines of AG(n, q): ``q**n`` points, every pair on one line of q points."""
    directions = _directions(dimension, q)
    return np.vstack([_parallel_class(dimension, q, direction) for direction in directions])


def projective_lines(dimension: int, q: int) -> Blocks:
    """Return the lines of PG(n, q): every pair of its points on one line of q+1 points.

    AG(n, q) with a point at infinity on all the lines of each direction, and PG(n−1, q) on
    those points.
    """
    if dimension == 1:
        return np.arange(q + 1)[None, :]
    finite = q**dimension
    at_infinity = projective_lines(dimension - 1, q) + finite
    rows = [at_infinity]
    for i, direction in enumerate(_directions(dimension, q)):
        lines = _parallel_class(dimension, q, direction)
        rows.append(np.column_stack([lines, np.full(len(lines), finite + i)]))
    return np.vstack(rows)


def hermitian_unital(q: int) -> Blocks:
    """Return the unital of PG(2, q²): ``q**3 + 1`` points, every pair in one block of q+1.

    The points with ``x**(q+1) + y**(q+1) + z**(q+1) = 0``, and the lines that meet them in more
    than one point (Bose 1958).
    """
    field = galois_field(q * q)
    points = _directions(3, q * q)
    norms = field.power(points, q + 1)
    total = field.add(field.add(norms[:, 0], norms[:, 1]), norms[:, 2])
    return _restricted(projective_lines(2, q * q), np.flatnonzero(total == 0))


def denniston_arc(degree: int, q: int) -> Blocks:
    """Return the lines of a maximal arc of AG(2, q): every pair in one block of `degree` points.

    Both are powers of two and ``degree < q``; there are ``(q+1)(degree−1) + 1`` points: those
    where an irreducible quadratic form takes values in an additive subgroup of order `degree`
    (Denniston 1969).
    """
    field = galois_field(q)
    x, y = np.divmod(np.arange(q * q), q)
    elements = np.arange(q)
    squares = field.multiply(elements, elements)
    for b in range(1, q):
        values = field.add(field.add(squares, field.multiply(b, elements)), 1)
        if (values != 0).all():
            break
    product = field.multiply(b, field.multiply(x, y))
    form = field.add(field.add(squares[x], product), squares[y])
    return _restricted(affine_lines(2, q), np.flatnonzero(form < degree))


def sphere_circles(q: int, dimension: int) -> Blocks:
    """Return the circles of the geometry over GF(qⁿ) ∪ {∞}: every triple in one of q+1 points.

    The images of GF(q) ∪ {∞} under the maps ``z → (az+b)/(cz+d)`` of GF(qⁿ) (Witt 1938): a
    Steiner system S(3, q+1, qⁿ+1). The point ∞ is the last.
    """
    size = q**dimension
    field = galois_field(size)
    base = np.flatnonzero(field.power(np.arange(size), q) == np.arange(size))
    circles = []
    seen = np.zeros((size + 1,) * 3, dtype=bool)
    pairs, triples = combinations(range(size), 2), combinations(range(size), 3)
    for x, y, z in chain(((x, y, size) for x, y in pairs), triples):
        if not seen[x, y, z]:
            circle = np.sort(_circle(field, base, x, y, z))
            circles.append(circle)
            a, b, c = np.array(list(combinations(circle, 3))).T
            seen[a, b, c] = True
    return np.array(circles)


def binary_planes(dimension: int) -> Blocks:
    """Return the planes of AG(n, 2): ``2**n`` points, every triple in one block of four."""
    triples = combinations(range(2**dimension), 3)
    return np.array([(x, y, z, x ^ y ^ z) for x, y, z in triples if x ^ y ^ z > z])


def _circle(field, base, x, y, z):
    """Return the image of GF(q) ∪ {∞} under the map that takes 0, 1, ∞ to x, y, z."""
    if z == field.q:  # infinity
        return np.append(field.add(x, field.multiply(field.subtract(y, x), base)), z)
    # t → (x + z·c·t) / (1 + c·t) with c = (y − x) / (z − y).
    c = field.multiply(field.subtract(y, x), field.power(field.subtract(z, y), -1))
    ct = field.multiply(c, base)
    top = field.add(x, field.multiply(z, ct))
    bottom = field.add(1, ct)
    image = np.full(len(base), field.q)
    finite = bottom != 0
    image[finite] = field.multiply(top[finite], field.power(bottom[finite], -1))
    return np.append(image, z)


def _directions(dimension: int, q: int) -> NDArray[np.int64]:
    """One vector for each point of PG(n−1, q) in the order in which `projective_lines` has them."""
    if dimension == 1:
        return np.ones((1, 1), dtype=np.int64)
    finite = np.array(np.unravel_index(np.arange(q ** (dimension - 1)), (q,) * (dimension - 1))).T
    finite = np.column_stack([finite, np.ones(len(finite), dtype=np.int64)])
    rest = _directions(dimension - 1, q)
    return np.vstack([finite, np.column_stack([rest, np.zeros(len(rest), dtype=np.int64)])])


def _parallel_class(dimension: int, q: int, direction: NDArray[np.int64]) -> Blocks:
    """Return the lines of one direction: each point once."""
    field = galois_field(q)
    place = q ** np.arange(dimension - 1, -1, -1)
    points = np.arange(q**dimension)[:, None] // place % q
    steps = field.multiply(np.arange(q)[:, None], direction)
    through = field.add(points[:, None, :], steps[None, :, :]) @ place
    first = through.min(axis=1) == np.arange(q**dimension)
    return through[first]


def _restricted(blocks: Blocks, points: NDArray[np.int64]) -> Blocks:
    """Return the blocks met in more than one of `points`, renumbered; all of one size."""
    name = np.full(int(blocks.max()) + 1, -1)
    name[points] = np.arange(len(points))
    met = name[blocks]
    return np.array([row[row >= 0] for row in met if (row >= 0).sum() > 1])
