"""The picture of a cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from labelcover.covers.cover import Cover

MOST_TICKS = 60


def plot_cover(cover: Cover, label_names: ArrayLike | None = None) -> Figure:
    """Draw the incidence matrix of `cover` above the frequencies of its labels."""
    from matplotlib.figure import Figure

    m = cover.n_labels
    names = np.arange(m).astype(str) if label_names is None else np.asarray(label_names, dtype=str)
    if names.shape != (m,):
        raise ValueError(f"label_names must hold {m} names, got {names.size}.")
    figure = Figure(figsize=(float(np.clip(m / 5, 5, 14)), 6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    top.imshow(
        cover.matrix(), aspect="auto", cmap="Blues", vmin=0, vmax=1.25, interpolation="nearest"
    )
    top.set_ylabel("labelset")
    top.set_title(
        f"{len(cover)} labelsets of {cover.k_text} of {m} labels, imbalance {cover.imbalance}"
    )
    bottom.bar(np.arange(m), cover.label_counts, color="tab:blue", width=0.8)
    bottom.set_ylabel("labelsets")
    bottom.set_xlabel("label")
    if m <= MOST_TICKS:
        rotation = 0 if label_names is None else 90
        bottom.set_xticks(np.arange(m), names, rotation=rotation, fontsize=8, parse_math=False)
    return figure
