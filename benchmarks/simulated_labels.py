"""Simulated tables with very many labels: a power law of labels that occur in bundles.

Labels belong to groups (topics). Within a group some bundles of labels are used together, as tags
are; a row has one or two groups, most labels of one bundle of each, and now and then another label
of the group. Its words are drawn from those of its labels, those of its groups, and a background.
Words are shared by many labels, so no word stands for one.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

# Labels in a group, bundles of a group, labels in a bundle.
GROUP, BUNDLES, BUNDLE = 50, 20, 6
# Words that stand for a label and for a group; words of a row, on average.
LABEL_WORDS, GROUP_WORDS, ROW_WORDS = 15, 40, 60
# Popularity of the label of rank i is proportional to (i + 10) to this power.
POWER = -1.0


class Simulated(NamedTuple):
    """Words and labels of rows, both CSR, and the group of each label."""

    X: sparse.csr_array
    Y: sparse.csr_array
    group: np.ndarray


def simulate(n_rows: int, n_labels: int, n_words: int = 50_000, seed: int = 0) -> Simulated:
    """Return rows of a topic model, with a power law of labels and words."""
    random = np.random.default_rng(seed)
    n_groups = max(2, n_labels // GROUP)
    popularity = random.permutation((np.arange(n_labels) + 10.0) ** POWER)
    group = np.sort(np.arange(n_labels) % n_groups)
    starts = np.searchsorted(group, np.arange(n_groups + 1))
    bundles = _bundles(popularity, starts, random)
    weight = np.add.reduceat(popularity, starts[:-1])

    primary = _drawn(weight, n_rows, random)
    second = np.where(random.random(n_rows) < 0.4, _drawn(weight, n_rows, random), -1)
    rows, labels = [np.arange(n_rows)], [_alone(popularity, starts, primary, random)]
    for own in (primary, second):
        has = np.flatnonzero(own >= 0)
        bundle = bundles[own[has], np.minimum(random.geometric(0.2, len(has)) - 1, BUNDLES - 1)]
        row, place = np.nonzero(random.random(bundle.shape) < 0.45)
        rows.append(has[row])
        labels.append(bundle[row, place])
    Y = _table(np.concatenate(rows), np.concatenate(labels), (n_rows, n_labels))
    Y.data[:] = 1
    X = _words(Y, group, primary, n_words, random)
    return Simulated(X, Y.astype(np.uint8), group)


def _bundles(popularity, starts, random):
    """Return the labels of every bundle of every group, the popular ones more often."""
    found = np.empty((len(starts) - 1, BUNDLES, BUNDLE), dtype=np.int64)
    for g in range(len(starts) - 1):
        own = np.arange(starts[g], starts[g + 1])
        keys = random.exponential(size=(BUNDLES, len(own))) / np.sqrt(popularity[own])
        order = np.argsort(keys, axis=1)[:, :BUNDLE]
        found[g] = own[order[:, np.arange(BUNDLE) % order.shape[1]]]
    return found


def _drawn(weight, n, random):
    cumulated = np.cumsum(weight)
    return np.searchsorted(cumulated, random.random(n) * cumulated[-1])


def _alone(popularity, starts, groups, random):
    """Return a label of each group, drawn by popularity."""
    cumulated = np.concatenate([[0.0], np.cumsum(popularity)])
    low, high = cumulated[starts[groups]], cumulated[starts[groups + 1]]
    found = np.searchsorted(cumulated, low + random.random(len(groups)) * (high - low)) - 1
    return np.clip(found, starts[groups], starts[groups + 1] - 1)


def _words(Y, group, primary, n_words, random):
    """Return how often each word occurs in each row."""
    n_rows, n_labels = Y.shape
    zipf = (np.arange(n_words) + 50.0) ** -0.7
    words_of_label = _drawn(zipf, (n_labels, LABEL_WORDS), random)
    words_of_group = _drawn(zipf, (int(group[-1]) + 1, GROUP_WORDS), random)
    common = (np.arange(n_words) + 3.0) ** -1.1
    length = random.poisson(ROW_WORDS, n_rows) + 1
    row = np.repeat(np.arange(n_rows), length)
    count = np.diff(Y.indptr)
    label = Y.indices[Y.indptr[row] + (random.random(len(row)) * count[row]).astype(np.int64)]
    # The first words of a label or group are the most used.
    place = np.minimum(random.geometric(0.15, len(row)) - 1, LABEL_WORDS - 1)
    of_group = np.minimum(random.geometric(0.06, len(row)) - 1, GROUP_WORDS - 1)
    kind = random.random(len(row))
    word = np.where(
        kind < 0.4,
        words_of_label[label, place],
        np.where(
            kind < 0.65, words_of_group[group[label], of_group], _drawn(common, len(row), random)
        ),
    )
    return _table(row, word, (n_rows, n_words)).astype(np.float64)


def _table(rows, columns, shape):
    # Indices of 32 bits: liblinear takes no others.
    cells = rows.astype(np.int32), columns.astype(np.int32)
    table = sparse.csr_array((np.ones(len(rows)), cells), shape=shape)
    table.sum_duplicates()
    return table
