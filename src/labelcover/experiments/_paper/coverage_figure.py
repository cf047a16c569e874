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

from labelcover.covers.bounds import pair_coverage_probability

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: The panels: labels m, each with two or three k.
PANELS = {6: (3, 4), 14: (3, 4, 5), 22: (3, 5, 7)}
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
) -> NDArray[np.float64]:
    """Return how often random labelsets cover all pairs of labels, for each of some sizes σ.

    Parameters
    ----------
    n_labels, k : int
        Labels m, and labels in a labelset; all C(m, k) labelsets are listed.
    sizes : sequence of int
        Numbers of labelsets; without replacement at most C(m, k).
    replacement : bool
        Whether a labelset may be drawn twice.
    draws : int
        How many families of labelsets are drawn. The standard error is at most ``0.5/√draws``.

    Examples
    --------
    >>> from labelcover.experiments._paper.coverage_figure import simulated_coverage
    >>> simulated_coverage(4, 3, [2, 4], replacement=False, draws=50)
    array([0., 1.])
    """
    n_all, n_pairs, most = comb(n_labels, k), comb(n_labels, 2), max(sizes)
    # The numbers of the pairs of labels in each labelset.
    number = np.zeros((n_labels, n_labels), dtype=np.int64)
    number[np.triu_indices(n_labels, 1)] = np.arange(n_pairs)
    one, other = np.triu_indices(k, 1)
    sets = np.array(list(combinations(range(n_labels), k)))
    pairs = number[sets[:, one], sets[:, other]]
    random, covering = np.random.default_rng(0), []
    for start in range(0, draws, DRAWS_AT_ONCE):
        n = min(DRAWS_AT_ONCE, draws - start)
        if replacement:
            families = random.integers(n_all, size=(n, most))
        else:
            drawn = [random.choice(n_all, most, replace=False) for _ in range(n)]
            families = np.array(drawn)
        # The size at which a family first holds each pair: the largest is where it covers all.
        first = np.full((n, n_pairs), most + 1)
        for size in range(most, 0, -1):
            first[np.arange(n)[:, None], pairs[families[:, size - 1]]] = size
        covering.append(first.max(axis=1))
    return (np.concatenate(covering)[:, None] <= np.asarray(sizes)).mean(axis=0)


def coverage_curves(*, draws: int = DRAWS, panels: dict | None = None) -> pd.DataFrame:
    """Return the curves of Figure 1.

    Returns
    -------
    DataFrame
        ``m``, ``k``, ``size``, ``bound`` (Lemma 1), ``with replacement`` and ``without
        replacement`` (simulated; NaN where there are not so many labelsets).
    """
    import pandas as pd

    curves = []
    for m, ks in (panels or PANELS).items():
        for k in ks:
            sizes = curve_sizes(m, k)
            possible = [s for s in sizes if s <= comb(m, k)]
            found = simulated_coverage(m, k, possible, replacement=False, draws=draws)
            values = {
                "bound": pair_coverage_probability(m, k, np.array(sizes)),
                HOW[0]: simulated_coverage(m, k, sizes, replacement=True, draws=draws),
                HOW[1]: np.pad(found, (0, len(sizes) - len(found)), constant_values=np.nan),
            }
            curves.append(pd.DataFrame({"m": m, "k": k, "size": sizes, **values}))
    return pd.concat(curves, ignore_index=True)


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
    from labelcover.experiments._report import page_parts

    of_theme = light if theme == "plain" else page_parts
    colours = [of_theme.ACCENT, of_theme.SECOND, of_theme.INK]
    with rc_context(light.picture_style() if theme == "plain" else page_parts.STYLE):
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
