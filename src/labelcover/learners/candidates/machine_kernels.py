"""Compiled loops of linear machines, one for each label, on the rows that have it as candidate."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.forest.forest_kernels import _random


@njit(cache=True, nogil=True)
def train_machines(table, n_features, samples, targets, starts, costs, most_features, stop, state):
    """Return the weights of machines with the squared hinge loss, each of few features.

    Dual coordinate descent (Hsieh et al., 2008, Algorithm 1): minimises
    ``|w|²/2 + Σ cost · max(0, 1 - y (w·x + b))²``, where the bias b is one of the weights.

    Parameters
    ----------
    table : (data, indices, indptr)
        Training rows.
    samples, targets : ndarray
        Rows of each machine, from ``starts[j]`` to ``starts[j + 1]``, and their classes, -1 or 1.
    costs : ndarray of shape (n,)
        That of an error in each training row.
    most_features : int
        Of the weights of a machine, so many that are largest count.
    stop : (most_rounds, tolerance)
        A machine is found after so many rounds, or when no step of a round changes a multiplier
        by more than this share of the greatest change in the first.

    Returns
    -------
    weight_starts, features, weights : ndarray
        Machine j has ``weights[weight_starts[j]:weight_starts[j + 1]]`` of these features, sorted.
    biases : ndarray
    """
    data, indices, indptr = table
    most_rounds, tolerance = stop
    n_machines = len(starts) - 1
    w, mark = np.zeros(n_features), np.zeros(n_features, np.bool_)
    seen = np.empty(n_features, np.int32)
    longest = 0
    for j in range(n_machines):
        longest = max(longest, starts[j + 1] - starts[j])
    alpha, squares, order = np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    weight_starts, biases = np.zeros(n_machines + 1, np.int64), np.zeros(n_machines, np.float32)
    features, weights = np.empty(65536, np.int32), np.empty(65536, np.float32)
    sizes = np.empty(n_features)
    for j in range(n_machines):
        begin, n = starts[j], starts[j + 1] - starts[j]
        n_seen, bias = 0, 0.0
        for a in range(n):
            i = samples[begin + a]
            alpha[a], order[a], squares[a] = 0.0, a, 1.0 + 0.5 / costs[i]
            for at in range(indptr[i], indptr[i + 1]):
                f = indices[at]
                squares[a] += data[at] * data[at]
                if not mark[f]:
                    mark[f] = True
                    seen[n_seen] = f
                    n_seen += 1
        first = 0.0
        for step in range(most_rounds):
            largest = 0.0
            for a in range(n):
                b = a + int(_random(state) * (n - a))
                order[a], order[b] = order[b], order[a]
            for b in range(n):
                a = order[b]
                i = samples[begin + a]
                y = targets[begin + a]
                score = bias
                for at in range(indptr[i], indptr[i + 1]):
                    score += data[at] * w[indices[at]]
                slope = y * score - 1 + alpha[a] * 0.5 / costs[i]
                new = max(alpha[a] - slope / squares[a], 0.0)
                change = new - alpha[a]
                if change != 0:
                    alpha[a] = new
                    largest = max(largest, abs(change))
                    for at in range(indptr[i], indptr[i + 1]):
                        w[indices[at]] += change * y * data[at]
                    bias += change * y
            if step == 0:
                first = largest
            if largest <= tolerance * first:
                break
        biases[j] = bias
        for a in range(n_seen):
            sizes[a] = abs(w[seen[a]])
        least = 0.0
        if n_seen > most_features:
            least = np.sort(sizes[:n_seen])[n_seen - most_features]
        place = weight_starts[j]
        if place + min(n_seen, most_features) > len(weights):
            more_features = np.empty(2 * (place + most_features), np.int32)
            more_weights = np.empty(2 * (place + most_features), np.float32)
            for a in range(place):
                more_features[a], more_weights[a] = features[a], weights[a]
            features, weights = more_features, more_weights
        end = place + min(n_seen, most_features)
        for a in range(n_seen):
            f = seen[a]
            if abs(w[f]) >= least and w[f] != 0 and place < end:
                features[place], weights[place] = f, w[f]
                place += 1
            w[f], mark[f] = 0.0, False
        weight_starts[j + 1] = place
    end = weight_starts[n_machines]
    return weight_starts, features[:end].copy(), weights[:end].copy(), biases


@njit(cache=True, nogil=True)
def candidate_scores(table, n_features, rows, candidates, machines):
    """Return the scores of the candidates of some rows, 0 where a row has no more candidates."""
    data, indices, indptr = table
    weight_starts, features, weights, biases = machines
    scores = np.zeros(candidates.shape, np.float32)
    x = np.zeros(n_features, np.float32)
    for r in range(len(rows)):
        i = rows[r]
        for at in range(indptr[i], indptr[i + 1]):
            x[indices[at]] = data[at]
        for c in range(candidates.shape[1]):
            j = candidates[r, c]
            if j < 0:
                continue
            score = biases[j]
            for at in range(weight_starts[j], weight_starts[j + 1]):
                score += weights[at] * x[features[at]]
            scores[r, c] = score
        for at in range(indptr[i], indptr[i + 1]):
            x[indices[at]] = 0
    return scores
