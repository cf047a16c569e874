"""LEAD: a Bayesian network of labels, learnt on what single-label models leave unexplained.

The structure of the network, taken as Gaussian, is found by a greedy search for the best BIC.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer
from labelcover.ensemble import (
    LabelModel,
    ThresholdParameters,
    TrainingRows,
    View,
    draw_seeds,
    drawn_seed,
)
from labelcover.methods._member_rows import (
    fitted,
    fitted_leaving_out,
    fitted_singles,
    rows_with_labels,
    with_labels,
)

# A variable is explained by others up to this fraction of its variance: rounding errors are larger
# than what is left of two columns that are equal.
LEAST_VARIANCE = 1e-8
# What a change must add to the score: networks that express the same independences score the same
# but for rounding errors.
LEAST_GAIN = 1e-6
# How often the search goes on from a network with so many random changes.
RESTARTS = 30
SHAKES = 3
# A pair of variables may be linked if one is among so many that the other correlates most with.
CANDIDATES = 10


def correlations(
    table: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the correlation of every two columns; a constant column correlates with none.

    They are rounded to ten digits: many networks score the same, and which of them is found must
    not depend on the order in which sums were taken.
    """
    share = np.full(len(table), 1 / len(table)) if weights is None else weights / weights.sum()
    centred = table - share @ table
    products = (centred * share[:, None]).T @ centred
    scale = np.sqrt(np.diag(products))
    varies = scale > np.sqrt(LEAST_VARIANCE) * np.abs(table).max()
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
    found = np.clip(products * np.outer(inverse, inverse), -1, 1).round(10)
    np.fill_diagonal(found, 1)
    return found


