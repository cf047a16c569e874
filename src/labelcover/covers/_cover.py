"""The `Cover`: an immutable family of labelsets, valid by construction."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelcover._arguments import check_integer
from labelcover._files import replacing
from labelcover._imports import naming_extra
from labelcover._picture_style import ACCENT, PAPER, picture_style
from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import (
    Labelsets,
    label_matrix,
    labelset_rows,
    labelset_table,
    marked,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "labelcover-cover"
# Files of labelsets of one size are of version 1, which older programs read; those of labelsets
# of different sizes are of version 2, which they refuse by name.
ONE_SIZE, SEVERAL_SIZES = 1, 2

# Up to this many r-labelsets coverage is counted in a table of one byte each; above, by sorting
# the labelsets that are covered.
TABLE_LIMIT = 2**28
# In a picture: labels whose names are shown; lines, each the mean of several labelsets if there
# are more, as most of thinner ones would not be drawn; how many of its labelsets hold a label
# where a line is darkest.
MOST_TICKS, MOST_LINES, DARKEST = 60, 400, 3


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Cover:
    """A family of labelsets of m labels, one labelset per member of an ensemble.

    A cover is the binary matrix of Section 2.1 of the paper, stored as label indices. Usually
    all labelsets have k labels, but they may differ in size, as in Table 1.
    It never changes once made, compares by value and can be a dictionary key. Iterating over it
    gives the labels of one labelset after the other.

    Parameters
    ----------
    labelsets : array-like of shape (size, k), or sequence of sequences of int
        Label indices, a row per labelset. The order of rows is kept; each row is sorted. As an
        attribute a read-only table, in which rows with fewer than k labels end in −1.
    n_labels : int
        Number of labels m. Every index must be in ``[0, m)``.
    method : str, optional
        What made the cover, for people to read. Not part of its value.
    lower_bound : int, optional
        A proven lower bound on the size of any cover of the same order. Not part of its value.

    Examples
    --------
    >>> from labelcover.covers import Cover
    >>> cover = Cover([[0, 1, 2], [0, 1, 3], [0, 2, 3]], n_labels=4)
    >>> cover
    Cover(n_labels=4, k=3, size=3, imbalance=1)
    >>> cover.coverage(2)
    1.0
    >>> cover.matrix().astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 0, 1],
           [1, 0, 1, 1]])

    Labelsets of different sizes:

    >>> cover = Cover([[0, 1, 2], [3, 4]], n_labels=5)
    >>> cover
    Cover(n_labels=5, k=2 to 3, size=2, imbalance=0)
    >>> cover.labelsets
    array([[ 0,  1,  2],
           [ 3,  4, -1]], dtype=int32)
    >>> [labels.tolist() for labels in cover]
    [[0, 1, 2], [3, 4]]
    """

    n_labels: int
    labelsets: NDArray[np.int32]
    method: str | None
    lower_bound: int | None

    def __init__(
        self,
        labelsets: Labelsets,
        n_labels: int,
        *,
        method: str | None = None,
        lower_bound: int | None = None,
    ) -> None:
        m = check_integer("n_labels", n_labels, low=1)
        table = labelset_table(labelsets, m)
        table.setflags(write=False)
        if lower_bound is not None:
            lower_bound = check_integer("lower_bound", lower_bound, low=0)
        vars(self).update(n_labels=m, labelsets=table, method=method, lower_bound=lower_bound)

    @classmethod
    def of(cls, labelsets: Any, n_labels: int) -> Cover:
        """Return labelsets as a cover of so many labels; what is a cover already, as it is."""
        return labelsets if isinstance(labelsets, cls) else cls(labelsets, n_labels)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, method: str | None = None) -> Cover:
        """Make a cover from a binary matrix, a labelset per row (Section 2.1).

        Constant-weight codes give labelsets of one size; Table 1 of the paper, orthogonal arrays
        and most other matrices labelsets of different sizes.

        Parameters
        ----------
        matrix : array-like of shape (size, n_labels)
            Zeros and ones, at least a one in every row.
        method : str, optional
            What made the matrix.

        Examples
        --------
        >>> from labelcover.covers import Cover
        >>> Cover.from_matrix([[1, 1, 0, 1], [0, 0, 1, 1]])
        Cover(n_labels=4, k=2 to 3, size=2, imbalance=1)
        """
        table = np.asarray(matrix)
        if table.ndim != 2 or table.size == 0 or not np.isin(table, (0, 1)).all():
            raise ValueError(
                "matrix must be a non-empty two-dimensional array of zeros and ones, "
                f"got shape {table.shape}."
            )
        rows, labels = np.nonzero(table)
        sizes = np.bincount(rows, minlength=len(table))
        if not sizes.all():
            raise ValueError(
                "matrix must hold a one in every row: a member without labels has nothing to "
                f"learn; row {int(np.argmin(sizes))} holds none."
            )
        if (sizes == sizes[0]).all():
            return cls(labels.reshape(len(table), -1), table.shape[1], method=method)
        return cls(np.split(labels, np.cumsum(sizes)[:-1]), table.shape[1], method=method)

    @property
    def k(self) -> int:
        """Number of labels in each labelset; in the largest, where they differ."""
        return int(self.labelsets.shape[1])

    @property
    def k_text(self) -> str:
        """The number of labels in a labelset for people to read: ``"3"`` or ``"2 to 5"``."""
        least = int(self.labelset_sizes.min())
        return str(self.k) if least == self.k else f"{least} to {self.k}"

    @property
    def labelset_sizes(self) -> NDArray[np.int64]:
        """Number of labels in each labelset, ``(size,)``."""
        return np.count_nonzero(self.labelsets >= 0, axis=1)

    @property
    def has_one_size(self) -> bool:
        """Whether all labelsets hold the same number of labels, k."""
        return bool((self.labelsets[:, -1] >= 0).all())

    @property
    def gap(self) -> float | None:
        """How far the size is above the lower bound, as a share of the size; 0 is optimal."""
        if self.lower_bound is None:
            return None
        return (len(self) - self.lower_bound) / len(self)

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """In how many labelsets each label lies, ``(n_labels,)``."""
        labels = self.labelsets.ravel()
        return np.bincount(labels[labels >= 0], minlength=self.n_labels)

    @property
    def imbalance(self) -> int:
        """Count of the most frequent label minus that of the least frequent (Section 4.2)."""
        return int(np.ptp(self.label_counts))

    def matrix(self) -> NDArray[np.bool_]:
        """Return the binary matrix of Section 2.1, ``(size, n_labels)``."""
        return label_matrix(self.labelsets, self.n_labels)

    def take(self, indices: NDArray[Any] | Sequence[int]) -> Cover:
        """Return the cover of some of the labelsets, in the order given.

        Parameters
        ----------
        indices : array-like of int or of bool
            Which labelsets, at least one: their numbers, or whether each is taken.
        """
        some = self.labelsets[np.arange(len(self))[indices]]
        return Cover(labelset_rows(some), self.n_labels, method=self.method)

    def coverage(self, r: int = 2) -> float:
        """Return the share of all r-labelsets that lie inside some labelset of the cover."""
        r = check_integer("r", r, low=1, high=self.n_labels)
        if r > self.k:
            return 0.0
        total = comb(self.n_labels, r)
        if r == 2:
            # The usual question: a product answers it without compiled loops to wait for.
            table = sparse.csr_array(self.matrix(), dtype=np.int32)
            return sparse.triu(table.T @ table, 1).nnz / total
        if total > TABLE_LIMIT:
            return len(np.unique(labelset_ranks(self.labelsets, r))) / total
        return int(marked(self.labelsets, r, np.zeros(total, dtype=bool)).sum()) / total

    def uncovered(self, r: int = 2) -> NDArray[np.int32]:
        """Return the r-labelsets that no labelset of the cover contains, ``(count, r)``."""
        r = check_integer("r", r, low=1, high=self.n_labels)
        total = comb(self.n_labels, r)
        if total > TABLE_LIMIT:
            raise ValueError(
                f"r={r} of n_labels={self.n_labels} has {total} labelsets, too many to list; "
                f"at most {TABLE_LIMIT} are accepted. Use coverage(r) for the share."
            )
        missing = np.flatnonzero(~marked(self.labelsets, r, np.zeros(total, dtype=bool)))
        found = unrank_labelsets(missing, self.n_labels, r)
        return found[np.lexsort(found.T[::-1])]

    def permute(self, permutation: ArrayLike) -> Cover:
        """Rename the labels: label ``j`` of this cover becomes ``permutation[j]``.

        Coverage and imbalance stay the same; which labelsets of higher order are covered
        does not, which is what DD-BALANCOR uses (Section 4.4).
        """
        p = np.asarray(permutation)
        if p.shape != (self.n_labels,) or not np.array_equal(np.sort(p), np.arange(self.n_labels)):
            raise ValueError(
                f"permutation must hold each of 0 … {self.n_labels - 1} once, got shape {p.shape}."
            )
        return Cover(
            p[self.labelsets] if self.has_one_size else [p[labels] for labels in self],
            self.n_labels,
            method=self.method,
            lower_bound=self.lower_bound,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the cover to a JSON file with a checksum; `path` is replaced as a whole."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": ONE_SIZE if self.has_one_size else SEVERAL_SIZES,
            "n_labels": self.n_labels,
            "k": self.k,
            "size": len(self),
            "method": self.method,
            "lower_bound": self.lower_bound,
            "checksum": self.checksum,
        }
        rows = ",\n  ".join(json.dumps(labels.tolist()) for labels in self)
        text = json.dumps(document, indent=1)[:-2] + f',\n "labelsets": [\n  {rows}\n ]\n}}\n'
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Cover:
        """Read a cover that `save` wrote, and check that it is whole.

        Raises
        ------
        ValueError
            If the file is not a cover file, was made by a newer version, or is damaged.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path}: not a cover file, expected JSON: {error}.") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f'{path}: not a cover file, expected "format": "{FORMAT}".')
        if document.get("version") not in (ONE_SIZE, SEVERAL_SIZES):
            raise ValueError(
                f"{path}: cover file of version {document.get('version')!r}, expected "
                f"{ONE_SIZE} or {SEVERAL_SIZES}."
            )
        try:
            cover = cls(
                document["labelsets"],
                document["n_labels"],
                method=document.get("method"),
                lower_bound=document.get("lower_bound"),
            )
        except KeyError as error:
            raise ValueError(f"{path}: damaged cover file, {error} is missing.") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: damaged cover file: {error}") from None
        if document.get("checksum") != cover.checksum:
            raise ValueError(
                f"{path}: damaged cover file, its checksum is {document.get('checksum')!r} "
                f"but its labelsets give {cover.checksum!r}."
            )
        return cover

    @property
    def checksum(self) -> str:
        """SHA-256 of the labelsets and the number of labels."""
        header = f"{self.n_labels} {len(self)} {self.k}\n".encode()
        rows = self.labelsets.astype("<i4").tobytes()
        return "sha256:" + hashlib.sha256(header + rows).hexdigest()

    @naming_extra()
    def plot(self, label_names: ArrayLike | None = None) -> Figure:
        """Draw the incidence matrix and the label frequencies.

        Parameters
        ----------
        label_names : array-like of str, optional
            Names of the labels for the axis.

        Returns
        -------
        matplotlib.figure.Figure
            Needs matplotlib (the ``report`` extra).
        """
        from matplotlib import rc_context
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        m = self.n_labels
        names = np.asarray(range(m) if label_names is None else label_names, dtype=str)
        if names.shape != (m,):
            raise ValueError(f"label_names must hold {m} names, got {names.size}.")
        # A line for each labelset, or for several: the share of them that holds each label.
        groups = np.array_split(self.matrix(), min(len(self), MOST_LINES))
        lines = np.array([group.mean(axis=0) for group in groups])
        with rc_context(picture_style()):
            height = 3.0 + float(np.clip(len(self) / 6, 0.5, 4))
            figure = Figure(figsize=(float(np.clip(m / 5, 5, 14)), height), layout="constrained")
            top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
            # Labelsets are counted from 1.
            extent = (-0.5, m - 0.5, len(self) + 0.5, 0.5)
            top.imshow(
                lines,
                aspect="auto",
                cmap=LinearSegmentedColormap.from_list("from none to all", [PAPER, ACCENT]),
                vmin=0,
                vmax=min(1.0, DARKEST * MOST_LINES / len(self)),
                interpolation="nearest",
                extent=extent,
            )
            top.grid(False)
            top.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            title = f"{len(self)} labelsets of {self.k_text} of {m} labels"
            top.set(ylabel="labelset", title=f"{title}, imbalance {self.imbalance}")
            bottom.bar(np.arange(m), self.label_counts, color=ACCENT, width=0.8)
            bottom.grid(axis="x", visible=False)
            bottom.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4, min_n_ticks=1))
            bottom.set(xlabel="label", ylabel="labelsets")
            if m <= MOST_TICKS:
                rotation = 0 if label_names is None else 90
                bottom.set_xticks(np.arange(m), names, rotation=rotation, fontsize=8)
            else:
                bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
            return figure

    def __len__(self) -> int:
        return len(self.labelsets)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        for labels, size in zip(self.labelsets, self.labelset_sizes.tolist(), strict=True):
            yield labels[:size]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cover):
            return NotImplemented
        return self.n_labels == other.n_labels and np.array_equal(self.labelsets, other.labelsets)

    def __hash__(self) -> int:
        return hash((self.n_labels, self.labelsets.shape, self.labelsets.tobytes()))

    # State as a dictionary that goes through the checks again, for pickle and for skops alike.
    def __getstate__(self) -> dict[str, Any]:
        return {
            "labelsets": self.labelsets if self.has_one_size else list(self),
            "n_labels": self.n_labels,
            "method": self.method,
            "lower_bound": self.lower_bound,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Cover.__init__(self, **state)

    def __repr__(self) -> str:
        text = f"n_labels={self.n_labels}, k={self.k_text}, size={len(self)}"
        text += f", imbalance={self.imbalance}"
        text += "" if self.method is None else f", method={self.method!r}"
        text += "" if self.lower_bound is None else f", lower_bound={self.lower_bound}"
        return f"Cover({text})"


def linked_labels(cover: Cover) -> sparse.csr_array:
    """Return which labels are linked: those that a labelset of the cover holds together."""
    member, place = np.nonzero(cover.labelsets >= 0)
    entries = np.ones(len(member)), (member, cover.labelsets[member, place])
    holds = sparse.csr_array(entries, shape=(len(cover), cover.n_labels))
    together = sparse.csr_array(holds.T @ holds)
    together.setdiag(0)
    together.eliminate_zeros()
    together.sort_indices()
    return together
