"""The binary SVM of one pair of classes, by the steps that WEKA's SMO takes, and pairs coupled.

The method is Platt's sequential minimal optimization with the two thresholds and the first
modification of Keerthi, Shevade, Bhattacharyya and Murthy (2001). It stops at a loose tolerance, so
that its answer depends on its path. To end where WEKA ends, the path is the same to the last bit:
rows in the order of Java's random numbers, sums from left to right, and of equal errors the one of
the row that moved inside its bounds last.

The table is as in `slot_kernels`, with `gram`, the products of all its rows, or empty. The rows of
a pair, and those of them that are inside their bounds, are as in `slot_kernels`.
"""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._smo.slot_kernels import (
    ALPHA,
    BOUND,
    ERROR,
    FREE,
    INSIDE,
    KERNEL,
    LARGEST,
    LEAST,
    LOW,
    NORM,
    ROW,
    SIDE,
    SIGN,
    SLOT,
    SLOTS,
    UP,
    add_products,
    add_row,
    enter_slot,
    fill_row,
    find_extremes,
    packed_slots,
    refresh_products,
    row_product,
    settle,
)

JAVA_SEED = 1 ^ 0x5DEECE66D  # the state of java.util.Random(1)
LEAST_MOVE = 1e-12
MOST_STEPS = 10_000_000  # a tolerance near the rounding errors might never be reached
COUPLING_TOLERANCE = 1e-3
MOST_COUPLING_STEPS = 1000


@njit(nogil=True)
def fit_binary_svms(
    data, indices, indptr, gram, n_columns, by_class, starts, first, second, bound, tol
):
    """Return weights and threshold of every pair of classes; the output is ``w @ x - threshold``.

    Parameters
    ----------
    data, indices, indptr, gram : ndarray
        The table (see above); `gram` of shape (0, 0) if it is not at hand.
    n_columns : int
    by_class, starts : ndarray, int64
        The rows of class ``c`` are ``by_class[starts[c]:starts[c + 1]]``.
    first, second : ndarray of shape (pairs,)
        All pairs of classes. Where only one of the two has rows, the threshold alone speaks for it.
    bound : ndarray of shape (n,)
        The cost of a row outside the margin.
    tol : float
    """
    weights = np.zeros((len(first), n_columns))
    threshold = np.zeros(len(first))
    state = np.int64(JAVA_SEED)  # a constant would be a type of its own to the compiler
    for p in range(len(first)):
        a = by_class[starts[first[p]] : starts[first[p] + 1]]
        b = by_class[starts[second[p]] : starts[second[p] + 1]]
        order = np.arange(len(a) + len(b))
        state = _shuffle(order, state)
        if len(a) == 0 or len(b) == 0:
            threshold[p] = 1.0 if len(b) == 0 else -1.0
            continue
        rows = np.concatenate((a, b))[order]
        number = np.zeros((len(rows), 5))
        for i in range(len(rows)):  # assignments of arrays take seconds to compile
            number[i, SIGN] = -1.0 if order[i] < len(a) else 1.0
            number[i, BOUND] = bound[rows[i]]
        threshold[p] = _fit_binary_svm(data, indices, indptr, gram, rows, number, tol, weights[p])
    return weights, threshold


@njit(**KERNEL)
def _shuffle(order, state):
    """Shuffle as Java does with the random numbers of `state`; return the state after it."""
    for last in range(len(order) - 1, 0, -1):
        n = last + 1
        while True:
            state = (state * 0x5DEECE66D + 0xB) & 0xFFFFFFFFFFFF
            bits = state >> 17
            i = (n * bits) >> 31 if n & (n - 1) == 0 else bits % n
            if bits - bits % n + last < 1 << 31:
                break
        order[last], order[i] = order[i], order[last]
    return state


@njit
def _fit_binary_svm(data, indices, indptr, gram, rows, number, tol, w):
    """Fill in the weights `w` of the SVM of these rows; return its threshold."""
    n = len(rows)
    place = np.zeros((n, 3), np.int64)
    extreme, holder = np.array([-1.0, 1.0]), np.zeros(2, np.int64)
    for i in range(n):
        is_second = number[i, SIGN] > 0
        place[i, ROW], place[i, SIDE] = rows[i], UP if is_second else LOW
        number[i, ERROR] = -number[i, SIGN]
        for k in range(indptr[rows[i]], indptr[rows[i] + 1]):
            number[i, NORM] += data[k] * data[k]
        holder[LEAST if is_second else LARGEST] = i
    products, errors, members = np.empty((64, 64)), np.empty(64), np.zeros((5, 64), np.int64)
    used, progress = np.zeros(3, np.int64), np.array([0, 0, 1, 0])
    x = np.empty_like(w)
    while not _advance(
        data, indices, indptr, gram, number, place, products, errors, members, used,
        extreme, holder, progress, tol, x, w,
    ):  # fmt: skip
        products, errors, members = packed_slots(place, products, errors, members, used)
    return (extreme[LARGEST] + extreme[LEAST]) / 2


