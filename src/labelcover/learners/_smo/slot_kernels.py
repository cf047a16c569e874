"""Products of rows, and the rows of a pair that are inside their bounds, in slots.

The table is `data`, `indices` and `indptr` as in a CSR array with sorted indices, where a row with
a value in every column needs no indices. Products are summed from left to right as in WEKA. What
the other functions share, as plain arrays for speed:

- the rows of the pair in the order in which they are examined: `number` and `place`, a row each,
  with the columns named below. The error is the output without threshold less the sign, when last
  computed;
- the rows inside their bounds, in slots: `products` with each other, `errors` (always up to date;
  NaN where a row has left its slot), `members` (which row of the pair it is, which of the table,
  when it came, by when its products were computed; and a stack of slots that were left), and
  `used`: how many slots are in use, how many of these were left, and how many rows ever came;
- `extreme` and `holder`: the least error that counts, the largest, and whose they are.
"""

import numpy as np
from numba.core.cpu import CPUTargetOptions

from labelcover._compiled import njit

# What allocates nothing need not count references to arrays; a fit then takes a third less time.
# The option is numba's own, so it is used only where this numba has it.
KERNEL = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}

GRAM_BLOCK = 128
SIGN, BOUND, ALPHA, ERROR, NORM = range(5)  # columns of `number`
ROW, SIDE, SLOT = range(3)  # columns of `place`
# The error of a row counts as least unless its side is LOW, and as largest unless it is UP.
INSIDE, UP, LOW = range(3)
PAIR_ROW, TABLE_ROW, TURN, FRESH, LEFT = range(5)  # rows of `members`
SLOTS, FREE, TURNS = range(3)  # entries of `used`
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


@njit(**KERNEL)
def row_product(data, indices, indptr, row, w):
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
def add_row(data, indices, indptr, row, factor, w):
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
def fill_row(data, indices, indptr, row, x):
    """Make `x` a row of the table."""
    for k in range(len(x)):
        x[k] = 0.0
    add_row(data, indices, indptr, row, 1.0, x)


@njit
def packed_slots(place, products, errors, members, used):
    """Return the rows inside without the slots that were left, with room for two more."""
    kept = np.flatnonzero(members[TURN, : used[SLOTS]])
    held = len(kept)
    new_products, new_errors, new_members = products, errors, members
    if 2 * held > len(errors):
        size = 2 * len(errors)
        new_products = np.empty((size, size))
        new_errors, new_members = np.empty(size), np.zeros((5, size), np.int64)
    for s in range(held):  # in place, no value is overwritten before it is read
        for t in range(held):
            new_products[s, t] = products[kept[s], kept[t]]
        new_errors[s] = errors[kept[s]]
        for t in range(len(members)):
            new_members[t, s] = members[t, kept[s]]
        place[new_members[PAIR_ROW, s], SLOT] = s
    used[SLOTS], used[FREE] = held, 0
    return new_products, new_errors, new_members


@njit(**KERNEL)
def enter_slot(number, place, errors, members, used, i):
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
def settle(number, place, errors, members, used, i):
    """Note on which side of its bounds row `i`, which has a slot, now is; it may leave the slot."""
    alpha = number[i, ALPHA]
    if 0.0 < alpha < number[i, BOUND]:
        place[i, SIDE] = INSIDE
        return
    place[i, SIDE] = UP if (alpha == 0.0) == (number[i, SIGN] > 0) else LOW
    slot = place[i, SLOT]
    number[i, ERROR] = errors[slot]
    errors[slot], members[TURN, slot] = np.nan, 0
    members[LEFT, used[FREE]] = slot
    used[FREE] += 1


@njit(**KERNEL)
def refresh_products(data, indices, indptr, gram, products, members, used, slot, x):
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
        fill_row(data, indices, indptr, row, x)
        for t in range(end):
            answer[t] = row_product(data, indices, indptr, other[t], x)
    members[FRESH, slot] = used[TURNS]


@njit(**KERNEL)
def add_products(errors, p, d, q, e):
    """Add `d` times the products of one row and `e` times those of another to the errors."""
    for t in range(len(errors)):
        errors[t] += d * p[t] + e * q[t]


@njit(**KERNEL)
def find_extremes(errors, members, extreme, holder):
    """Find the least and the largest error of the rows inside; of equals the last to get there.

    The error of a slot that was left is NaN, which is neither.
    """
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
