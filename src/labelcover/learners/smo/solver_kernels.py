"""The machine of one pair of classes, by the steps that WEKA's SMO takes.

The method is Platt's sequential minimal optimization with the two thresholds and the first
modification of Keerthi, Shevade, Bhattacharyya and Murthy (2001). It stops at a loose tolerance, so
that its answer depends on its path. To end where WEKA ends, the path is the same to the last bit:
rows in the order of Java's random numbers, sums from left to right, and of equal errors the one of
the row that moved inside its bounds last.

What the functions share, as plain arrays for speed:

- the table: `data`, `indices` and `indptr` as in a CSR array with sorted indices, where a row with
  a value in every column needs no indices; `gram`, the products of all its rows, or empty;
  `counts`, the same as whole numbers of one or two bytes where they are that, then `gram` is empty;
- the rows of the pair in the order in which they are examined: `number` and `place`, a row each,
  with the columns named below. The error is the output without threshold less the sign, when last
  computed;
- the rows inside their bounds, in slots: `products` with each other, `errors` (always up to date;
  NaN where a row has left its slot), `members` (which row of the pair it is, which of the table,
  when it came, by when its products were computed; and a stack of slots that were left), and
  `used`: how many slots are in use, how many of these were left, and how many rows ever came. With
  `counts`, whose rows are short enough to be read at every step, there are no `products`, and the
  last slot takes the place of one that is left;
- `extreme` and `holder`: the least error that counts, the largest, and whose they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core.cpu import CPUTargetOptions

# What allocates nothing need not count references to arrays: without, a fit takes a tenth to a
# quarter less. The option is numba's own, so it is used only where this numba has it.
KERNEL: dict[str, Any] = {"cache": True}
if hasattr(CPUTargetOptions, "_nrt"):
    KERNEL["_nrt"] = False

JAVA_SEED = 1 ^ 0x5DEECE66D  # the state of java.util.Random(1)
LEAST_MOVE = 1e-12
MOST_STEPS = 10_000_000  # a tolerance near the rounding errors might never be reached
AHEAD = 4  # outputs computed together
GRAM_BLOCK = 128

SIGN, BOUND, ALPHA, ERROR, NORM = range(5)  # columns of `number`
ROW, SIDE, SLOT = range(3)  # columns of `place`
# The error of a row counts as least unless its side is LOW, and as largest unless it is UP.
INSIDE, UP, LOW = range(3)
PAIR_ROW, TABLE_ROW, TURN, FRESH, LEFT = range(5)  # rows of `members`
SLOTS, FREE, TURNS = range(3)  # entries of `used`
LEAST, LARGEST = range(2)
BLOCK = 64  # errors of which the least and the largest are found together


@njit(cache=True, nogil=True)
def fit_machines(
    data, indices, indptr, gram, counts, n_columns, by_class, starts, first, second, bound, tol
):
    """Return weights and threshold of every pair of classes; the output is ``w @ x - threshold``.

    Parameters
    ----------
    data, indices, indptr, gram, counts : ndarray
        The table (see above); `gram` and `counts` of shape (0, 0) if they are not at hand.
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
        threshold[p] = _fit_machine(
            data, indices, indptr, gram, counts, rows, number, tol, weights[p]
        )
    return weights, threshold


@njit(cache=True, nogil=True)
def dense_gram(x, transposed, gram):
    """Fill in the products of all pairs of rows of `x`, each summed from left to right."""
    n = len(x)
    for start in range(0, n, GRAM_BLOCK):  # columns by columns, so that they stay in the cache
        for i in range(start, n):
            end = min(start + GRAM_BLOCK, i + 1)
            _row_products(x[i], transposed, start, end, gram[i, start:end])
            for j in range(start, end):
                gram[j, i] = gram[i, j]


@njit(**KERNEL)
def _row_products(x, transposed, start, end, sums):
    for j in range(len(sums)):
        sums[j] = 0.0
    whole = len(x) - len(x) % 4
    for k in range(0, whole, 4):  # four at a time, to load and store the sums less often
        _add_four(
            x[k : k + 4],
            transposed[k, start:end],
            transposed[k + 1, start:end],
            transposed[k + 2, start:end],
            transposed[k + 3, start:end],
            sums,
        )
    for k in range(whole, len(x)):
        for j in range(len(sums)):
            sums[j] += x[k] * transposed[k, start + j]


