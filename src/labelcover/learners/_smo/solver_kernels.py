"""The binary SVM of one pair of classes, by the steps that WEKA's SMO takes, and pairs coupled.

The method is Platt's sequential minimal optimization with the two thresholds and the first
modification of Keerthi, Shevade, Bhattacharyya and Murthy (2001). It stops at a loose tolerance, so
that its answer depends on its path. To end where WEKA ends, the path is the same to the last bit:
rows in the order of Java's random numbers, sums from left to right, and of equal errors the one of
the row that moved inside its bounds last.

What functions share:

- the table: `data`, `indices` and `indptr` as in a CSR array with sorted indices, where a row with
  a value in every column needs no indices; and `gram`, the products of all its rows, or empty;
- the rows of the pair in the order in which they are examined: `number` and `place`, a row each,
  with the columns named below. The error is the output without threshold less the sign, when last
  computed;
- the slots of the rows inside their bounds: their `products` with each other, `errors` (always up
  to date), `members` (which row of the pair it is, which of the table, and when it came), and
  `used`: how many slots are in use, and how many rows ever came;
- the extremes: `extreme` and `holder`, the least error that counts, the largest, and whose they
  are.
"""

import math

import numpy as np
from numba.core.cpu import CPUTargetOptions

from labelcover._compiled import njit

# What allocates nothing need not count references to arrays; a fit then takes a third less time.
# The option is numba's own, so it is used only where this numba has it.
KERNEL = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}

JAVA_SEED = 1 ^ 0x5DEECE66D  # the state of java.util.Random(1)
LEAST_MOVE = 1e-12
MOST_STEPS = 10_000_000  # a tolerance near the rounding errors might never be reached
COUPLING_TOLERANCE = 1e-3
MOST_COUPLING_STEPS = 1000

GRAM_BLOCK = 128
APART = 8  # rows of a power of two of numbers would drive each other's columns from the cache
SIGN, BOUND, ALPHA, ERROR, NORM = range(5)  # columns of `number`
ROW, SIDE, SLOT = range(3)  # columns of `place`
# The error of a row counts as least unless its side is LOW, and as largest unless it is UP.
INSIDE, UP, LOW = range(3)
PAIR_ROW, TABLE_ROW, TURN = range(3)  # rows of `members`
SLOTS, TURNS = range(2)  # entries of `used`
LEAST, LARGEST = range(2)


@njit(nogil=True)
def dense_gram(x, transposed, gram):
    """Fill in the products of all pairs of rows of `x`, each summed from left to right."""
    n = len(x)
    for start in range(0, n, GRAM_BLOCK):  # columns by columns, so that they stay in the cache
        for i in range(start, n):
            end = min(start + GRAM_BLOCK, i + 1)
            sums = gram[i, start:end]
            for j in range(len(sums)):
                sums[j] = 0.0
            for k in range(x.shape[1]):
                factor, column = x[i, k], transposed[k, start:end]
                for j in range(len(sums)):
                    sums[j] += factor * column[j]
            for j in range(start, end):
                gram[j, i] = gram[i, j]


