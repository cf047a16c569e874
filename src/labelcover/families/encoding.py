"""From a label table and a cover to one single-label problem per member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover


@dataclass(frozen=True)
class Encoding:
    """The single-label problems of all members.

    Attributes
    ----------
    cover : Cover
        Which labels each member holds.
    codes : ndarray of shape (size, n), int32
        ``codes[j, i]`` is the class of row ``i`` for member ``j``, from 0.
    offsets : ndarray of shape (size + 1,), int64
        The classes of member ``j`` are ``offsets[j]:offsets[j + 1]`` of all classes side by side.
    patterns : ndarray of shape (n_classes, k), uint8
        The 0/1 values of the member's labels in each class, in the order of
        ``cover.labelsets[j]``. Within a member, classes are in lexicographic order of patterns.
    """

    cover: Cover
    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    patterns: NDArray[np.uint8]

    @property
    def n_classes(self) -> int:
        """Number of classes of all members together."""
        return int(self.offsets[-1])


def encode(Y: NDArray[np.uint8], cover: Cover) -> Encoding:
    """Return the single-label problem of every labelset of `cover`.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        Zeros and ones.
    cover : Cover
        Of the same number of labels.
    """
    size, n = len(cover), len(Y)
    codes = np.empty((size, n), dtype=np.int32)
    patterns = []
    for j, labels in enumerate(cover.labelsets):
        found, inverse = np.unique(Y[:, labels], axis=0, return_inverse=True)
        codes[j] = inverse.ravel()
        patterns.append(found.astype(np.uint8))
    offsets = np.cumsum([0] + [len(found) for found in patterns])
    return Encoding(cover, codes, offsets, np.concatenate(patterns))