@njit(**KERNEL)
def _add_four(x, p, q, r, s, sums):
    a, b, c, d = x[0], x[1], x[2], x[3]
    for j in range(len(sums)):
        sums[j] = (((sums[j] + a * p[j]) + b * q[j]) + c * r[j]) + d * s[j]


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


@njit(cache=True)
def _fit_machine(data, indices, indptr, gram, counts, rows, number, tol, w):
    """Fill in the weights `w` of the machine of these rows; return its threshold."""
    n = len(rows)
    place = np.zeros((n, 3), np.int64)
    extreme, holder = np.array([-1.0, 1.0]), np.zeros(2, np.int64)
    for i in range(n):
        is_second = number[i, SIGN] > 0
        place[i, ROW], place[i, SIDE] = rows[i], UP if is_second else LOW
        number[i, ERROR] = -number[i, SIGN]
        number[i, NORM] = _norm(data, indptr, rows[i])
        holder[LEAST if is_second else LARGEST] = i
    products, errors, members = _slots(0, n) if len(counts) else _slots(64, 64)
    used, progress = np.zeros(3, np.int64), np.array([0, 0, 1, 0])
    ahead, x, blocks = np.empty(AHEAD), np.empty_like(w), np.empty((2, n // BLOCK + 1))
    while not _advance(
        data, indices, indptr, gram, counts, number, place, products, errors, members, used,
        extreme, holder, progress, tol, ahead, blocks, x, w,
    ):  # fmt: skip
        products, errors, members = _packed(place, products, errors, members, used)
    return (extreme[LARGEST] + extreme[LEAST]) / 2


@njit(**KERNEL)
def _advance(
    data, indices, indptr, gram, counts, number, place, products, errors, members, used,
    extreme, holder, progress, tol, ahead, blocks, x, w,
):  # fmt: skip
    """Sweep over the rows until the optimum is reached; False if the slots must be packed first.

    A sweep looks at all rows or at those inside only. `progress` is where the sweep is, how many
    steps were taken, whether the sweep is of all rows and whether it has changed anything.
    """
    n = len(place)
    i, steps, whole, changed = progress
    while steps < MOST_STEPS:
        stepped, ready = -1, 0  # the last row that took a step; outputs are known before `ready`
        while i < n:
            if place[i, SIDE] != INSIDE:
                if not whole:
                    i += 1
                    continue
                if i >= ready:
                    count = 1 if stepped == i - 1 else min(AHEAD, n - i)
                    _outputs(data, indices, indptr, place, i, count, w, ahead)
                    ready = i + count
                number[i, ERROR] = ahead[i - ready + AHEAD] - number[i, SIGN]
                _count(number, place, extreme, holder, i)
            other = _partner(number, place, errors, extreme, holder, i, tol)
            if other >= 0:
                has_room = used[SLOTS] + 2 <= len(errors) and used[FREE] <= 16 + used[SLOTS] // 4
                if not (has_room or len(counts)):
                    progress[0], progress[1], progress[2], progress[3] = i, steps, whole, changed
                    return False
                if _step(
                    data, indices, indptr, gram, counts, number, place, products, errors, members,
                    used, extreme, holder, other, i, blocks, x, w,
                ):  # fmt: skip
                    changed, stepped, ready = 1, i, 0
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
def _norm(data, indptr, row):
    total = 0.0
    for k in range(indptr[row], indptr[row + 1]):
        total += data[k] * data[k]
    return total


@njit(**KERNEL)
def _outputs(data, indices, indptr, place, i, count, w, ahead):
    """Put the outputs of `count` rows from `i` on at the end of `ahead`."""
    d = len(w)
    if count == AHEAD:
        s, t = indptr[place[i, ROW]], indptr[place[i + 1, ROW]]
        u, v = indptr[place[i + 2, ROW]], indptr[place[i + 3, ROW]]
        full = True
        for j in range(i, i + AHEAD):
            row = place[j, ROW]
            full &= indptr[row + 1] - indptr[row] == d
        if full:  # four sums side by side take no longer than one
            _four_products(
                w, data[s : s + d], data[t : t + d], data[u : u + d], data[v : v + d], ahead
            )
            return
    for j in range(count):
        ahead[AHEAD - count + j] = _product(data, indices, indptr, place[i + j, ROW], w)


@njit(**KERNEL)
def _four_products(w, a, b, c, d, answer):
    s = t = u = v = 0.0
    for k in range(len(w)):
        s += w[k] * a[k]
        t += w[k] * b[k]
        u += w[k] * c[k]
        v += w[k] * d[k]
    answer[0], answer[1], answer[2], answer[3] = s, t, u, v


@njit(**KERNEL)
def _product(data, indices, indptr, row, w):
    """Return the product of a row of the table with `w`, summed from left to right."""
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
def _add(data, indices, indptr, row, factor, w):
    """Add a multiple of a row of the table to `w`."""
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
    data, indices, indptr, gram, counts, number, place, products, errors, members, used,
    extreme, holder, i, j, blocks, x, w,
):  # fmt: skip
    """Move the multipliers of rows `i` and `j` to their best; tell whether they moved at all."""
    row_i, row_j = place[i, ROW], place[j, ROW]
    came_i, came_j = place[i, SIDE] != INSIDE, place[j, SIDE] != INSIDE
    if len(counts):
        product = np.float64(counts[row_i, row_j])
    elif not came_i and not came_j:
        s, t = place[i, SLOT], place[j, SLOT]
        _refresh(data, indices, indptr, gram, products, members, used, s, x)
        product = products[s, t]
    elif len(gram):
        product = gram[row_i, row_j]
    else:
        _fill(data, indices, indptr, row_i, x)
        product = _product(data, indices, indptr, row_j, x)
    error_i, error_j = _error(number, place, errors, i), _error(number, place, errors, j)
    a, b = _best(number, i, j, error_i, error_j, product)
    if i == j or a < 0.0:
        return False
    d = number[i, SIGN] * (a - number[i, ALPHA])
    e = number[j, SIGN] * (b - number[j, ALPHA])
    number[i, ALPHA], number[j, ALPHA] = a, b
    _add(data, indices, indptr, row_i, d, w)
    _add(data, indices, indptr, row_j, e, w)
    if came_i:
        _enter(number, place, errors, members, used, i)
    if came_j:
        _enter(number, place, errors, members, used, j)
    end = used[SLOTS]
    if len(counts):
        _add_counts(errors[:end], members[TABLE_ROW], counts[row_i], d, counts[row_j], e)
    else:
        s, t = place[i, SLOT], place[j, SLOT]
        fresh, stale = (t, s) if came_j else (s, t)
        _refresh(data, indices, indptr, gram, products, members, used, fresh, x)
        _refresh(data, indices, indptr, gram, products, members, used, stale, x)
        _add_products(errors[:end], products[s, :end], d, products[t, :end], e)
    _settle(number, place, errors, members, used, i, len(counts) > 0)
    _settle(number, place, errors, members, used, j, len(counts) > 0)
    if len(counts):
        _find_extremes_of_all(errors[: used[SLOTS]], members, extreme, holder, blocks)
    else:
        _find_extremes(errors[:end], members, extreme, holder)
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


@njit(**KERNEL)
def _fill(data, indices, indptr, row, x):
    """Make `x` a row of the table."""
    for k in range(len(x)):
        x[k] = 0.0
    _add(data, indices, indptr, row, 1.0, x)


@njit(**KERNEL)
def _enter(number, place, errors, members, used, i):
    """Give row `i` a slot, one that was left if there is any."""
    if used[FREE] > 0:
        used[FREE] -= 1
        slot = members[LEFT, used[FREE]]
    else:
        slot = used[SLOTS]
        used[SLOTS] += 1
    used[TURNS] += 1
    errors[slot], place[i, SLOT] = number[i, ERROR], slot
    members[PAIR_ROW, slot], members[TABLE_ROW, slot] = i, place[i, ROW]
    members[TURN, slot], members[FRESH, slot] = used[TURNS], 0


@njit(**KERNEL)
def _refresh(data, indices, indptr, gram, products, members, used, slot, x):
    """Compute the products of the row in a slot with the rows that came since the last time."""
    fresh, row = members[FRESH, slot], members[TABLE_ROW, slot]
    if fresh == used[TURNS]:
        return
    end = used[SLOTS]
    turn, other, answer = members[TURN], members[TABLE_ROW], products[slot]
    if fresh > 0:  # those that came later know the product
        for t in range(end):
            if turn[t] > fresh:
                answer[t] = products[t, slot]
    elif len(gram):
        known = gram[row]
        for t in range(end):
            answer[t] = known[other[t]]
    else:
        _fill(data, indices, indptr, row, x)
        for t in range(end):
            answer[t] = _product(data, indices, indptr, other[t], x)
    members[FRESH, slot] = used[TURNS]


@njit(**KERNEL)
def _add_products(errors, p, d, q, e):
    for t in range(len(errors)):
        errors[t] += d * p[t] + e * q[t]


@njit(**KERNEL)
def _add_counts(errors, rows, p, d, q, e):
    for t in range(len(errors)):
        row = np.uint64(rows[t])  # no sign to look at
        errors[t] += d * p[row] + e * q[row]


@njit(**KERNEL)
def _settle(number, place, errors, members, used, i, close_up):
    """Note on which side of its bounds row `i`, which has a slot, now is.

    If it leaves its slot, the last one takes its place with `close_up`, else it is left empty.
    """
    alpha = number[i, ALPHA]
    if 0.0 < alpha < number[i, BOUND]:
        place[i, SIDE] = INSIDE
        return
    place[i, SIDE] = UP if (alpha == 0.0) == (number[i, SIGN] > 0) else LOW
    slot = place[i, SLOT]
    number[i, ERROR] = errors[slot]
    if close_up:
        used[SLOTS] -= 1
        last = used[SLOTS]
        errors[slot] = errors[last]
        for t in range(len(members)):
            members[t, slot] = members[t, last]
        place[members[PAIR_ROW, slot], SLOT] = slot
        return
    errors[slot], members[TURN, slot] = np.nan, 0
    members[LEFT, used[FREE]] = slot
    used[FREE] += 1


@njit(**KERNEL)
def _find_extremes(errors, members, extreme, holder):
    """Find the least and the largest error of the rows inside; of equals the last to get there."""
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
def _find_extremes_of_all(errors, members, extreme, holder, blocks):
    """Find the same where no slot was left, block by block."""
    n_blocks = (len(errors) + BLOCK - 1) // BLOCK
    least, largest = np.inf, -np.inf
    for b in range(n_blocks):
        low, high = _range_of(errors[b * BLOCK : (b + 1) * BLOCK])
        blocks[LEAST, b], blocks[LARGEST, b] = low, high
        least, largest = min(least, low), max(largest, high)
    extreme[LEAST], extreme[LARGEST] = least, largest
    for side in range(2):
        last = -1
        for b in range(n_blocks):
            if blocks[side, b] != extreme[side]:
                continue
            for t in range(b * BLOCK, min((b + 1) * BLOCK, len(errors))):
                if errors[t] == extreme[side] and members[TURN, t] > last:
                    last, holder[side] = members[TURN, t], members[PAIR_ROW, t]


@njit(fastmath={"nnan", "nsz"}, **KERNEL)
def _range_of(errors):
    """Return the least and the largest of some numbers, none of which is NaN."""
    low = high = errors[0]
    for t in range(len(errors)):
        low, high = min(low, errors[t]), max(high, errors[t])
    return low, high


@njit(cache=True)
def _slots(n, n_errors):
    return np.empty((n, n)), np.empty(n_errors), np.zeros((5, n_errors), np.int64)


@njit(cache=True)
def _packed(place, products, errors, members, used):
    """Return the rows inside without the slots that were left, with room for two more."""
    kept = np.flatnonzero(members[TURN, : used[SLOTS]])
    held = len(kept)
    new_products, new_errors, new_members = products, errors, members
    if 2 * held > len(errors):
        new_products, new_errors, new_members = _slots(2 * len(errors), 2 * len(errors))
    for s in range(held):  # in place, no value is overwritten before it is read
        for t in range(held):
            new_products[s, t] = products[kept[s], kept[t]]
        new_errors[s] = errors[kept[s]]
        for t in range(len(members)):
            new_members[t, s] = members[t, kept[s]]
        place[new_members[PAIR_ROW, s], SLOT] = s
    used[SLOTS], used[FREE] = held, 0
    return new_products, new_errors, new_members
