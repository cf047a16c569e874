"""The best split of one node on one feature, by the rules of C4.5 as WEKA's J48 has them.

What loops share: `table` is a `FeatureTable`, and `label` has the class of each of its rows. If all
rows weigh 1 and no value is missing, the `_counts` loops look entropies up: entry i of `xlogx` is
i·log2(i), and `class_counts` has the rows of the node in each class. Otherwise `weight` has the
weight of each row of the table. All give gain, gain ratio and cut, the `_counts` loops in a row of
`splits` for each feature; a gain ratio below zero means that there is no valid split.
"""

import math

import numpy as np

from labelcover._compiled import njit

TOLERANCE = 1e-6  # two numbers closer than this are equal
VALUE_STEP = 1e-5  # neighbouring values closer than this are never separated
MOST_PER_SIDE = 25.0  # no more than this is ever demanded of each side of a cut

NO_SPLIT = (0.0, -1.0, 0.0)


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
def numeric_splits_counts(table, order, label, class_counts, min_leaf, xlogx, splits):
    """Write the best cut of every sorted feature to `splits`.

    `order` has the rows of the node by ascending value, a row of it for each of these features.
    """
    rank, far = table.rank, table.far
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
                f = table.sorted_features[k]
                splits[f, 0] = gain
                splits[f, 1] = gain * n / (sides[0] - sides[best_left])
                splits[f, 2] = _middle(table.values[f, low], table.values[f, high])


@njit
def count_switches(table, rows, label, step, counts, found):
    """Count the rarer values of the rows; return for how many features there were none before.

    Parameters
    ----------
    step : int
        1, or -1 to take rows out that were counted.
    counts : ndarray of shape (features, n_classes + 1), int32
        The number of rows with the rarer value of a feature, by class, and in all: zeros at first.
    found : ndarray of shape (features,), int32
        Gets the features that had no counts before, at its beginning.
    """
    n_found, everyone = 0, counts.shape[1] - 1
    for row in rows:
        c = label[row]
        for at in range(table.starts[row], table.starts[row + 1]):
            f = table.rare[at]
            if counts[f, everyone] == 0:
                found[n_found] = f
                n_found += 1
            counts[f, c] += step
            counts[f, everyone] += step
    return n_found


@njit
def switch_splits_counts(table, features, rare, n, class_counts, min_leaf, xlogx, splits):
    """Write the split of some features of two values to `splits`.

    Only the rarer values are counted, so that a bag of words costs no more than its words; where
    the node has none, `splits` stays as it is. Of its `n` rows, `rare` has what `count_switches`
    counts.
    """
    n_values, pair = table.n_values, table.pair
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
        there = rare[f, n_classes]
        least = fewest if n_values[f] == 0 else fewest_nominal
        if there == 0 or there < least or n - there < least:
            continue
        split = xlogx[n] - xlogx[there] - xlogx[n - there]
        gained = split
        for p in range(n_present):
            inside = rare[f, present[p]]
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

    `total` is the weight of all rows of the node, with those whose value is missing.
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
