"""How the paper's methods make their labelsets: by which strategy, from which seed, in what time.

An estimator designs its cover inside ``fit``. A comparison wants the time of that apart from the
time of training (Table 9), and the paper's tables want the covers of several methods at once.
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labelcover
from labelcover._arguments import check_random_state
from labelcover.covers import Cover, strategies_by_name
from labelcover.ensemble import choose_cover, default_cover

MOST_SEED = 2**31 - 1
# The parameters of DD-BALANCOR's search for a permutation.
ANNEALING = ("decay", "n_iterations", "first_temperature", "n_restarts")
# LabelCoverClassifier(cover="auto").
AUTO = "auto"
# Strategies that only a given size stops early; estimators have a size of their own for these.
UNSIZED = ("random", "balco")


@dataclass(frozen=True)
class Design:
    """What a method does to have its labelsets.

    Attributes
    ----------
    strategy : str
        The name of the strategy in `labelcover.covers`.
    adapt : bool
        Whether labels are then permuted for the data, which the paper counts as training.
    """

    strategy: str
    adapt: bool = False


#: The methods of the paper.
DESIGNS: dict[type, Design] = {
    labelcover.RakelClassifier: Design("random"),
    labelcover.RakelPlusPlusClassifier: Design("random"),
    labelcover.InlacClassifier: Design("inlac"),
    labelcover.BalcoClassifier: Design("balco"),
    labelcover.BalancorClassifier: Design("balancor"),
    labelcover.DDBalancorClassifier: Design("balancor", adapt=True),
}


def design_of(estimator: Any) -> Design | None:
    """Return the design of an estimator; None if it makes no labelsets, or they are given."""
    if type(estimator) is labelcover.LabelCoverClassifier:
        # The cover that links labels follows from these: it has no design of its own.
        linking = estimator.cover == AUTO and estimator.estimator in (None, AUTO)
        named = isinstance(estimator.cover, str) and not linking
        return Design(estimator.cover, bool(estimator.adapt)) if named else None
    given = not isinstance(getattr(estimator, "cover", ""), str)
    return None if given else DESIGNS.get(type(estimator))


def fit_seeds(random_state: Any) -> NDArray[np.int64]:
    """Return the three seeds that every ensemble draws: cover, members, folds of the threshold."""
    return check_random_state(random_state).randint(MOST_SEED, size=3)


def cover_of(estimator: Any, Y: NDArray[np.uint8]) -> Cover:
    """Return the cover that one of the paper's estimators has after a fit on the labels `Y`.

    Parameters
    ----------
    estimator : an estimator of `DESIGNS`
        With a `size`; or whose labelsets are given.
    Y : ndarray of shape (n, n_labels)
        Zeros and ones.

    Examples
    --------
    >>> from labelcover import InlacClassifier
    >>> from labelcover.experiments._cover_designs import cover_of
    >>> import numpy as np
    >>> cover_of(InlacClassifier(k=3, size=7, random_state=0), np.eye(6, dtype=np.uint8))
    Cover(n_labels=6, k=3, size=7, imbalance=2, method='inlac')
    """
    design, parameters = design_of(estimator), estimator.get_params(deep=False)
    cover, _ = choose_cover(
        Y,
        estimator.cover if design is None else design.strategy,
        k=estimator.k,
        r=getattr(estimator, "r", 1),
        size=estimator.size,
        adapt=design is not None and design.adapt,
        min_count=parameters.get("min_count", 5),
        annealing={name: parameters[name] for name in ANNEALING if name in parameters},
        random_state=int(fit_seeds(estimator.random_state)[0]),
    )
    return cover


def design_seconds(estimator: Any, n_labels: int) -> float | None:
    """Return how long an estimator's strategy takes to make the labelsets.

    The strategy is called once more for this, apart from any fit: once in a process for each
    strategy, shape and seed. The permutation of DD-BALANCOR is not part of it.

    Returns
    -------
    float or None
        None for a method that makes no labelsets, is given them, chooses k by the data, or has
        random or BALCO labelsets without a given size.
    """
    design = design_of(estimator)
    if design is None:
        return None
    k, r, size = estimator.k, getattr(estimator, "r", 1), estimator.size
    if isinstance(k, str) or isinstance(r, str):
        return None
    k = min(int(k), n_labels)
    if size is None and design.strategy in UNSIZED:
        return None
    return _seconds(design.strategy, n_labels, k, min(int(r), k), size, estimator.random_state)


@lru_cache(maxsize=1024)
def _seconds(
    strategy: str, n_labels: int, k: int, r: int, size: int | None, random_state: Any
) -> float:
    seed = int(fit_seeds(random_state)[0])
    make = default_cover if strategy == AUTO else strategies_by_name()[strategy]
    start = time.perf_counter()
    make(n_labels, k, r, size=size, random_state=seed)
    return round(time.perf_counter() - start, 6)
