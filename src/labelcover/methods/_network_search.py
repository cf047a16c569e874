"""The structure of a Gaussian Bayesian network, by greedy search for the best BIC."""

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    Parameters
    ----------
    correlation : ndarray of shape (n_variables, n_variables)
    n_rows : int
        On how many rows it was computed.
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
            among = self.correlation[np.ix_(parents, parents)] + LEAST_VARIANCE * np.eye(
                len(parents)
            )
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

    Parameters
    ----------
    bic : GaussianBic
    max_parents : int
        How many parents a variable may have.
    seed : int
        Of the random changes.
    n_candidates : int
        Two variables may be linked only if one is among so many that the other is most strongly
        correlated with: this keeps the search quick for hundreds of variables.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods._network_search import GaussianBic, correlations, search_network
    >>> random = np.random.default_rng(0)
    >>> a, b, noise = random.normal(size=(3, 500))
    >>> table = np.column_stack([a, b, a + b + noise])
    >>> search_network(GaussianBic(correlations(table), 500), max_parents=3, seed=0)
    [(), (), (0, 1)]
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
        self.target, self.source = np.nonzero(_may_be_linked(bic.correlation, n_candidates))
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
            self.ancestors = _ancestors(self.parents)
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


def _ancestors(parents: list[list[int]]) -> NDArray[np.bool_]:
    """Return in row ``j`` from which variables a path leads to ``j``, itself among them."""
    ancestors = np.eye(len(parents), dtype=bool)
    for j in np.argsort(network_levels(parents), kind="stable").tolist():
        ancestors[j] |= ancestors[parents[j]].any(axis=0)
    return ancestors


def _may_be_linked(correlation: NDArray[np.float64], n_candidates: int) -> NDArray[Any]:
    """Return for every two variables whether one is among the most correlated with the other."""
    m = len(correlation)
    strength = np.abs(correlation)
    np.fill_diagonal(strength, -1)
    chosen = np.argsort(-strength, axis=1, kind="stable")[:, : min(n_candidates, m - 1)]
    allowed = np.zeros((m, m), dtype=bool)
    np.put_along_axis(allowed, chosen, True, axis=1)
    allowed &= strength > 0
    return allowed | allowed.T
