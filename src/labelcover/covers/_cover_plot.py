"""The picture of a cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labelcover._picture_style import ACCENT, PAPER, picture_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from labelcover.covers._cover import Cover

MOST_TICKS = 60
# With more labelsets than these, a line of the picture is the mean of several: of thinner lines
# most would not be drawn.
MOST_LINES = 400
# So many of the labelsets of a line hold a label where it is darkest.
DARKEST = 3


def plot_cover(cover: Cover, label_names: ArrayLike | None = None) -> Figure:
    """Draw the incidence matrix of `cover` above the frequencies of its labels."""
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    m = cover.n_labels
    names = np.arange(m).astype(str) if label_names is None else np.asarray(label_names, dtype=str)
    if names.shape != (m,):
        raise ValueError(f"label_names must hold {m} names, got {names.size}.")
    with rc_context(picture_style()):
        height = 3.0 + float(np.clip(len(cover) / 6, 0.5, 4))
        figure = Figure(figsize=(float(np.clip(m / 5, 5, 14)), height), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        # Labelsets are counted from 1.
        extent = (-0.5, m - 0.5, len(cover) + 0.5, 0.5)
        top.imshow(
            _lines(cover),
            aspect="auto",
            cmap=LinearSegmentedColormap.from_list("from none to all", [PAPER, ACCENT]),
            vmin=0,
            vmax=min(1.0, DARKEST * MOST_LINES / len(cover)),
            interpolation="nearest",
            extent=extent,
        )
        top.grid(False)
        top.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        top.set_ylabel("labelset")
        top.set_title(
            f"{len(cover)} labelsets of {cover.k_text} of {m} labels, imbalance {cover.imbalance}"
        )
        bottom.bar(np.arange(m), cover.label_counts, color=ACCENT, width=0.8)
        bottom.grid(axis="x", visible=False)
        bottom.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4, min_n_ticks=1))
        bottom.set_ylabel("labelsets")
        bottom.set_xlabel("label")
        if m <= MOST_TICKS:
            rotation = 0 if label_names is None else 90
            bottom.set_xticks(np.arange(m), names, rotation=rotation, fontsize=8)
        else:
            bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
        return figure


def _lines(cover: Cover) -> NDArray[np.float64]:
    """Return a line for each labelset, or for several: the share of them that holds each label."""
    lines = np.array_split(cover.matrix(), min(len(cover), MOST_LINES))
    return np.array([line.mean(axis=0) for line in lines])