@njit(**KERNEL)
def _advance(
    data, indices, indptr, gram, number, place, products, errors, members, used,
    extreme, holder, progress, tol, x, w,
):  # fmt: skip
    """Sweep over the rows until the optimum is reached; False if the slots must be packed first.

    A sweep looks at all rows or at those inside only. `progress` is where the sweep is, how many
    steps were taken, whether the sweep is of all rows and whether it has changed anything.
    """
    n = len(place)
    i, steps, whole, changed = progress
    while steps < MOST_STEPS:
        while i < n:
            if place[i, SIDE] != INSIDE:
                if not whole:
                    i += 1
                    continue
                output = row_product(data, indices, indptr, place[i, ROW], w)
                number[i, ERROR] = output - number[i, SIGN]
                _count(number, place, extreme, holder, i)
            other = _partner(number, place, errors, extreme, holder, i, tol)
            if other >= 0:
                has_room = used[SLOTS] + 2 <= len(errors) and used[FREE] <= 16 + used[SLOTS] // 4
                if not has_room:
                    progress[0], progress[1], progress[2], progress[3] = i, steps, whole, changed
                    return False
                if _step(
                    data, indices, indptr, gram, number, place, products, errors, members,
                    used, extreme, holder, other, i, x, w,
                ):  # fmt: skip
                    changed = 1
                    steps += 1
            if not whole and extreme[LEAST] > extreme[LARGEST] - 2 * tol:
                changed = 0
                break
            i += 1
        if whole and not changed:
            return True
        i, whole, changed = 0, not whole and not changed, 0
    return True


@njit(**KERNEL)
def _count(number, place, extreme, holder, i):
    """Let the error of row `i`, if not inside, be an extreme if it is one."""
    error, side = number[i, ERROR], place[i, SIDE]
    if side == UP and error < extreme[LEAST]:
        extreme[LEAST], holder[LEAST] = error, i
    elif side == LOW and error > extreme[LARGEST]:
        extreme[LARGEST], holder[LARGEST] = error, i


@njit(**KERNEL)
def _error(number, place, errors, i):
    return errors[place[i, SLOT]] if place[i, SIDE] == INSIDE else number[i, ERROR]


@njit(**KERNEL)
def _partner(number, place, errors, extreme, holder, i, tol):
    """Return with which row `i` violates the optimum most, -1 if with none."""
    error, side = _error(number, place, errors, i), place[i, SIDE]
    below, above = extreme[LARGEST] - error, error - extreme[LEAST]
    too_low = side != LOW and below > 2 * tol
    too_high = side != UP and above > 2 * tol
    if not (too_low or too_high):
        return -1
    if side == INSIDE:
        return holder[LARGEST if below > above else LEAST]
    return holder[LARGEST if too_low else LEAST]


@njit(**KERNEL)
def _step(
    data, indices, indptr, gram, number, place, products, errors, members, used,
    extreme, holder, i, j, x, w,
):  # fmt: skip
    """Move the multipliers of rows `i` and `j` to their best; tell whether they moved at all."""
    row_i, row_j = place[i, ROW], place[j, ROW]
    came_i, came_j = place[i, SIDE] != INSIDE, place[j, SIDE] != INSIDE
    if not came_i and not came_j:
        s, t = place[i, SLOT], place[j, SLOT]
        refresh_products(data, indices, indptr, gram, products, members, used, s, x)
        product = products[s, t]
    elif len(gram):
        product = gram[row_i, row_j]
    else:
        fill_row(data, indices, indptr, row_i, x)
        product = row_product(data, indices, indptr, row_j, x)
    error_i, error_j = _error(number, place, errors, i), _error(number, place, errors, j)
    a, b = _best(number, i, j, error_i, error_j, product)
    if i == j or a < 0.0:
        return False
    d = number[i, SIGN] * (a - number[i, ALPHA])
    e = number[j, SIGN] * (b - number[j, ALPHA])
    number[i, ALPHA], number[j, ALPHA] = a, b
    add_row(data, indices, indptr, row_i, d, w)
    add_row(data, indices, indptr, row_j, e, w)
    if came_i:
        enter_slot(number, place, errors, members, used, i)
    if came_j:
        enter_slot(number, place, errors, members, used, j)
    end = used[SLOTS]
    s, t = place[i, SLOT], place[j, SLOT]
    fresh, stale = (t, s) if came_j else (s, t)
    refresh_products(data, indices, indptr, gram, products, members, used, fresh, x)
    refresh_products(data, indices, indptr, gram, products, members, used, stale, x)
    add_products(errors[:end], products[s, :end], d, products[t, :end], e)
    settle(number, place, errors, members, used, i)
    settle(number, place, errors, members, used, j)
    find_extremes(errors[:end], members, extreme, holder)
    _count(number, place, extreme, holder, i)
    _count(number, place, extreme, holder, j)
    return True