class GaussianBic:
    """The Bayesian information criterion of linear Gaussian networks on one table.

    The score of a network is the sum over its variables of ``-n/2 log(v) - log(n)/2 p``, where
    ``v`` is the part of a variable's variance that its ``p`` parents leave unexplained (Schwarz,
    1978; what all networks have in common is left out). The empty network scores 0, higher is
    better, and networks that express the same independences score the same.

    `n_rows` is on how many rows the correlations were computed.
    """

    def __init__(self, correlation: NDArray[np.float64], n_rows: int) -> None:
        self.correlation, self.n_rows = correlation, n_rows
        self.penalty = log(n_rows) / 2
        # One value for each set of parents, in whatever order rounding errors came in: then the
        # score of a search grows with every change, and it ends.
        self._known: dict[tuple[int, frozenset[int]], float] = {}

    def local(self, variable: int, parents: Iterable[int]) -> float:
        """Return the part of the score that belongs to one variable."""
        parents = frozenset(parents)
        known = self._known.get((variable, parents))
        return float(self.local_with_each(variable, parents, [])[0]) if known is None else known

    def local_with_each(
        self, variable: int, parents: Iterable[int], others: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return a variable's part of the score: as it is, then with each of `others` as well."""
        parents = sorted(parents)
        left = self._unexplained(variable, parents, [variable, *others])
        n_parents = len(parents) + (np.arange(len(left)) > 0)
        scores = -self.n_rows / 2 * np.log(left) - self.penalty * n_parents
        sets = [frozenset(parents), *(frozenset([*parents, other]) for other in others)]
        keys = [(variable, each) for each in sets]
        return np.array(list(map(self._known.setdefault, keys, scores.tolist())))

    def _unexplained(
        self, variable: int, parents: list[int], columns: list[int]
    ) -> NDArray[np.float64]:
        """Return the variance that parents leave, then what they leave with each other column.

        The first of `columns` is the variable itself.
        """
        variance = np.ones(len(columns))
        shared = self.correlation[variable, columns]
        if parents:
            # Parents that repeat each other would make this singular.
            among = self.correlation[np.ix_(parents, parents)]
            among = among + LEAST_VARIANCE * np.eye(len(parents))
            given = self.correlation[np.ix_(parents, columns)]
            explained = np.linalg.solve(among, given)
            variance = variance - np.einsum("pc,pc->c", given, explained)
            shared = shared - given[:, 0] @ explained
        variance = np.maximum(variance, LEAST_VARIANCE)
        variance[1:] = variance[0] - shared[1:] ** 2 / variance[1:]
        return np.maximum(variance, LEAST_VARIANCE)


def search_network(
    bic: GaussianBic, *, max_parents: int, seed: int, n_candidates: int = CANDIDATES
) -> list[tuple[int, ...]]:
    """Return the parents of every variable in a network that no single change improves.

    The search starts with no links and makes the change that improves the score most, of all
    additions, removals and reversals of one link that leave the network without a cycle, until
    none improves it. Then a few links are reversed at random and it goes on from there, 30 times;
    the best network is returned. Gains are kept and computed again only for variables whose
    parents changed.

    A variable may have `max_parents` parents. Two may be linked only if one is among the
    `n_candidates` that the other is most strongly correlated with: this keeps the search quick for
    hundreds of variables.
    """
    random = np.random.default_rng(seed)
    state = _Search(bic, max_parents, n_candidates)
    state.climb()
    for _ in range(RESTARTS):
        best, score = state.linked.copy(), state.score
        for _ in range(SHAKES):
            state.change_at_random(random)
        state.climb()
        if state.score <= score + LEAST_GAIN:
            state.set_links(best)
    return [tuple(sorted(parents)) for parents in state.parents]


def network_levels(parents: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return the level of every variable: 0 without parents, else one above its highest parent.

    Raises
    ------
    ValueError
        If there is a cycle.
    """
    levels = np.zeros(len(parents), dtype=np.int64)
    for j in TopologicalSorter(dict(enumerate(parents))).static_order():
        levels[j] = max((levels[parent] + 1 for parent in parents[j]), default=0)
    return levels


class _Search:
    """A network and the gain of every change of one link.

    Links are held as arrays: link ``l`` goes from ``source[l]`` to ``target[l]``, and
    ``backward[l]`` is the number of the opposite one.
    """

    def __init__(self, bic: GaussianBic, max_parents: int, n_candidates: int) -> None:
        self.bic, self.max_parents = bic, max_parents
        m = len(bic.correlation)
        self.score = 0.0
        self.parents: list[list[int]] = [[] for _ in range(m)]
        # Row j says from which variables a path leads to j.
        self.ancestors = np.eye(m, dtype=bool)
        # Two variables may be linked if one is among the most correlated with the other.
        strength = np.abs(bic.correlation)
        np.fill_diagonal(strength, -1)
        chosen = np.argsort(-strength, axis=1, kind="stable")[:, : min(n_candidates, m - 1)]
        allowed = np.zeros((m, m), dtype=bool)
        np.put_along_axis(allowed, chosen, True, axis=1)
        allowed &= strength > 0
        self.target, self.source = np.nonzero(allowed | allowed.T)
        number = np.full((m, m), -1)
        number[self.source, self.target] = np.arange(len(self.source))
        self.backward = number[self.target, self.source]
        self.starts = np.searchsorted(self.target, np.arange(m + 1))
        self.linked = np.zeros(len(self.target), dtype=bool)
        # What adding the link, or removing it, does to the score of its target.
        self.toggle = np.empty(len(self.target))
        for j in range(m):
            self._renew(j)

    def climb(self) -> None:
        """Make the best change again and again, until none improves the score."""
        while len(self.linked):
            closes_cycle = self.ancestors[self.source, self.target] & ~self.linked
            toggles = np.where(closes_cycle, -np.inf, self.toggle)
            reversals = np.where(self.linked, self.toggle + self.toggle[self.backward], -np.inf)
            while True:
                link, turned = int(np.argmax(toggles)), int(np.argmax(reversals))
                if max(toggles[link], reversals[turned]) <= LEAST_GAIN:
                    return
                if toggles[link] >= reversals[turned]:
                    self._flip(link)
                    break
                if self._reverse(turned):
                    break
                reversals[turned] = -np.inf

    def change_at_random(self, random: np.random.Generator) -> None:
        """Reverse a link that is there, or remove it, one time in five or if need be."""
        links = np.flatnonzero(self.linked)
        if len(links):
            link = int(random.choice(links))
            if random.random() < 0.2 or not self._reverse(link):
                self._flip(link)

    def set_links(self, linked: NDArray[np.bool_]) -> None:
        """Go back to a network seen before."""
        differ = self.linked != linked
        # Removals first: no variable may have too many parents, nor a cycle arise, in between.
        for link in [*np.flatnonzero(differ & self.linked), *np.flatnonzero(differ & linked)]:
            self._flip(int(link))

    def _reverse(self, link: int) -> bool:
        """Turn a link round; return False, with nothing changed, if that is not allowed."""
        backward = int(self.backward[link])
        if not np.isfinite(self.toggle[backward]):
            return False
        others = [p for p in self.parents[self.target[link]] if p != self.source[link]]
        if self.ancestors[others, self.source[link]].any():
            return False  # another path leads to the target
        self._flip(link)
        self._flip(backward)
        return True

    def _flip(self, link: int) -> None:
        """Add or remove a link."""
        source, target = int(self.source[link]), int(self.target[link])
        self.score += self.toggle[link]
        self.linked[link] = not self.linked[link]
        if self.linked[link]:
            self.parents[target].append(source)
            self.ancestors[self.ancestors[:, target]] |= self.ancestors[source]
        else:
            self.parents[target].remove(source)
            self.ancestors = np.eye(len(self.parents), dtype=bool)
            for j in np.argsort(network_levels(self.parents), kind="stable").tolist():
                self.ancestors[j] |= self.ancestors[self.parents[j]].any(axis=0)
        self._renew(target)

    def _renew(self, j: int) -> None:
        """Compute the gains of all links to `j` again."""
        links = slice(self.starts[j], self.starts[j + 1])
        linked, sources = self.linked[links], self.source[links]
        parents, gains = self.parents[j], np.full(len(linked), -np.inf)
        now, *more = self.bic.local_with_each(j, parents, sources[~linked].tolist())
        if len(parents) < self.max_parents:
            gains[~linked] = np.array(more) - now
        for i in np.flatnonzero(linked).tolist():
            rest = [parent for parent in parents if parent != sources[i]]
            gains[i] = self.bic.local(j, rest) - now
        self.toggle[links] = gains


@dataclass(eq=False, repr=False, kw_only=True)
class LeadClassifier(ThresholdParameters, LabelModel):
    """Multi-label learning by exploiting label dependency (LEAD).

    Labels that depend on each other only because both depend on the features need no model of
    their dependence. So LEAD first fits a model for each label alone, as binary relevance does,
    and looks at its errors, ``y - P(y = 1 | x)``: what is left there is dependence given the
    features. A Bayesian network of the errors, taken as Gaussian, says which labels are parents of
    which. Each label that has parents then gets a model with their values as further features:
    the true ones in training, those predicted at ½ for new rows, from the top of the network down.
    Labels without parents keep their first model; a network without links is binary relevance.

    Errors are those of left-out rows where the learner knows them, as
    `LeastSquaresClassifier` does by leave-one-out (of a sample of 2,048 rows if there are more).
    For other learners they are errors on the training rows, as published; a learner that repeats
    its training labels leaves none, and the network is then empty.

    The network is found by adding, removing and reversing links one at a time while the BIC
    improves, and again from random changes of the result. Two labels may be linked if one is
    among the 10 whose errors correlate most with those of the other.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`, whose scale, kernel
        and ridge are chosen once, for the labels alone.
    max_parents : int, default=3
        How many parents a label may have; 0 gives binary relevance.
    threshold : {"auto", "cv"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`. Parents are cut at ½.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    parents_ : list of tuple of int
        The parents of every label in the network.
    n_network_rows_ : int
        On the errors of how many rows the network was learnt.

    References
    ----------
    Zhang, Zhang: Multi-label learning by exploiting label dependency. KDD 2010, pages 999-1008.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods import LeadClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 3))
    >>> Y = (X[:, :2] + random.normal(size=(300, 2)) > 0).astype(int)
    >>> Y = np.column_stack([Y, Y[:, 0] ^ (random.random(300) < 0.1)])  # the first, nearly
    >>> model = LeadClassifier(random_state=0).fit(X, Y)
    >>> model.parents_
    [(2,), (), ()]
    >>> model.predict(X).shape
    (300, 3)
    """

    max_parents: int = 3

    parents_ = fitted("parents", "The parents of every label in the network, as numbers of labels.")
    n_network_rows_ = fitted("n_network_rows", "On how many rows' errors the network was learnt.")

    def _make_view(self, learner, training, seed):
        return LeadView(learner, int(self.max_parents), seed)

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        check_integer("max_parents", self.max_parents, low=0)


@dataclass(eq=False, repr=False)
class LeadView(View):
    """Members for single labels, and members for labels with the values of their parents.

    `alone` has the members of all labels without the values of parents; `given_parents`, for each
    set of parents, from the top of the network down: the parents, their children, and a
    `CoverView` of the children.
    """

    no_shares = "each label is predicted from others"

    learner: Any
    max_parents: int
    seed: int

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit all labels alone, learn the network, then fit the labels that have parents."""
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        training, self.alone = fitted_leaving_out(self.learner, rows, seed, **how)
        self.parents = self._learn_network(training)
        learner = self.learner.with_choices_of(self.alone.members)
        self.given_parents = []
        levels = network_levels(self.parents)
        # Sets of parents, those before their children first.
        families = sorted(
            set(self.parents) - {()}, key=lambda each: (max(levels[list(each)]), each)
        )
        seeds = draw_seeds(drawn_seed(seed), len(families)).tolist()
        for family, own in zip(families, seeds, strict=True):
            parents = np.array(family)
            children = np.array([j for j, each in enumerate(self.parents) if each == family])
            given = rows_with_labels(rows, parents)
            view = fitted_singles(learner, children, given, own, **how)
            self.given_parents.append((parents, children, view))
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidence of every label given the predicted values of its parents."""
        confidence = self.alone.confidences(X)[0]
        for parents, children, view in self.given_parents:
            known = confidence[:, parents] > 0.5
            confidence[:, children] = view.confidences(with_labels(X, known))[0][:, children]
        return [confidence]

    def _learn_network(self, training: TrainingRows) -> list[tuple[int, ...]]:
        """Return the parents of every label, from the errors of the members fitted alone."""
        if training.left_out is None:
            rows, confidence = np.arange(len(training.Y)), self.alone.confidences(training.X)[0]
        else:
            rows, (confidence, *_) = self.alone.left_out(training)
        self.n_network_rows = len(rows)
        weights = None if training.weights is None else training.weights[rows]
        found = correlations(training.Y[rows] - confidence, weights)
        bic = GaussianBic(found, len(rows))
        return search_network(bic, max_parents=self.max_parents, seed=self.seed)
