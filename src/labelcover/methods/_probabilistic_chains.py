"""Probabilistic classifier chains (PCC) and their ensemble (EPCC).

The labels of a chain span a binary tree: a path from the root gives the labels of the first links
their values, and its probability is the product of what the links say. Every way of inference
grows paths link by link for many rows at once, and differs in which paths it keeps.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._label_values import alike_rows
from labelcover._table_numbers import blocks
from labelcover.methods._chains import Chain, ChainModel, ChainsView

INFERENCES = ("auto", "exact", "beam", "epsilon", "monte-carlo")
# Exact inference takes up to this many labels: 32,768 labelsets a row.
MOST_EXACT_LABELS = 15
# Rows are taken together as long as they have no more paths than these.
MOST_PATHS = 2**18


@dataclass(frozen=True)
class Labelsets:
    """Some labelsets of each row, sorted by row.

    `log_probability` is what the chain says of a labelset, `share` what it counts among those of
    its row; these sum to one.
    """

    row: NDArray[np.int64]
    labels: NDArray[np.uint8]
    log_probability: NDArray[np.float64]
    share: NDArray[np.float64]

    def marginals(self, n_rows: int) -> NDArray[np.float64]:
        """Return the probability of every label, ``(n_rows, n_labels)``."""
        return self._sums(self.row, n_rows)

    def most_probable(self) -> NDArray[np.uint8]:
        """Return the most probable labelset of each row: best for subset accuracy."""
        order = np.lexsort((-self.log_probability, self.row))
        _, first = np.unique(self.row[order], return_index=True)
        return self.labels[order[first]]

    def best_for_f1(self, n_rows: int) -> NDArray[np.uint8]:
        """Return for each row the labels with the largest expected F1.

        This is the general F-maximiser: it needs ``P(y_i = 1, |y| = s)`` only. Of predictions of
        k labels the best has the k labels with the largest ``Σ_s 2 P(y_i = 1, |y| = s) / (s + k)``;
        an empty prediction scores the probability of the empty labelset.
        """
        sizes = self.labels.sum(axis=1, dtype=np.int64)
        most, m = max(1, int(sizes.max())), self.labels.shape[1]
        joint = self._sums(self.row * (most + 1) + sizes, n_rows * (most + 1))
        joint = joint.reshape(n_rows, most + 1, m)[:, 1:]
        of_size, empty = np.arange(1, most + 1), np.zeros(n_rows)
        np.add.at(empty, self.row[sizes == 0], self.share[sizes == 0])
        best, chosen = empty, np.zeros((n_rows, m), np.uint8)
        for k in range(1, m + 1):
            gains = np.einsum("s,nsi->ni", 2 / (of_size + k), joint)
            top = np.argsort(-gains, axis=1, kind="stable")[:, :k]
            score = np.take_along_axis(gains, top, axis=1).sum(axis=1)
            # A tie but for rounding goes to fewer labels.
            better = np.flatnonzero(score > best + 1e-12)
            best = np.maximum(best, score)
            chosen[better] = 0
            chosen[better[:, None], top[better]] = 1
        return chosen

    def _sums(self, group: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
        """Return the shares of the labels in each group of labelsets, ``(n_groups, n_labels)``."""
        places = (group, np.arange(len(group)))
        shares = sparse.csr_matrix((self.share, places), shape=(n_groups, len(group)))
        return np.asarray(shares @ self.labels.astype(np.float64))


def mean_of(found: list[Labelsets]) -> Labelsets:
    """Return the mean of the distributions of several chains."""
    if len(found) == 1:
        return found[0]
    row, labels, of_chains, shares = (
        np.concatenate([getattr(each, part.name) for each in found]) for part in fields(Labelsets)
    )
    group, first = alike_rows(np.column_stack([row, labels]).astype(np.int32, order="C"))
    share = np.bincount(group, shares) / len(found)
    # Sums of probabilities, relative to the largest of each labelset so that none vanishes.
    largest = np.full(len(first), -np.inf)
    np.maximum.at(largest, group, of_chains)
    sums = np.bincount(group, np.exp(of_chains - largest[group])) / len(found)
    order = np.argsort(row[first], kind="stable")
    log_probability = largest + np.log(sums)
    kept = first[order]
    return Labelsets(row[kept], labels[kept], log_probability[order], share[order])


@dataclass(frozen=True)
class Paths:
    """Beginnings of labelsets, all of the same length, their labels in the order of the chain."""

    row: NDArray[np.int64]
    labels: NDArray[np.uint8]
    log_probability: NDArray[np.float64]

    @classmethod
    def roots(cls, rows: NDArray[np.int64]) -> "Paths":
        """Return an empty path for each row."""
        return cls(rows, np.empty((len(rows), 0), np.uint8), np.zeros(len(rows)))

    def grown(self, chain: Chain, prepared: Any) -> "Paths":
        """Return every path with 0 and with 1 for the next link, one after the other."""
        link = self.labels.shape[1]
        p = chain.probability(prepared, self.row, link, self.labels)
        labels = np.empty((2 * len(p), link + 1), np.uint8)
        labels[:, :link] = np.repeat(self.labels, 2, axis=0)
        labels[0::2, link], labels[1::2, link] = 0, 1
        with np.errstate(divide="ignore"):
            steps = np.column_stack([np.log1p(-p), np.log(p)])
        log_probability = (self.log_probability[:, None] + steps).ravel()
        return Paths(np.repeat(self.row, 2), labels, log_probability)

    def some(self, kept: NDArray[Any]) -> "Paths":
        """Return some of the paths."""
        return Paths(self.row[kept], self.labels[kept], self.log_probability[kept])

    def and_others(self, others: "Paths") -> "Paths":
        """Return these and other paths of the same length."""
        both = zip(vars(self).values(), vars(others).values(), strict=True)
        return Paths(*map(np.concatenate, both))

    def more_probable_half(self) -> "Paths":
        """Return of each two that `grown` made of a path the more probable, the first of equals."""
        first = np.arange(0, len(self.row), 2)
        return self.some(first + (self.log_probability[1::2] > self.log_probability[0::2]))

    def labelsets(self, chain: Chain) -> Labelsets:
        """Return whole paths as labelsets, with shares in proportion to their probabilities."""
        order = np.argsort(self.row, kind="stable")
        row, log_probability = self.row[order], self.log_probability[order]
        _, first, group = np.unique(row, return_index=True, return_inverse=True)
        largest = np.maximum.reduceat(log_probability, first)
        share = np.exp(log_probability - largest[group])
        share /= np.add.reduceat(share, first)[group]
        labels = self.labels[order][:, np.argsort(chain.order)]
        return Labelsets(row, labels, log_probability, share)


def beam(chain: Chain, prepared: Any, rows: NDArray[np.int64], width: int) -> Labelsets:
    """Return what is left if only the `width` most probable paths of a row are grown on.

    With a width of ``2**n_labels`` that is all labelsets that are possible.
    """
    paths = Paths.roots(rows)
    for link in range(len(chain.order)):
        paths = paths.grown(chain, prepared)
        kept = paths.log_probability > -np.inf
        if 2 ** (link + 1) > width:
            order = np.lexsort((-paths.log_probability, paths.row))
            sorted_rows = paths.row[order]
            rank = np.arange(len(order)) - np.searchsorted(sorted_rows, sorted_rows)
            kept[order[rank >= width]] = False
        paths = paths.some(kept)
    return paths.labelsets(chain)


def epsilon_approximate(
    chain: Chain, prepared: Any, rows: NDArray[np.int64], epsilon: float
) -> Labelsets:
    """Return the labelsets of probability ``epsilon`` or more, all of them.

    Where a row has none, paths that could not be grown on are completed greedily.
    """
    paths, greedy = Paths.roots(rows), Paths.roots(rows[:0])
    for _ in chain.order:
        grown = paths.grown(chain, prepared)
        kept = grown.log_probability >= np.log(epsilon)
        stuck = ~(kept[0::2] | kept[1::2])
        greedy = greedy.grown(chain, prepared).more_probable_half()
        greedy = greedy.and_others(grown.some(np.repeat(stuck, 2)).more_probable_half())
        paths = grown.some(kept)
    greedy = greedy.some(~np.isin(greedy.row, paths.row))
    return paths.and_others(greedy).labelsets(chain)


def monte_carlo(
    chain: Chain, prepared: Any, rows: NDArray[np.int64], uniforms: NDArray[np.float64]
) -> Labelsets:
    """Return sampled labelsets, each once; shares are how often they were drawn.

    Parameters
    ----------
    uniforms : ndarray of shape (n_samples, n_labels)
        Sample ``s`` takes the label of link ``j`` where its probability exceeds
        ``uniforms[s, j]``. The numbers are the same for every row, so that the answer for a row
        does not depend on the rows beside it.
    """
    n_samples = len(uniforms)
    paths = Paths.roots(rows)
    # Samples that have taken the same path so far share it: which path each is on.
    at = np.repeat(np.arange(len(rows)), n_samples).reshape(len(rows), n_samples)
    for link in range(len(chain.order)):
        grown = paths.grown(chain, prepared)
        ones = np.exp(grown.log_probability[1::2] - paths.log_probability)
        kept, at = np.unique(2 * at + (uniforms[:, link] < ones[at]), return_inverse=True)
        at = at.reshape(len(rows), n_samples)
        paths = grown.some(kept)
    share = np.bincount(at.ravel(), minlength=len(paths.row)) / n_samples
    labels = paths.labels[:, np.argsort(chain.order)]
    return Labelsets(paths.row, labels, paths.log_probability, share)


def spread_uniforms(n_samples: int, n_labels: int, seed: int) -> NDArray[np.float64]:
    """Return uniform numbers that fill every column evenly: a Latin hypercube sample."""
    random = np.random.default_rng(seed)
    strata = np.array([random.permutation(n_samples) for _ in range(n_labels)]).T
    return (strata + random.random((n_samples, n_labels))) / n_samples


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticChainsView(ChainsView):
    """Probabilistic chains, with parameters of the estimator: marginals, and the best labelsets."""

    decide: str
    inference: str
    beam_width: int
    epsilon: float
    n_samples: int

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the marginal probability of every label."""
        marginals = np.empty((X.shape[0], self.orders.shape[1]))
        for rows, found in self._labelsets("hamming_loss", X):
            marginals[rows] = found.marginals(rows.stop - rows.start)
        return [marginals]

    def decided(self, X: Any) -> NDArray[np.bool_]:
        """Return the best labels of each row for the measure."""
        if self.decide == "hamming_loss":
            return self.confidences(X)[0] > 0.5
        chosen = np.empty((X.shape[0], self.orders.shape[1]), bool)
        for rows, found in self._labelsets(self.decide, X):
            if self.decide == "subset_accuracy":
                chosen[rows] = found.most_probable()
            else:
                chosen[rows] = found.best_for_f1(rows.stop - rows.start)
        return chosen

    def _labelsets(self, decide: str, X: Any) -> Iterator[tuple[slice, Labelsets]]:
        """Yield blocks of rows with the mean over chains, rows numbered within the block.

        Where the choice is left, all labelsets are looked at, or what serves the decision.
        """
        (n_chains, m), how = self.orders.shape, self.inference
        if how == "auto":
            serves = "beam" if decide == "subset_accuracy" else "monte-carlo"
            how = "exact" if m <= MOST_EXACT_LABELS else serves
        # How many paths a row has at most, what finds its labelsets, and by what in each chain.
        ways: dict[str, tuple[float, Callable[..., Labelsets], Any]] = {
            "exact": (2**m, beam, 2**m),
            "beam": (2 * self.beam_width, beam, self.beam_width),
            "epsilon": (min(2**m, 2 / self.epsilon), epsilon_approximate, self.epsilon),
            "monte-carlo": (2 * self.n_samples, monte_carlo, None),
        }
        most, find, by = ways[how]
        by = [by] * n_chains
        if how == "monte-carlo":
            by = [spread_uniforms(self.n_samples, m, own) for own in self.sample_seeds.tolist()]
        prepared = [chain.prepare(X) for chain in self.members]
        for block in blocks(X.shape[0], int(MOST_PATHS // (most * n_chains))):
            rows = np.arange(block.start, block.stop)
            of_chains = zip(self.members, prepared, by, strict=True)
            found = mean_of([find(chain, table, rows, own) for chain, table, own in of_chains])
            yield block, replace(found, row=found.row - block.start)


@dataclass(eq=False, repr=False, kw_only=True)
class _ProbabilisticChains(ChainModel):
    """What one probabilistic chain and an ensemble of them have in common."""

    decide: str = "subset_accuracy"
    inference: str = "auto"
    beam_width: int = 15
    epsilon: float = 0.01
    n_samples: int = 200

    # Marginals are cut at ½, which is best for the Hamming loss.
    threshold = 0.5

    def predict(self, X: Any) -> Any:
        """Return zeros and ones, ``(n, n_labels)``: the best labels for the measure of `decide`."""
        self._check_fitted()
        view: Any = self.view_
        return self._predicted(view.decided(self._coding.read(self, X)), X)

    def _make_view(self, learner, training, seed):
        return ProbabilisticChainsView(
            **self._bags(learner, training, seed),
            decide=self.decide,
            inference=self.inference,
            beam_width=int(self.beam_width),
            epsilon=float(self.epsilon),
            n_samples=int(self.n_samples),
        )

    def _check_parameters(self, n_labels, *, weighted):
        check_choice("decide", self.decide, ("subset_accuracy", "hamming_loss", "example_f1"))
        check_choice("inference", self.inference, INFERENCES)
        check_integer("beam_width", self.beam_width, low=1)
        check_real("epsilon", self.epsilon, above=0, high=1)
        check_integer("n_samples", self.n_samples, low=1)
        if self.inference == "exact" and n_labels > MOST_EXACT_LABELS:
            raise ValueError(
                f"inference='exact' goes through all labelsets and takes at most "
                f"{MOST_EXACT_LABELS} labels, got {n_labels}. Use 'auto', 'beam', 'epsilon' or "
                f"'monte-carlo'."
            )
        super()._check_parameters(n_labels, weighted=weighted)


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticChainClassifier(_ProbabilisticChains):
    """A classifier chain read as a joint distribution of the labels (PCC).

    Every link gives the probability of its label given X and the labels before it; their product
    is the probability of a labelset. `predict` returns the best labels for a measure, and
    `predict_proba` the marginal probability of each label.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the links are clones of; by default a `LeastSquaresClassifier`. It should have
        calibrated probabilities.
    order : array-like of shape (n_labels,), "random" or None, default=None
        The order of the labels in the chain, by their numbers; None keeps that of Y.
    decide : {"subset_accuracy", "hamming_loss", "example_f1"}, default="subset_accuracy"
        The measure for which `predict` is best in expectation: the most probable labelset, the
        labels with marginals above ½, or the labels with the largest expected F1 of the row (the
        general F-maximiser).
    inference : {"auto", "exact", "beam", "epsilon", "monte-carlo"}, default="auto"
        Which labelsets of a row are looked at. ``"exact"``: all of them, for up to 15 labels.
        ``"beam"``: those that remain if only the `beam_width` most probable beginnings are
        continued at each link. ``"epsilon"``: all whose probability is at least `epsilon`, or, if
        there are none, greedy continuations of the beginnings that were. ``"monte-carlo"``: a
        sample of `n_samples`. ``"auto"`` is ``"exact"`` for up to 15 labels; for more, the most
        probable labelset is found by ``"beam"``, marginals and F1 by ``"monte-carlo"``.
    beam_width : int, default=15
    epsilon : float, default=0.01
        If some labelset is at least this probable, the most probable one is found.
    n_samples : int, default=200
    n_jobs, verbose
        As for `LabelCoverClassifier`. A single chain is fitted in one process.
    random_state : int, RandomState or None, default=None
        Seed of a random order, of the links and of samples. Predictions of a fitted model are
        the same at each call.

    Attributes
    ----------
    orders_ : ndarray of shape (1, n_labels)
        The order of the labels.

    Notes
    -----
    ``"beam"`` and ``"epsilon"`` search for the most probable labelset. Marginals and expected F1
    are then taken over the labelsets found, with their probabilities scaled to sum to one.

    References
    ----------
    K. Dembczyński, W. Cheng, E. Hüllermeier: Bayes optimal multilabel classification via
    probabilistic classifier chains. ICML 2010.

    K. Dembczyński, W. Waegeman, W. Cheng, E. Hüllermeier: An exact algorithm for F-measure
    maximization. NIPS 2011.

    K. Dembczyński, W. Waegeman, E. Hüllermeier: An analysis of chaining in multi-label
    classification. ECAI 2012.

    A. Kumar, S. Vembu, A. K. Menon, C. Elkan: Beam search algorithms for multilabel learning.
    Machine Learning 92 (2013), 65–89.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import ProbabilisticChainClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = ProbabilisticChainClassifier(decide="example_f1", random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (100, 6)
    """

    order: Any = None

    def _orders(self, n_labels, seed):
        return np.arange(n_labels)[None] if self.order is None else super()._orders(n_labels, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleOfProbabilisticChainsClassifier(_ProbabilisticChains):
    """Probabilistic chains in random orders, each on its own sample of the rows (EPCC).

    The distribution of the labels is the mean over the chains of their joint distributions, of
    which `predict` returns the best labels for a measure and `predict_proba` the marginals.

    Parameters
    ----------
    estimator, decide, inference, beam_width, epsilon, n_samples, random_state
        As for `ProbabilisticChainClassifier`.
    n_chains, order, bagging, sample_fraction, n_jobs, verbose
        As for `EnsembleOfChainsClassifier`.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
        The labels of each chain, in order.

    Notes
    -----
    Without exact inference, the chains look at different labelsets, and one that a chain has not
    found counts as impossible in that chain.

    References
    ----------
    K. Dembczyński, W. Cheng, E. Hüllermeier: Bayes optimal multilabel classification via
    probabilistic classifier chains. ICML 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import EnsembleOfProbabilisticChainsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> EnsembleOfProbabilisticChainsClassifier(random_state=0).fit(X, Y).predict(X).shape
    (100, 6)
    """

    n_chains: int = 10
    order: Any = "random"
    bagging: Any = "bootstrap"
    sample_fraction: Any = None
