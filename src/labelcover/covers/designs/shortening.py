"""Designs on more points than there are labels: the surplus points are taken out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def shortened(blocks: NDArray, points: int, n_labels: int) -> NDArray[np.int32]:
    """Return the blocks without ``points − n_labels`` of their points; freed places are −1.

    The points of whole blocks are taken out as far as possible, so that blocks vanish.
    """
    name = np.zeros(points, dtype=np.int32)
    gone = points - n_labels
    while gone > 0:
        # The block that already lost most points, of those that have any left.
        missing = (name[blocks] < 0).sum(axis=1)
        missing[missing == blocks.shape[1]] = -1
        rest = [p for p in blocks[int(np.argmax(missing))] if name[p] >= 0][:gone]
        name[rest] = -1
        gone -= len(rest)
    name[name >= 0] = np.arange(n_labels)
    rows = name[blocks]
    return rows[(rows >= 0).sum(axis=1) > 1]