@njit(**KERNEL)
def _best(number, i, j, error_i, error_j, product):
    """Return the best multipliers of two rows, all others fixed; -1 where they hardly move."""
    a, b, bound = number[i, ALPHA], number[j, ALPHA], number[i, BOUND]
    if number[i, SIGN] == number[j, SIGN]:
        low, high = max(0.0, a + b - bound), min(number[j, BOUND], a + b)
    else:
        low, high = max(0.0, b - a), min(number[j, BOUND], bound + b - a)
    if low >= high:
        return -1.0, -1.0
    slope = number[j, SIGN] * (error_i - error_j)
    curvature = 2 * product - number[i, NORM] - number[j, NORM]
    if curvature < 0:
        best = min(max(b - slope / curvature, low), high)
    else:
        gain = slope * (high - low)
        best = high if gain > LEAST_MOVE else low if gain < -LEAST_MOVE else b
    if abs(best - b) < LEAST_MOVE * (best + b + LEAST_MOVE):
        return -1.0, -1.0
    rest = a + number[i, SIGN] * number[j, SIGN] * (b - best)
    return min(max(rest, 0.0), bound), best


@njit(nogil=True)
def coupled_distributions(outputs, first, second, logistic, size, starts, offsets):
    """Return class distributions from the pairs' probabilities (Hastie and Tibshirani, 1998).

    The probability of the second class of pair ``p`` is the logistic function of
    ``logistic[p, 0] * output + logistic[p, 1]``.

    Parameters
    ----------
    outputs : ndarray of shape (n, pairs)
    first, second : ndarray of shape (pairs,)
        The classes of each pair.
    logistic : ndarray of shape (pairs, 2)
    size : ndarray of shape (pairs,)
        Training weight of the pair.
    starts : ndarray of shape (problems + 1,)
        The pairs of problem ``j`` are ``starts[j]:starts[j + 1]``.
    offsets : ndarray of shape (problems + 1,)
        Its classes are the columns ``offsets[j]:offsets[j + 1]`` of the answer.
    """
    answers = np.zeros((len(outputs), offsets[-1]))
    for j in range(len(starts) - 1):
        n_classes = offsets[j + 1] - offsets[j]
        for i in range(len(outputs)):
            r = np.zeros((n_classes, n_classes))
            n = np.zeros((n_classes, n_classes))
            for p in range(starts[j], starts[j + 1]):
                a, b = first[p], second[p]
                z = logistic[p, 0] * outputs[i, p] + logistic[p, 1]
                r[b, a] = 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0
                r[a, b] = 1.0 - r[b, a]
                n[a, b] = n[b, a] = size[p]
            coupled = _couple(r, n)
            for c in range(n_classes):
                answers[i, offsets[j] + c] = coupled[c]
    return answers


@njit
def _couple(r, n):
    """Return p such that p[a] / (p[a] + p[b]) fits r[a, b], weighted by n[a, b].

    Where there are no pairs, nothing moves: a single class has all.
    """
    k = len(r)
    p = np.full(k, 1.0 / k)
    if n.sum() == 0.0:
        return p
    for _ in range(MOST_COUPLING_STEPS):
        moved = 0.0
        for a in range(k):
            wanted, has = 0.0, 0.0
            for b in range(k):
                if b != a and n[a, b] > 0.0:
                    wanted += n[a, b] * r[a, b]
                    both = p[a] + p[b]
                    has += n[a, b] * (p[a] / both if both > 0.0 else 0.5)
            factor = wanted / has if has > 0.0 else 0.0 if wanted == 0.0 else 1.0
            moved = max(moved, abs(factor - 1.0) if p[a] > 1e-12 else 0.0)
            rest = p.sum() - p[a]
            if rest + p[a] * factor == 0.0:
                continue
            p[a] *= factor
            p /= p.sum()
        if moved < COUPLING_TOLERANCE:
            break
    return p
