"""What labels say of each other: known labels of a row speak for and against its other labels.

With the log-odds ``l`` and the probabilities ``p`` of the pool, and a share ``s`` of known labels::

    logit P(y_j | x, known) = l_j + α_j(s) (c_j − l_j) + β_j(s) l_j + γ_j(s) + Σ_k w_jk (y_k − p_k)

- ``c_j`` are the log-odds of the label over the labelsets that occur in training, given what is
  known (`SeenLabelsets`);
- ``α`` says how far these are trusted, ``β`` and ``γ`` calibrate. With nothing known they are the
  weights of a pool of ``l`` and ``c`` (`labelcover.ensemble._log_linear_pool`), which a label has
  of its own as far as its rows tell; with the share of known labels they change alike for all
  labels, piecewise linearly;
- ``w`` are the links: the sum is over known labels that share a labelset of the cover with ``j``.

All is fitted on left-out predictions: with nothing known first, then with labels hidden at random,
so that 5 to 97 % of them are known. Where labels of training rows are not known, nothing is fitted
to these, and the labelsets that occur are those of the left-out rows, whose unknown labels are
drawn: by their probabilities first, and then twice by what the links fitted to the last draw say,
given the known labels of the row. A label that is never known to be absent, or present, has its
likelier value in all of them, so that it says nothing.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit, softmax

from labelcover._label_values import alike_rows
from labelcover._table_numbers import blocks
from labelcover.covers import Cover, linked_labels
from labelcover.ensemble._confidence_kernels import exponentials_below
from labelcover.ensemble._log_linear_pool import fit_pool, least_loss
from labelcover.learners import blas_threads, row_products

Floats = NDArray[np.float64]
# A cell of a known table: 0, 1, or this.
UNKNOWN = -1
# Where more labelsets occur, only the most frequent of these many count.
MOST_LABELSETS = 5_000
# Numbers in one block of rows by labelsets (2 MB: new memory costs more than the sums in it).
BLOCK_NUMBERS = 2**18
# Added to observed and expected counts, so that a labelset seen once says little.
PSEUDO_COUNT = 0.5
TINY = 1e-9
# A labelset that differs from a known label loses so much log-odds: it is not excluded.
MISMATCH = 6.0
# The probability that a row has a labelset that never occurred: its labels are then as pooled.
NEW_LABELSET = 0.03
# Labels are hidden in so many ways, in no more rows than these, and once all of them in all rows.
MASKS, LEAST_KNOWN, MOST_KNOWN = 3, 0.05, 0.97
MOST_MASKED = 1_024
# Where the changes of α, β and γ bend, in shares of known labels; with nothing known they are 0.
KNOTS = np.array([0.2, 0.5, 1.0])
# How far labels deviate with nothing known, as a variance: the pool has weighed each already.
OWN_VARIANCE = 0.1
# Penalties on these changes, and on the links of a label.
CHANGE_PENALTY, LINK_PENALTY = 4.0, 6.0
# Changes are fitted on no more cells than these.
MOST_CELLS = 2**18
TOLERANCE, MOST_STEPS = 1e-3, 12
# How often labels that are not known are drawn (benchmarks/bench_unknown.py).
N_DRAWS = 3
# Slopes are averaged over so many points, where labelsets by labels are no more than these.
(NODES, NODE_WEIGHTS), MOST_SLOPES = np.polynomial.legendre.leggauss(4), 2**17


@dataclass(frozen=True, eq=False)
class SeenLabelsets:
    """The labelsets of the training rows, and how much more frequent they are than expected.

    With the probabilities ``p`` of the labels of a row, ``P(L) ∝ lift(L) Π_j p_j(L)`` over the
    labelsets that occur; the lift is how often ``L`` occurs over how often independent labels
    would make it. Where a label is known, its probability is nearly 0 or 1.

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels), uint8
        Rows of zeros and ones.
    counts, expected : ndarray of shape (n_labelsets,)
    """

    labelsets: NDArray[np.uint8]
    counts: Floats
    expected: Floats

    def log_odds(
        self, P: Floats, known: NDArray[np.int8] | None, left_out: "LeftOutLabelsets | None" = None
    ) -> Floats:
        """Return the log-odds of the labels of rows over the labelsets that occur.

        For training rows these are the labelsets of the other rows; `P` is of the first of them.
        New rows are rounded as if each were alone.
        """
        product = row_products if left_out is None else np.matmul
        lift, sets = _log_lift(self.counts, self.expected), self.labelsets.astype(np.float64)
        odds, means = evidence(P, known), np.empty_like(P)
        for rows in blocks(len(P), BLOCK_NUMBERS // max(1, len(sets))):
            joint = product(odds[rows], sets.T)
            if left_out is not None:
                joint[np.arange(len(joint)), left_out.own[rows]] += left_out.without[rows]
            totals = exponentials_below(joint, lift, True)[:, None]
            sums = product(joint, sets)
            means[rows] = np.where(totals > 0, sums / np.maximum(totals, TINY), P[rows])
        # Labelsets that never occurred may occur.
        return logit((1 - NEW_LABELSET) * np.clip(means, 0, 1) + NEW_LABELSET * _inside(P))

    def slopes(self, label: int, start: Floats, odds: Floats) -> Floats:
        """Return the mean derivatives of a label's log-odds by all, on lines from a start."""
        if self.labelsets.size > MOST_SLOPES:  # other labels are left out
            return np.tile(np.eye(1, odds.shape[1], label), (len(odds), 1))
        sets, found = self.labelsets.astype(np.float64), np.zeros_like(odds)
        lift = _log_lift(self.counts, self.expected)
        for rows in blocks(len(odds), BLOCK_NUMBERS // max(1, len(sets))):
            for node, weight in zip((NODES + 1) / 2, NODE_WEIGHTS / 2, strict=True):
                at = start + node * (odds[rows] - start)
                share = softmax(at @ sets.T + lift, axis=1)
                means, both = share @ sets, (share * sets[:, label]) @ sets
                own, p = means[:, [label]], expit(at[:, [label]])
                change = (1 - NEW_LABELSET) * (both - own * means)
                change[:, [label]] += NEW_LABELSET * p * (1 - p)
                mixed = (1 - NEW_LABELSET) * own + NEW_LABELSET * p
                found[rows] += weight * change / np.maximum(mixed * (1 - mixed), TINY)
        return found


class LeftOutLabelsets(NamedTuple):
    """What is not counted for training rows: themselves.

    Attributes
    ----------
    own : ndarray of shape (n_rows,)
        The labelset of each row, or -1 if that is not counted.
    without : ndarray of shape (n_rows,)
        What is added to the lift of this labelset when the row is left out.
    """

    own: NDArray[np.int64]
    without: Floats


def count_labelsets(
    Y: NDArray[np.uint8], rows: NDArray[np.int64], P: Floats, weights: Floats
) -> tuple[SeenLabelsets, LeftOutLabelsets]:
    """Return the labelsets of all training rows; `P` is of some of them, each to be left out."""
    group, first = alike_rows(np.packbits(Y, axis=1))
    found, order = np.unique(Y[first], axis=0, return_inverse=True)
    number = order.ravel()[group]
    counts = np.bincount(number, weights).astype(np.float64)
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELSETS])
    place = np.full(len(found), -1)
    place[kept] = np.arange(len(kept))
    own, mine = place[number[rows]], weights[rows]
    found, counts = found[kept], counts[kept]
    expected, of_row = np.zeros(len(kept)), np.zeros(len(rows))
    columns, none = found.T.astype(np.float64), np.zeros(len(kept))
    for block in blocks(len(P), BLOCK_NUMBERS // max(1, len(kept))):
        # The probability of each labelset if labels are independent.
        odds = evidence(P[block], None)
        joint = odds @ columns - np.logaddexp(0, odds).sum(axis=1)[:, None]
        exponentials_below(joint, none, False)
        expected += mine[block] @ joint
        of_row[block] = mine[block] * joint[np.arange(len(joint)), own[block]]
    expected *= weights.sum() / mine.sum()  # in all training rows as in those that are left out
    less = counts[own] - mine
    lift = _log_lift(np.maximum(less, 0), expected[own] - of_row)
    without = lift - _log_lift(counts, expected)[own]
    # A labelset that only the row has does not occur.
    without = np.where(own < 0, 0.0, np.where(less > TINY, without, -np.inf))
    seen = SeenLabelsets(found, counts, expected)
    return seen, LeftOutLabelsets(own, without)


@dataclass(frozen=True, eq=False)
class Links:
    """What known labels of a row say of the others, fitted.

    Attributes
    ----------
    seen : SeenLabelsets
    start : ndarray of shape (n_labels, 3)
        α, β and γ of each label with nothing known.
    changes : ndarray of shape (3, n_knots)
        What is added to these at the shares of known labels in `KNOTS`.
    weights : CSR array of shape (n_labels, n_labels)
        Row ``j`` has the links of label ``j``: what a known label ``k`` adds to its log-odds, times
        ``y_k − p_k``.
    """

    seen: SeenLabelsets
    start: Floats
    changes: Floats
    weights: sparse.csr_array

    def log_odds(self, P: Floats, known: NDArray[np.int8] | None = None) -> Floats:
        """Return the log-odds of the labels of new rows.

        Parameters
        ----------
        P : ndarray of shape (n, n_labels)
            Probabilities of the pool, inside (0, 1).
        known : int8 array of shape (n, n_labels), optional
            0 and 1 where a label is known, -1 elsewhere.
        """
        with blas_threads(len(P), P.shape[1], len(self.seen.labelsets)):
            C = self.seen.log_odds(P, known)
        return self.given(P, known, C)

    def given(self, P: Floats, known: NDArray[np.int8] | None, C: Floats) -> Floats:
        """Return the same from the log-odds over the labelsets, `C`."""
        L, changes = logit(_inside(P)), self.changes_of(known, len(P))
        odds = L + (self.start[:, 0] + changes[:, [0]]) * (C - L)
        odds += (self.start[:, 1] + changes[:, [1]]) * L
        odds += self.start[:, 2] + changes[:, [2]]
        return odds if known is None else odds + (self.weights @ surprises(P, known).T).T

    def changes_of(self, known: NDArray[np.int8] | None, n: int) -> Floats:
        """Return what is added to α, β and γ in each row, ``(n, 3)``; no matrix product rounds."""
        hats = np.zeros((n, len(KNOTS))) if known is None else _hats(known)
        return (hats[:, None, :] * self.changes).sum(axis=2)


def evidence(P: Floats, known: NDArray[np.int8] | None) -> Floats:
    """Return the log-odds of labels as the labelsets are told them: known ones nearly certain."""
    odds = logit(_inside(P))
    return odds if known is None else np.where(known < 0, odds, MISMATCH * (2 * known - 1.0))


def surprises(P: Floats, known: NDArray[np.int8]) -> Floats:
    """Return how far known labels are from what was expected, 0 where nothing is known."""
    return np.where(known < 0, 0.0, known - P)


def fit_links(
    Y: NDArray[np.uint8],
    rows: NDArray[np.int64],
    P: Floats,
    cover: Cover,
    frequency: Floats,
    sample_weight: Floats | None = None,
    *,
    cells: Floats | None = None,
    seed: int = 0,
) -> tuple[Links, Floats]:
    """Return the links of the labels of a cover, and the log-odds of left-out rows.

    Parameters
    ----------
    Y, sample_weight : ndarray of shape (n, n_labels) and (n,)
        The labels of all training rows, and their weights, if there are any.
    rows : ndarray of shape (n_rows,)
        The training rows that `P` is of, in random order if they are not all.
    P : ndarray of shape (n_rows, n_labels)
        Their probabilities by models fitted without them, inside (0, 1).
    cover : Cover
        Two labels are linked if a labelset holds both.
    frequency : ndarray of shape (n_labels,)
        How frequent the labels are in training, inside (0, 1).
    cells : ndarray of shape (n, n_labels), optional
        By what weights of rows are multiplied for each label; 0 where it is not known.
    seed : int
        For which labels are hidden.
    """
    weights = np.ones(len(Y)) if sample_weight is None else sample_weight / sample_weight.mean()
    random = np.random.default_rng(seed)
    known = np.ones(P.shape, bool) if cells is None else cells[rows] > 0
    told = np.where(known, Y[rows], UNKNOWN).astype(np.int8)
    with blas_threads(len(P), P.shape[1], min(len(Y), MOST_LABELSETS)):
        if cells is None:
            counted = count_labelsets(Y, rows, P, weights)
            return _fitted(counted, told, P, cover, frequency, weights[rows], random)
        own, chances = weights[rows, None] * cells[rows], P
        # Of labels known to be one value only, it is the likelier one that is drawn.
        is_open = (told == 0).any(axis=0) & (told == 1).any(axis=0)
        for _ in range(N_DRAWS):
            chances = np.where(is_open, chances, np.round(chances))
            drawn = np.where(told < 0, random.random(P.shape) < chances, told).astype(np.uint8)
            counted = count_labelsets(drawn, np.arange(len(rows)), P, weights[rows])
            links, odds = _fitted(counted, told, P, cover, frequency, own, random)
            chances = expit(links.given(P, told, links.seen.log_odds(P, told, counted[1])))
    return links, odds


def _fitted(
    counted: tuple[SeenLabelsets, LeftOutLabelsets],
    told: NDArray[np.int8],
    P: Floats,
    cover: Cover,
    frequency: Floats,
    weights: Floats,
    random: np.random.Generator,
) -> tuple[Links, Floats]:
    """Return the same from the labelsets that occur; weights are those of rows or of cells."""
    seen, left_out = counted
    own = weights if weights.ndim == 2 else weights[:, None] * np.ones_like(P)
    views = []
    for mask in range(1 + MASKS):  # first nothing is known, then what is not hidden at random
        n = min(len(P), MOST_MASKED) if mask else len(P)
        share = random.uniform(LEAST_KNOWN, MOST_KNOWN, n) if mask else np.zeros(n)
        shown, p, given = random.random(P[:n].shape) < share[:, None], P[:n], told[:n]
        known = np.where(shown, given, UNKNOWN).astype(np.int8)
        Y, hidden = (given > 0).astype(np.uint8), (given >= 0) & ~shown
        views.append(_Masked(p, known, seen.log_odds(p, known, left_out), Y, hidden, own[:n]))
    nothing = views.pop(0)
    # α, β and γ with nothing known: a pool of both log-odds.
    both = [expit(logit(_inside(P))), expit(nothing.C)]
    pool = fit_pool(both, nothing.Y, frequency, weights, variance=OWN_VARIANCE)
    rest = pool.weights.sum(axis=1) - 1
    start = np.column_stack([pool.weights[:, 1], rest, pool.intercept - rest * pool.base])
    links = Links(seen, start, np.zeros((3, len(KNOTS))), sparse.csr_array((P.shape[1],) * 2))
    masked = _Masked(*map(np.concatenate, zip(*views, strict=True)))
    del views
    links = replace(links, changes=_fit_changes(masked, links, random))
    links = replace(links, weights=_fit_weights(masked, links, cover))
    return links, links.given(P, None, nothing.C)


class _Masked(NamedTuple):
    """Left-out rows of which some labels are known.

    Their probabilities, what is known, log-odds over the labelsets of the other rows, labels, which
    of these are hidden (not those that nobody knows), and weights of cells.
    """

    P: Floats
    known: NDArray[np.int8]
    C: Floats
    Y: NDArray[np.uint8]
    hidden: NDArray[np.bool_]
    weights: Floats


def _fit_changes(masked: _Masked, links: Links, random: np.random.Generator) -> Floats:
    """Return how α, β and γ change with the share of known labels, ``(3, n_knots)``."""
    P, known, C, Y, hidden, weights = masked
    n_cells = int(hidden.sum())
    if n_cells > MOST_CELLS:
        hidden = hidden & (random.random(hidden.shape) < MOST_CELLS / n_cells)
    hats = np.repeat(_hats(known).T, hidden.sum(axis=1), axis=1)
    L, base = logit(_inside(P[hidden])), links.given(P, None, C)[hidden]
    inputs = np.concatenate([hats * (C[hidden] - L), hats * L, hats])
    return _ridge_loss(inputs, base, Y[hidden], weights[hidden], CHANGE_PENALTY).reshape(3, -1)


def _fit_weights(masked: _Masked, links: Links, cover: Cover) -> sparse.csr_array:
    """Return the links of each label, by ridge logistic regression with the rest as offset."""
    P, known, C, *others = masked
    together = linked_labels(cover)
    values = np.zeros(together.nnz)
    tables = links.given(P, known, C), surprises(P, known), *others
    offset, surprise, Y, hidden, w = (np.ascontiguousarray(each.T) for each in tables)
    for j in range(cover.n_labels):
        at = slice(together.indptr[j], together.indptr[j + 1])
        if at.start == at.stop:
            continue
        i = np.flatnonzero(hidden[j])
        inputs = surprise[together.indices[at]].take(i, axis=1)
        values[at] = _ridge_loss(inputs, offset[j, i], Y[j, i], w[j, i], LINK_PENALTY)
    return sparse.csr_array((values, together.indices, together.indptr), shape=together.shape)


def _ridge_loss(inputs: Floats, base: Floats, y: NDArray, w: Floats, penalty: float) -> Floats:
    """Return the weights of inputs ``(d, n)`` with the least log-loss plus penalty."""
    table = np.ascontiguousarray(inputs)[:, None]
    cells = table, *(np.ascontiguousarray(each)[None] for each in (base, y, w))
    how: dict[str, Any] = {"tolerance": TOLERANCE, "most_steps": MOST_STEPS}
    return least_loss(cells, np.zeros(len(inputs)), penalty, **how)[:, 0]


def given_others(
    Y: NDArray[np.uint8],
    P: Floats,
    cover: Cover | None = None,
    known: NDArray[np.bool_] | None = None,
) -> tuple[Floats, sparse.csr_array]:
    """Return the log-odds of every cell of a label table given all other labels of its row.

    And the links by which they are: a regression of each label with a constant, from which each row
    is left out (approximate leave-one-out, Rad and Maleki, 2020). The labelsets that occur say
    nothing here: a wrong label makes one that did not occur before.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models fitted without the row, inside (0, 1).
    cover : Cover, optional
        Two labels are linked if a labelset holds both; by default all are.
    known : ndarray of bool of shape (n, n_labels), optional
        Which labels are known: others say nothing of their rows.
    """
    m = Y.shape[1]
    together = sparse.csr_array(1.0 - np.eye(m)) if cover is None else linked_labels(cover)
    looked = np.ones(Y.shape, dtype=bool) if known is None else known
    given, surprise = logit(_inside(P)), np.where(looked, Y - P, 0.0)
    values = np.zeros(together.nnz)
    for j in range(m):
        at = slice(together.indptr[j], together.indptr[j + 1])
        inputs = np.vstack([surprise[:, together.indices[at]].T, np.ones(len(Y))])
        weights = looked[:, j].astype(np.float64)
        theta = _ridge_loss(inputs, given[:, j], Y[:, j], weights, LINK_PENALTY)
        odds = given[:, j] + theta @ inputs
        p = expit(odds)
        curve = (inputs * (weights * p * (1 - p))) @ inputs.T + LINK_PENALTY * np.eye(len(inputs))
        leverage = (inputs * np.linalg.solve(curve, inputs)).sum(axis=0)
        # Without the row, the fit would be further from it.
        leverage /= np.maximum(1 - p * (1 - p) * leverage, 1e-6)
        given[:, j], values[at] = odds - weights * leverage * (Y[:, j] - p), theta[:-1]
    return given, sparse.csr_array((values, together.indices, together.indptr), together.shape)


def effects_of_labels(model: Any) -> Floats | None:
    """Return what setting a label adds to the log-odds of each, ``(n_labels, n_labels)``.

    In a row of which nothing is known but the frequencies of labels: row ``k`` is for label ``k``
    set. None for a model without links.
    """
    links = getattr(model.view_, "links", None)
    if links is None:
        return None
    m = len(model.label_names_in_)
    P = np.tile(expit(model.view_.pool.base), (m, 1))
    found = links.log_odds(P, (2 * np.eye(m) - 1).astype(np.int8)) - links.log_odds(P)
    np.fill_diagonal(found, 0.0)
    return found


def _hats(known: NDArray[np.int8]) -> Floats:
    """Return how much of each knot there is in the share of known labels, ``(n, n_knots)``."""
    share, knots = (known >= 0).mean(axis=1), np.append(0.0, KNOTS)
    return np.column_stack([np.interp(share, knots, row) for row in np.eye(len(knots))[1:]])


def _inside(P: Floats) -> Floats:
    return np.clip(P, TINY, 1 - TINY)


def _log_lift(counts: Floats, expected: Floats) -> Floats:
    return np.log(counts + PSEUDO_COUNT) - np.log(np.maximum(expected, 0) + PSEUDO_COUNT)
