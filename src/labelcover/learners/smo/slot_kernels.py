"""The rows of a pair that are inside their bounds, in slots, with errors that are up to date.

What the functions share, as plain arrays for speed:

- the rows of the pair in the order in which they are examined: `number` and `place`, a row each,
  with the columns named below. The error is the output without threshold less the sign, when last
  computed;
- the rows inside their bounds, in slots: `products` with each other, `errors` (always up to date;
  NaN where a row has left its slot), `members` (which row of the pair it is, which of the table,
  when it came, by when its products were computed; and a stack of slots that were left), and
  `used`: how many slots are in use, how many of these were left, and how many rows ever came;
- `extreme` and `holder`: the least error that counts, the largest, and whose they are.

Where the products of all rows of the table are whole numbers of one or two bytes (`counts`), the
rows of `counts` are short enough to be read at every step: then there are no `products`, and the
last slot takes the place of one that is left.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.smo.row_product_kernels import KERNEL, fill_row, row_product

SIGN, BOUND, ALPHA, ERROR, NORM = range(5)  # columns of `number`
ROW, SIDE, SLOT = range(3)  # columns of `place`
# The error of a row counts as least unless its side is LOW, and as largest unless it is UP.
INSIDE, UP, LOW = range(3)
PAIR_ROW, TABLE_ROW, TURN, FRESH, LEFT = range(5)  # rows of `members`
SLOTS, FREE, TURNS = range(3)  # entries of `used`
LEAST, LARGEST = range(2)
BLOCK = 64  # errors of which the least and the largest are found together


@njit(cache=True)
def new_slots(n, n_errors):
    """Return `products` of `n` empty slots, and `errors` and `members` of `n_errors`."""
    return np.empty((n, n)), np.empty(n_errors), np.zeros((5, n_errors), np.int64)


@njit(cache=True)
def packed_slots(place, products, errors, members, used):
    """Return the rows inside without the slots that were left, with room for two more."""
    kept = np.flatnonzero(members[TURN, : used[SLOTS]])
    held = len(kept)
    new_products, new_errors, new_members = products, errors, members
    if 2 * held > len(errors):
        new_products, new_errors, new_members = new_slots(2 * len(errors), 2 * len(errors))
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
def settle(number, place, errors, members, used, i, close_up):
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
def add_counts(errors, rows, p, d, q, e):
    """Add the same, of two rows of `counts`."""
    for t in range(len(errors)):
        row = np.uint64(rows[t])  # no sign to look at
        errors[t] += d * p[row] + e * q[row]


@njit(**KERNEL)
def find_extremes(errors, members, extreme, holder):
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
def find_extremes_of_all(errors, members, extreme, holder, blocks):
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
