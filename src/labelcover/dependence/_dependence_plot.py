"""The picture of the label dependence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_integer
from labelcover._imports import naming_extra
from labelcover._label_values import label_rows
from labelcover._picture_style import ACCENT, INK, PAPER, SECOND, picture_style
from labelcover.dependence._chi_square import label_dependence, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TICKS = 60
# The best order of the leaves takes time cubic in the number of labels.
MOST_ORDERED_LEAVES = 300
# More labels than this cannot be told apart in a picture.
MOST_LABELS = 2_000


@naming_extra()
def plot_dependence(
    Y: Any, label_names: ArrayLike | None = None, *, n_pairs: int = 40, min_count: int = 5
) -> Figure:
    """Draw which labels go together: a heat map of φ, and the graph of the strongest pairs.

    In the heat map labels are in the order of a hierarchical clustering. In the graph the labels
    of the `n_pairs` pairs with the greatest χ² stand on a circle in the same order; lines are as
    wide as the dependence is strong, blue where labels attract and orange where they avoid each
    other. Only pairs that occur together at least `min_count` times are drawn as lines.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones; at most 2,000 labels.
    label_names : array-like of str, optional
        Names of the labels; their numbers by default.

    Returns
    -------
    matplotlib.figure.Figure
        Needs matplotlib (the ``report`` extra).
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = label_rows(Y)
    m = rows.shape[1]
    n_pairs = check_integer("n_pairs", n_pairs, low=1)
    if m > MOST_LABELS:
        raise ValueError(f"Y must have at most {MOST_LABELS} labels for a picture, got {m}.")
    names = np.asarray(range(m) if label_names is None else label_names, dtype=str)
    if names.shape != (m,):
        raise ValueError(f"label_names must hold {m} names, got {names.size}.")
    correlation = phi(rows)
    order = clustered_order(correlation)
    dependence = label_dependence(rows, 2, min_count=min_count)
    strongest = np.argsort(-dependence.chi_square, kind="stable")[:n_pairs]

    with rc_context(picture_style()):
        side = float(np.clip(3 + m / 7, 4.2, 6.5))
        figure = Figure(figsize=(2.15 * side, side), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_heat_map(figure, left, correlation, order, names)
        _draw_graph(right, correlation, order, dependence.labelsets[strongest], names)
        return figure


def clustered_order(correlation: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the labels in the order of a hierarchical clustering: like beside like.

    Parameters
    ----------
    correlation : ndarray of shape (m, m)
        φ of every pair of labels; the distance is 1 − φ, with average linkage.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    m = len(correlation)
    if m < 3:
        return np.arange(m)
    distance = 1.0 - correlation[np.triu_indices(m, 1)]
    tree = linkage(distance, "average", optimal_ordering=m <= MOST_ORDERED_LEAVES)
    return leaves_list(tree).astype(np.intp)


def _draw_heat_map(figure, axes, correlation, order, names) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    # From what excludes each other over none to what goes together.
    colours = LinearSegmentedColormap.from_list("labelcover", [SECOND, PAPER, ACCENT])
    shown = correlation[np.ix_(order, order)].copy()
    np.fill_diagonal(shown, np.nan)
    # One strong pair must not pale all the others.
    values = np.abs(shown[~np.isnan(shown)])
    limit = (np.quantile(values, 0.99) if values.size else 0.0) or 1.0
    image = axes.imshow(shown, cmap=colours, vmin=-limit, vmax=limit, interpolation="nearest")
    figure.colorbar(image, ax=axes, label="correlation φ of two labels", extend="both", shrink=0.8)
    axes.grid(False)
    axes.set_title(f"{len(order)} labels, like beside like")
    if len(order) <= MOST_TICKS:
        axes.set_xticks(np.arange(len(order)), names[order], rotation=90, fontsize=7)
        axes.set_yticks(np.arange(len(order)), names[order], fontsize=7)
    else:
        axes.set(xlabel="label", ylabel="label")


def _draw_graph(axes, correlation, order, pairs, names) -> None:
    axes.set_axis_off()
    title = f"the {len(pairs)} most dependent pairs"
    axes.set(aspect="equal", xlim=(-1.8, 1.8), ylim=(-1.8, 1.8), title=title)
    shown = order[np.isin(order, pairs)]
    if len(shown) == 0:
        axes.text(0, 0, "no labels occur together", ha="center", va="center")
        return
    angle = 2 * np.pi * np.arange(len(shown)) / len(shown)
    x, y = np.full(len(order), np.nan), np.full(len(order), np.nan)
    x[shown], y[shown] = np.cos(angle), np.sin(angle)
    for i, j in pairs[::-1]:
        strength = correlation[i, j]
        axes.plot(
            [x[i], x[j]], [y[i], y[j]], color=ACCENT if strength > 0 else SECOND,
            linewidth=0.5 + 4 * abs(strength), alpha=0.6, zorder=1,
        )  # fmt: skip
    axes.scatter(x[shown], y[shown], s=30, color=INK, zorder=2)
    for label, turn in zip(shown, np.degrees(angle), strict=True):
        inward = 90 < turn < 270
        axes.text(
            1.06 * x[label], 1.06 * y[label], names[label], fontsize=8,
            rotation=turn + 180 if inward else turn, rotation_mode="anchor",
            ha="right" if inward else "left", va="center",
        )  # fmt: skip
