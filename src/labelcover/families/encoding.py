"""From a label table and a cover to one single-label problem per member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.families._encode import class_patterns, encode_members, fingerprints


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

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the members that pose distinct problems, and for each member which it poses.

        Two members pose the same problem if every row has the same class in both: the same
        labelset twice, or labels that agree in all rows. Member ``j`` poses the problem of
        member ``first[problem[j]]``.

        Returns
        -------
        first : ndarray of shape (n_problems,)
            The first member of each problem, ascending.
        problem : ndarray of shape (size,)
            Index into `first`.
        """
        seen: dict[int, list[int]] = {}
        first: list[int] = []
        problem = np.empty(len(self.codes), dtype=np.int64)
        for j, key in enumerate(fingerprints(self.codes).tolist()):
            alike = seen.setdefault(key, [])
            for p in alike:
                if np.array_equal(self.codes[first[p]], self.codes[j]):
                    problem[j] = p
                    break
            else:
                problem[j] = len(first)
                alike.append(len(first))
                first.append(j)
        return np.array(first, dtype=np.int64), problem

    def without_codes(self) -> Encoding:
        """Return the same classes without the training rows: all that prediction needs."""
        return Encoding(
            self.cover, np.empty((len(self.cover), 0), np.int32), self.offsets, self.patterns
        )


def encode(Y: NDArray[np.uint8], cover: Cover) -> Encoding:
    """Return the single-label problem of every labelset of `cover`.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        Zeros and ones, at least one row.
    cover : Cover
        Of the same number of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.covers import Cover
    >>> from labelcover.families.encoding import encode
    >>> Y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    >>> encoding = encode(Y, Cover([[0, 1], [0, 2]], n_labels=3))
    >>> encoding.codes
    array([[1, 0, 1, 2],
           [2, 0, 2, 1]], dtype=int32)
    >>> encoding.patterns[encoding.offsets[1] :]
    array([[0, 1],
           [1, 0],
           [1, 1]], dtype=uint8)
    """
    columns = np.ascontiguousarray(Y.T, dtype=np.uint8)
    codes = np.empty((len(cover), columns.shape[1]), dtype=np.int32)
    counts = encode_members(columns, cover.labelsets, codes)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    patterns = class_patterns(columns, cover.labelsets, codes, offsets)
    return Encoding(cover, codes, offsets, patterns)