@njit(nogil=True)
def fit_binary_svms(table, n_columns, by_class, starts, first, second, bound, tol):
    """Return weights and threshold of every pair of classes; the output is ``w @ x - threshold``.

    The rows of class ``c`` are ``by_class[starts[c]:starts[c + 1]]``, and `bound` is what each row
    costs outside the margin. Where only one class of a pair has rows, the threshold alone speaks
    for it.
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
        threshold[p] = _fit_binary_svm(table, rows, order >= len(a), bound, tol, weights[p])
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
def _fit_binary_svm(table, rows, is_second, bound, tol, w):
    """Fill in the weights `w` of the SVM of these rows; return its threshold."""
    data, _, indptr, _ = table
    number, place = np.zeros((len(rows), 5)), np.zeros((len(rows), 3), np.int64)
    extreme, holder = np.array([-1.0, 1.0]), np.zeros(2, np.int64)
    for i in range(len(rows)):
        row, sign = rows[i], 1.0 if is_second[i] else -1.0
        place[i, ROW], place[i, SIDE] = row, UP if is_second[i] else LOW
        number[i, SIGN], number[i, ERROR], number[i, BOUND] = sign, -sign, bound[row]
        for k in range(indptr[row], indptr[row + 1]):
            number[i, NORM] += data[k] * data[k]
        holder[LEAST if is_second[i] else LARGEST] = i
    pair, extremes = (number, place), (extreme, holder)
    errors, members, used = np.empty(64), np.zeros((3, 64), np.int64), np.zeros(2, np.int64)
    slots = np.empty((64, 64 + APART)), errors, members, used
    progress, x = np.array([0, 0, 1, 0]), np.empty_like(w)
    while not _advance(table, pair, slots, extremes, progress, tol, x, w):
        slots = _more_slots(slots)
    return (extreme[LARGEST] + extreme[LEAST]) / 2


@njit
def _more_slots(slots):
    """Return twice as many slots, of which the first hold what these hold."""
    products, errors, members, used = slots
    held = len(errors)
    more = np.empty((2 * held, 2 * held + APART))
    for s in range(held):
        for t in range(held):
            more[s, t] = products[s, t]
    return more, np.append(errors, errors), np.concatenate((members, members), axis=1), used


@njit(**KERNEL)
def _advance(table, pair, slots, extremes, progress, tol, x, w):
    """Sweep over the rows until the optimum is reached; False if more slots are needed first.

    A sweep looks at all rows or at those inside only. `progress` is where the sweep is, how many
    steps were taken, whether the sweep is of all rows and whether it has changed anything.
    """
    (number, place), (extreme, _), (_, errors, _, used) = pair, extremes, slots
    n = len(place)
    i, steps, whole, changed = progress
    while steps < MOST_STEPS:
        while i < n:
            if place[i, SIDE] != INSIDE:
                if not whole:
                    i += 1
                    continue
                number[i, ERROR] = _row_product(table, place[i, ROW], w) - number[i, SIGN]
                _count(pair, extremes, i)
            other = _partner(pair, errors, extremes, i, tol)
            if other >= 0:
                if used[SLOTS] + 2 > len(errors):
                    progress[0], progress[1], progress[2], progress[3] = i, steps, whole, changed
                    return False
                if _step(table, pair, slots, extremes, other, i, x, w):
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
def _row_product(table, row, w):
    """Return the product of a row of the table with `w`, summed from left to right."""
    data, indices, indptr, _ = table
    start, end = indptr[row], indptr[row + 1]
    x = data[start:end]
    total = 0.0
    if len(x) == len(w):
        for k in range(len(x)):
            total += w[k] * x[k]
    else:
        column = indices[start:end]
        for k in range(len(x)):
            total += w[column[k]] * x[k]
    return total


@njit(**KERNEL)
def _add_row(table, row, factor, w):
    """Add a multiple of a row of the table to `w`."""
    data, indices, indptr, _ = table
    start, end = indptr[row], indptr[row + 1]
    x = data[start:end]
    if len(x) == len(w):
        for k in range(len(x)):
            w[k] += factor * x[k]
    else:
        column = indices[start:end]
        for k in range(len(x)):
            w[column[k]] += factor * x[k]


@njit(**KERNEL)
def _fill_row(table, row, x):
    """Make `x` a row of the table."""
    for k in range(len(x)):
        x[k] = 0.0
    _add_row(table, row, 1.0, x)


@njit(**KERNEL)
def _count(pair, extremes, i):
    """Let the error of row `i`, if not inside, be an extreme if it is one."""
    (number, place), (extreme, holder) = pair, extremes
    error, side = number[i, ERROR], place[i, SIDE]
    if side == UP and error < extreme[LEAST]:
        extreme[LEAST], holder[LEAST] = error, i
    elif side == LOW and error > extreme[LARGEST]:
        extreme[LARGEST], holder[LARGEST] = error, i


@njit(**KERNEL)
def _error(pair, errors, i):
    number, place = pair
    return errors[place[i, SLOT]] if place[i, SIDE] == INSIDE else number[i, ERROR]


@njit(**KERNEL)
def _partner(pair, errors, extremes, i, tol):
    """Return with which row `i` violates the optimum most, -1 if with none."""
    extreme, holder = extremes
    error, side = _error(pair, errors, i), pair[1][i, SIDE]
    below, above = extreme[LARGEST] - error, error - extreme[LEAST]
    too_low = side != LOW and below > 2 * tol
    too_high = side != UP and above > 2 * tol
    if not (too_low or too_high):
        return -1
    if side == INSIDE:
        return holder[LARGEST if below > above else LEAST]
    return holder[LARGEST if too_low else LEAST]


@njit(**KERNEL)
def _step(table, pair, slots, extremes, i, j, x, w):
    """Move the multipliers of rows `i` and `j` to their best; tell whether they moved at all."""
    (number, place), (products, errors, members, used) = pair, slots
    row_i, row_j = place[i, ROW], place[j, ROW]
    came_i, came_j = place[i, SIDE] != INSIDE, place[j, SIDE] != INSIDE
    if not came_i and not came_j:
        product = products[place[i, SLOT], place[j, SLOT]]
    elif len(table[3]):
        product = table[3][row_i, row_j]
    else:
        _fill_row(table, row_i, x)
        product = _row_product(table, row_j, x)
    error_i, error_j = _error(pair, errors, i), _error(pair, errors, j)
    a, b = _best(number, i, j, error_i, error_j, product)
    if i == j or a < 0.0:
        return False
    d = number[i, SIGN] * (a - number[i, ALPHA])
    e = number[j, SIGN] * (b - number[j, ALPHA])
    number[i, ALPHA], number[j, ALPHA] = a, b
    _add_row(table, row_i, d, w)
    _add_row(table, row_j, e, w)
    if came_i:
        _enter_slot(table, pair, slots, i, x)
    if came_j:
        _enter_slot(table, pair, slots, j, x)
    end = used[SLOTS]
    s, t = place[i, SLOT], place[j, SLOT]
    _add_products(errors[:end], products[s, :end], d, products[t, :end], e)
    _settle(pair, slots, i)
    _settle(pair, slots, j)
    _find_extremes(errors[: used[SLOTS]], members, extremes)
    _count(pair, extremes, i)
    _count(pair, extremes, j)
    return True


@njit(**KERNEL)
def _enter_slot(table, pair, slots, i, x):
    """Give row `i` the next slot, with its products with all rows inside."""
    (number, place), (products, errors, members, used), gram = pair, slots, table[3]
    slot, row = used[SLOTS], place[i, ROW]
    used[SLOTS] += 1
    used[TURNS] += 1
    errors[slot], place[i, SLOT] = number[i, ERROR], slot
    members[PAIR_ROW, slot], members[TABLE_ROW, slot] = i, row
    members[TURN, slot] = used[TURNS]
    if not len(gram):
        _fill_row(table, row, x)
    for t in range(slot + 1):
        other = members[TABLE_ROW, t]
        product = gram[row, other] if len(gram) else _row_product(table, other, x)
        products[slot, t] = products[t, slot] = product


@njit(**KERNEL)
def _settle(pair, slots, i):
    """Note on which side of its bounds row `i`, which has a slot, now is; it may leave the slot."""
    (number, place), (products, errors, members, used) = pair, slots
    alpha = number[i, ALPHA]
    if 0.0 < alpha < number[i, BOUND]:
        place[i, SIDE] = INSIDE
        return
    place[i, SIDE] = UP if (alpha == 0.0) == (number[i, SIGN] > 0) else LOW
    slot, last = place[i, SLOT], used[SLOTS] - 1
    number[i, ERROR] = errors[slot]
    # The last row takes its place.
    for t in range(last):
        products[slot, t] = products[t, slot] = products[last, t]
    products[slot, slot] = products[last, last]
    errors[slot] = errors[last]
    for t in range(3):
        members[t, slot] = members[t, last]
    place[members[PAIR_ROW, slot], SLOT] = slot
    used[SLOTS] = last


@njit(**KERNEL)
def _add_products(errors, p, d, q, e):
    """Add `d` times the products of one row and `e` times those of another to the errors."""
    for t in range(len(errors)):
        errors[t] += d * p[t] + e * q[t]


@njit(**KERNEL)
def _find_extremes(errors, members, extremes):
    """Find the least and the largest error of the rows inside; of equals the last to get there."""
    extreme, holder = extremes
    least, largest, i, j = np.inf, -np.inf, 0, 0
    turn = members[TURN]
    for t in range(len(errors)):
        e = errors[t]
        if e <= least and (e < least or turn[t] > turn[i]):
            least, i = e, t
        if e >= largest and (e > largest or turn[t] > turn[j]):
            largest, j = e, t
    extreme[LEAST], holder[LEAST] = least, members[PAIR_ROW, i]
    extreme[LARGEST], holder[LARGEST] = largest, members[PAIR_ROW, j]


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
            _couple(r, n, answers[i, offsets[j] : offsets[j + 1]])
    return answers


@njit
def _couple(r, n, p):
    """Fill in p such that p[a] / (p[a] + p[b]) fits r[a, b], weighted by n[a, b].

    Where there are no pairs, nothing moves: a single class has all.
    """
    k = len(p)
    for a in range(k):
        p[a] = 1.0 / k
    if n.sum() == 0.0:
        return
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
