"""Compiled loops over the number of labels of a row, for sets of greatest expected F1.

Labels of a row are independent with the probabilities p, so that their number S has a
Poisson binomial distribution. It is computed only up to `most_labels`, which S exceeds with a
probability far below the precision of a float: so a row costs little even with thousands of labels.
"""

import numpy as np

from labelcover._compiled import njit


@njit
def most_labels(p):
    """Return a number of labels that a row practically never exceeds, at most ``len(p)``."""
    mean, variance = 0.0, 0.0
    for x in p:
        mean += x
        variance += x * (1 - x)
    # By Bernstein's inequality, S exceeds this with a probability below 1e-13.
    return min(len(p), int(mean + 8 * np.sqrt(variance) + 30))


@njit
def count_chances(p, most):
    """Return the probabilities of 0, 1, …, `most` labels."""
    chances = np.zeros(most + 1)
    chances[0] = 1.0
    for j in range(len(p)):
        for s in range(min(j + 1, most), 0, -1):
            chances[s] = chances[s] * (1 - p[j]) + chances[s - 1] * p[j]
        chances[0] *= 1 - p[j]
    return chances


@njit
def expected_counts(P, weights):
    """Return for s = 0, …, m the expected weight of the rows that have s labels."""
    expected = np.zeros(P.shape[1] + 1)
    for i in range(len(P)):
        chances = count_chances(P[i], most_labels(P[i]))
        for s in range(len(chances)):
            expected[s] += weights[i] * chances[s]
    return expected


@njit
def chances_without(chances, p):
    """Return the probabilities of 0, 1, … labels without one whose probability is `p`.

    This inverts one step of `count_chances`, in the direction in which errors shrink.
    """
    most = len(chances) - 1
    others = np.zeros(most + 1)
    if p <= 0.5:
        others[0] = chances[0] / (1 - p)
        for s in range(1, most + 1):
            others[s] = (chances[s] - p * others[s - 1]) / (1 - p)
    else:
        for s in range(most, 0, -1):
            others[s - 1] = (chances[s] - (1 - p) * others[s]) / p
    return others


@njit
def best_size(p, lift):
    """Return how many of the likeliest labels have the greatest expected F1 together.

    Parameters
    ----------
    p : float64 array of shape (m,)
        Probabilities of labels, in descending order.
    lift : float64 array of shape (m + 1,)
        How many times likelier s labels are than for independent labels.
    """
    chances = count_chances(p, most_labels(p))
    most = len(chances) - 1
    best, size = lift[0] * chances[0], 0
    # together[s]: expected number of chosen labels that are true, in the event of s true labels.
    together = np.zeros(most + 1)
    for k in range(1, len(p) + 1):
        others = chances_without(chances, p[k - 1])
        f1, bound = 0.0, 0.0
        for s in range(1, most + 1):
            together[s] += p[k - 1] * others[s - 1]
            f1 += 2 * lift[s] * together[s] / (k + s)
            bound += 2 * lift[s] * s * chances[s] / (k + s)
        if f1 > best:
            best, size = f1, k
        # No set of more labels can do better than k labels that include all true ones.
        if bound <= best:
            break
    return size


@njit
def expected_f1_sets(P, lift):
    """Return for each row the labels with the greatest expected F1; see `best_size`."""
    chosen = np.zeros(P.shape, dtype=np.bool_)
    for i in range(len(P)):
        order = np.argsort(-P[i], kind="mergesort")
        for place in range(best_size(P[i][order], lift)):
            chosen[i, order[place]] = True
    return chosen
