"""The best split of one node on one feature, by the rules of C4.5 as WEKA's J48 has them.

Weights are numbers per row. When all of them are 1 and no value is missing, the `_counts` kernels
look entropies up in a table of n·log2(n); otherwise they are computed. All give gain, gain ratio
and cut; a gain ratio below zero means that there is no valid split.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover._compiled import njit

TOLERANCE = 1e-6  # two numbers closer than this are equal
VALUE_STEP = 1e-5  # neighbouring values closer than this are never separated
MOST_PER_SIDE = 25.0  # no more than this is ever demanded of each side of a cut

NO_SPLIT = (0.0, -1.0, 0.0)


class Switches(NamedTuple):
    """The features of two values, which need no sorting; all others have no rarer value here.

    Attributes
    ----------
    starts, features : ndarray
        Row ``i`` has the rarer value in ``features[starts[i]:starts[i + 1]]``.
    column_starts, rows : ndarray
        Feature ``f`` has its rarer value in ``rows[column_starts[f]:column_starts[f + 1]]``.
    is_rare : ndarray of bool of shape (n, features)
        The same once more.
    pair : ndarray of shape (features, 2)
        The lower and the higher value.
    rare_is_high : ndarray of bool
        Which of them is rarer.
    branching : ndarray
        The nominal features of more values.
    """

    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    column_starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    is_rare: NDArray[np.bool_]
    pair: NDArray[np.float64]
    rare_is_high: NDArray[np.bool_]
    branching: NDArray[np.int64]


@njit
def xlog2x(x):
    """Return x·log2(x), and 0 where x is (nearly) 0."""
    if x < TOLERANCE:
        return 0.0
    return x * math.log2(x)


@njit
def least_per_side(known, n_classes, min_leaf):
    """Return the weight that each side of a numeric cut must have."""
    least = 0.1 * known / n_classes
    if least - min_leaf < TOLERANCE:
        return min_leaf
    return min(least, MOST_PER_SIDE)


@njit
def _middle(low, high):
    cut = 0.5 * (low + high)
    return low if cut == high else cut


@njit
def numeric_splits_counts(ranked, order, label, class_counts, min_leaf, xlogx, splits):
    """Write the best cut of every numeric feature to `splits`; rows of weight 1, none missing.

    Parameters
    ----------
    ranked : (features, values, rank, far)
        Which are the numeric features, and with a row each, ``(features, n)``: their values; the
        number of a row's value among all distinct values in order; and, for each such number,
        that of the next value which may be separated from it.
    order : ndarray of shape (features, rows of the node)
        The rows of the node, by ascending value.
    label : ndarray of shape (n,)
        The class of every row.
    class_counts : ndarray of shape (n_classes,), int64
        Of the rows of the node.
    xlogx : ndarray
        ``xlogx[i]`` is i·log2(i), up to the number of rows.
    splits : ndarray of shape (all features, 3)
        Gain, gain ratio and cut; a ratio of -1 where there is no split.
    """
    features, values, rank, far = ranked
    n, n_classes = order.shape[1], len(class_counts)
    # A cut after i rows has the entropy sides[i] minus the sum of x·log2(x) over the classes of
    # both sides.
    sides = np.empty(n + 1)
    for i in range(n + 1):
        sides[i] = xlogx[i] + xlogx[n - i]
    # How the sum of x·log2(x) changes as the first row of a class changes sides, the second and so
    # on, class after class. Places are unsigned: nothing then asks whether one counts from the end.
    first, change = np.zeros(n_classes, np.uint64), np.empty(n)
    place = 0
    for c in range(n_classes):
        first[c] = place
        for gone in range(class_counts[c]):
            rest = class_counts[c] - gone
            there = xlogx[gone + 1] - xlogx[gone]
            change[place] = there - (xlogx[rest] - xlogx[rest - 1])
            place += 1
    fewest = math.ceil(least_per_side(float(n), n_classes, min_leaf) - TOLERANCE)
    at = np.empty(n_classes, np.uint64)
    slack = TOLERANCE * n
    for k in range(len(order)):
        for c in range(n_classes):
            at[c] = first[c]
        gained, best, goal = 0.0, 0.0, slack - sides[0]
        n_candidates, best_left, next_far = 0, 0, 0
        for i in range(n - fewest + 1):
            row = order[k, i]
            r = rank[k, row]
            if i >= fewest and r >= next_far:
                n_candidates += 1
                if gained - sides[i] > goal:
                    best_left, best = i, gained - sides[i]
                    goal = best + slack
            next_far = far[k, r]
            own = np.uint64(label[row])
            gained += change[at[own]]
            at[own] += np.uint64(1)
        if best_left:
            gain = (sides[0] + best - xlogx[n_candidates] / n_candidates) / n
            if gain >= TOLERANCE:
                low, high = order[k, best_left - 1], order[k, best_left]
                f = features[k]
                splits[f, 0] = gain
                splits[f, 1] = gain * n / (sides[0] - sides[best_left])
                splits[f, 2] = _middle(values[k, low], values[k, high])


@njit
def count_switches(switches, rows, label, step, table, found):
    """Count the rarer values of the rows; return for how many features there were none before.

    Parameters
    ----------
    switches : Switches
    rows : ndarray of int32
    label : ndarray of shape (n,)
        The class of every row.
    step : int
        1, or -1 to take rows out that were counted.
    table : ndarray of shape (features, n_classes + 1), int32
        The number of rows with the rarer value of a feature, by class, and in all: zeros at first.
    found : ndarray of shape (features,), int32
        Gets the features that had no counts before, at its beginning.
    """
    starts, feature = switches.starts, switches.features
    n_found, everyone = 0, table.shape[1] - 1
    for row in rows:
        c = label[row]
        for at in range(starts[row], starts[row + 1]):
            f = feature[at]
            if table[f, everyone] == 0:
                found[n_found] = f
                n_found += 1
            table[f, c] += step
            table[f, everyone] += step
    return n_found


@njit
def switch_splits_counts(
    switches, n_values, features, table, n, class_counts, min_leaf, xlogx, splits
):
    """Write the split of some features of two values to `splits`; rows of weight 1, none missing.

    Only the rarer values are counted, so that a bag of words costs no more than its words; where
    the node has none, `splits` stays as it is.

    Parameters
    ----------
    switches : Switches
    n_values : ndarray of shape (features,)
        Number of values of a nominal feature, 0 for a numeric one.
    features : ndarray of int32
        Those to be rated.
    table : ndarray of shape (features, n_classes + 1)
        The counts of `count_switches`, of the rows of the node.
    n : int
        Number of rows of the node.
    class_counts, xlogx, splits
        As in `numeric_splits_counts`.
    """
    pair = switches.pair
    n_classes = len(class_counts)
    # Classes that occur in the node, side by side.
    present = np.empty(n_classes, np.int32)
    counts = np.empty(n_classes, np.int64)
    n_present = 0
    for c in range(n_classes):
        if class_counts[c] > 0:
            present[n_present] = c
            counts[n_present] = class_counts[c]
            n_present += 1
    fewest = math.ceil(least_per_side(float(n), n_classes, min_leaf) - TOLERANCE)
    fewest_nominal = math.ceil(min_leaf - TOLERANCE)
    for f in features:
        there = table[f, n_classes]
        least = fewest if n_values[f] == 0 else fewest_nominal
        if there == 0 or there < least or n - there < least:
            continue
        split = xlogx[n] - xlogx[there] - xlogx[n - there]
        gained = split
        for p in range(n_present):
            inside = table[f, present[p]]
            if inside > 0:
                gained += xlogx[inside] + xlogx[counts[p] - inside] - xlogx[counts[p]]
        if n_values[f] > 0:
            splits[f, 0], splits[f, 1], splits[f, 2] = _rate_nominal(2, gained, split, float(n))
        elif gained > TOLERANCE * n:
            splits[f, 0] = gained / n
            splits[f, 1] = gained / split
            splits[f, 2] = _middle(pair[f, 0], pair[f, 1])


@njit
def numeric_split_weights(value, order, label, weight, n_classes, total, min_leaf):
    """Return the best cut of a numeric feature; rows with a missing value come last in `order`.

    `weight` holds the weight of every row of the node, `total` is their sum with the missing ones.
    """
    right = np.zeros(n_classes)
    n_known, known = 0, 0.0
    for row in order:
        if math.isnan(value[row]):
            break
        right[label[row]] += weight[row]
        known += weight[row]
        n_known += 1
    least = least_per_side(known, n_classes, min_leaf)
    if n_known == 0 or known - 2.0 * least < -TOLERANCE:
        return NO_SPLIT
    left = np.zeros(n_classes)
    inside = 0.0
    for c in range(n_classes):
        inside += xlog2x(right[c])
    old_entropy = xlog2x(known) - inside
    n_candidates, best, best_left, cut, gone = 0, 0.0, 0.0, 0.0, 0.0
    last = value[order[0]]
    for i in range(n_known):
        row = order[i]
        v = value[row]
        if last + VALUE_STEP < v and min(gone, known - gone) > least - TOLERANCE:
            n_candidates += 1
            gain = (old_entropy - xlog2x(gone) - xlog2x(known - gone) + inside) / total
            if gain > best + TOLERANCE:
                best, best_left, cut = gain, gone, _middle(last, v)
        last = v
        c, w = label[row], weight[row]
        inside -= xlog2x(left[c]) + xlog2x(right[c])
        left[c] += w
        right[c] = max(right[c] - w, 0.0)
        inside += xlog2x(left[c]) + xlog2x(right[c])
        gone += w
    if n_candidates == 0:
        return NO_SPLIT
    gain = best - math.log2(n_candidates) / total  # what the number of cuts costs (MDL)
    if gain < TOLERANCE:
        return NO_SPLIT
    missing = max(total - known, 0.0)
    spread = xlog2x(total) - xlog2x(best_left) - xlog2x(known - best_left) - xlog2x(missing)
    if abs(spread) < TOLERANCE:
        return gain, 0.0, cut
    return gain, gain * total / spread, cut


@njit
def _known_xlog2x(x, xlogx):
    return xlogx[np.int64(x)] if len(xlogx) else xlog2x(x)


@njit
def nominal_split(value, n_values, rows, label, weight, n_classes, total, min_leaf, xlogx):
    """Return the split of a nominal feature, one branch per value.

    `xlogx` is empty unless all weights are 1 and no value is missing.
    """
    bags = np.zeros((n_values, n_classes))
    for row in rows:
        v = value[row]
        if not math.isnan(v):
            bags[int(v), label[row]] += weight[row]
    classes = np.zeros(n_classes)
    for j in range(n_values):
        for c in range(n_classes):
            classes[c] += bags[j, c]
    known = classes.sum()
    old_entropy = _known_xlog2x(known, xlogx)
    for c in range(n_classes):
        old_entropy -= _known_xlog2x(classes[c], xlogx)
    n_large, new_entropy = 0, 0.0
    spread = _known_xlog2x(total, xlogx) - _known_xlog2x(max(total - known, 0.0), xlogx)
    for j in range(n_values):
        bag = bags[j].sum()
        for c in range(n_classes):
            new_entropy -= _known_xlog2x(bags[j, c], xlogx)
        new_entropy += _known_xlog2x(bag, xlogx)
        spread -= _known_xlog2x(bag, xlogx)
        n_large += bag > min_leaf - TOLERANCE
    return _rate_nominal(n_large, old_entropy - new_entropy, spread, total)


@njit
def _rate_nominal(n_large, numerator, spread, total):
    if n_large < 2:
        return NO_SPLIT
    gain = 0.0 if abs(numerator) < TOLERANCE else numerator / total
    if abs(spread) < TOLERANCE:
        return gain, 0.0, 0.0
    return gain, gain * total / spread, 0.0
