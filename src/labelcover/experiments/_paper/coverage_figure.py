"""Figure 1: the probability that random labelsets cover all pairs of labels.

The paper draws the bound of Lemma 1 only. Here it is drawn with what simulation finds for
labelsets drawn with replacement, as the lemma assumes, and without, as RAKEL draws them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer
from labelcover.covers.bounds import pair_coverage_probability

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: The panels: labels m, each with two or three k.
PANELS = {6: (3, 4), 14: (3, 4, 5), 22: (3, 5, 7)}
# The simulation lists all labelsets.
MOST_LABELSETS = 1_000_000
DRAWS, DRAWS_AT_ONCE = 20_000, 1_000
POINTS, MOST_SIZE = 25, 2**40
# The bound is drawn up to the size where it is this near to certain.
NEARLY_CERTAIN = 0.999
HOW = ("with replacement", "without replacement")


def simulated_coverage(
    n_labels: int,
    k: int,
    sizes: Sequence[int],
    *,
    replacement: bool,
    draws: int = DRAWS,
    random_state: int = 0,
) -> NDArray[np.float64]:
    """Return how often random labelsets cover all pairs of labels, for each of some sizes σ.

    Parameters
    ----------
    n_labels, k : int
        Labels m, and labels in a labelset, with C(m, k) at most a million.
    sizes : sequence of int
        Numbers of labelsets; without replacement at most C(m, k).
    replacement : bool
        Whether a labelset may be drawn twice.
    draws : int
        How many families of labelsets are drawn. The standard error is at most ``0.5/√draws``.
    random_state : int
        Seed.

    Examples
    --------
    >>> from labelcover.experiments._paper.coverage_figure import simulated_coverage
    >>> simulated_coverage(4, 3, [2, 4], replacement=False, draws=50)
    array([0., 1.])
    """
    m = check_integer("n_labels", n_labels, low=2)
    n_all = comb(m, check_integer("k", k, low=2, high=m))
    check_integer("C(n_labels, k)", n_all, low=1, high=MOST_LABELSETS)
    most = max(check_integer("sizes", size, low=1) for size in sizes)
    if not replacement and most > n_all:
        raise ValueError(
            f"sizes must be at most C({m}, {k}) = {n_all} without replacement, got {most}."
        )
    # The size at which a family first covers all tells for every σ whether it does.
    random = np.random.default_rng(random_state)
    pairs = _pairs_of_all(m, k)
    blocks = [min(DRAWS_AT_ONCE, draws - start) for start in range(0, draws, DRAWS_AT_ONCE)]
    first = np.concatenate(
        [_first_covering_sizes(pairs, _drawn(n_all, most, replacement, n, random)) for n in blocks]
    )
    return np.array([(first <= size).mean() for size in sizes])


def _pairs_of_all(m: int, k: int) -> NDArray[np.int64]:
    """Return the numbers of the pairs of labels in each labelset, ``(C(m, k), C(k, 2))``."""
    number = np.zeros((m, m), dtype=np.int64)
    number[np.triu_indices(m, 1)] = np.arange(comb(m, 2))
    first, second = np.triu_indices(k, 1)
    sets = np.array(list(combinations(range(m), k)))
    return number[sets[:, first], sets[:, second]]


def _drawn(
    n_all: int, most: int, replacement: bool, n: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return `n` families of `most` labelsets each, by their numbers."""
    if replacement:
        return random.integers(n_all, size=(n, most))
    return np.array([random.choice(n_all, most, replace=False) for _ in range(n)])


def _first_covering_sizes(
    pairs: NDArray[np.int64], families: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many labelsets each family takes to cover all pairs; one more if they do not."""
    n, most = families.shape
    found = np.full(n, most + 1)
    left, covered = np.arange(n), np.zeros((n, pairs.max() + 1), dtype=bool)
    for size in range(1, most + 1):
        covered[np.arange(len(left))[:, None], pairs[families[left, size - 1]]] = True
        done = covered.all(axis=1)
        if done.any():
            found[left[done]] = size
            left, covered = left[~done], covered[~done]
    return found


def coverage_curves(*, draws: int = DRAWS, panels: dict | None = None) -> pd.DataFrame:
    """Return the curves of Figure 1.

    Returns
    -------
    DataFrame
        ``m``, ``k``, ``size``, ``bound`` (Lemma 1), ``with replacement`` and ``without
        replacement`` (simulated; NaN where there are not so many labelsets).
    """
    import pandas as pd

    lines = []
    for m, ks in (panels or PANELS).items():
        for k in ks:
            sizes = curve_sizes(m, k)
            drawn = {HOW[0]: simulated_coverage(m, k, sizes, replacement=True, draws=draws)}
            possible = [s for s in sizes if s <= comb(m, k)]
            found = simulated_coverage(m, k, possible, replacement=False, draws=draws)
            drawn[HOW[1]] = np.pad(found, (0, len(sizes) - len(found)), constant_values=np.nan)
            bound = pair_coverage_probability(m, k, np.array(sizes))
            for i, size in enumerate(sizes):
                values = {how: float(drawn[how][i]) for how in HOW}
                lines.append({"m": m, "k": k, "size": size, "bound": float(bound[i])} | values)
    return pd.DataFrame(lines)


def curve_sizes(n_labels: int, k: int) -> list[int]:
    """Return the sizes at which a curve is drawn: evenly up to where the bound is almost 1."""

    def bound(size: int) -> float:
        return pair_coverage_probability(n_labels, k, np.array([size]))[0]

    top = bisect_left(range(MOST_SIZE), NEARLY_CERTAIN, lo=2, key=bound)
    return sorted({round(x) for x in np.linspace(1, top, POINTS)})


def draw_curves(curves: pd.DataFrame, theme: str = "plain") -> Figure:
    """Draw Figure 1: a panel for each m, a colour for each k.

    Parameters
    ----------
    curves : DataFrame
        What `coverage_curves` returns.
    theme : {"plain", "page"}
        In the light colours of the pages, or in those that follow the theme of the page it is in.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from labelcover import _picture_style as light
    from labelcover.experiments._report import pictures

    check_choice("theme", theme, ("plain", "page"))
    of_theme = light if theme == "plain" else pictures
    colours = [of_theme.ACCENT, of_theme.SECOND, of_theme.INK]
    with rc_context(light.picture_style() if theme == "plain" else pictures.STYLE):
        values = list(curves["m"].unique())
        figure = Figure(figsize=(3.4 * len(values), 3.4), layout="constrained")
        for axes, m in zip(np.atleast_1d(figure.subplots(1, len(values))), values, strict=True):
            of_m = curves[curves["m"] == m]
            for colour, (k, part) in zip(colours, of_m.groupby("k"), strict=False):
                x = part["size"]
                axes.plot(x, part["bound"], color=colour, label=f"k = {k}, Lemma 1")
                axes.plot(x, part[HOW[0]], "o", color=colour, markersize=3, mfc="none")
                axes.plot(x, part[HOW[1]], "x", color=colour, markersize=3.5)
            axes.set_title(f"m = {m} labels", fontsize=9)
            axes.set_xlabel("number of labelsets σ")
            axes.set_ylim(-0.03, 1.03)
            axes.legend(fontsize=7, loc="lower right")
        figure.axes[0].set_ylabel("probability that all pairs are covered")
        return figure
