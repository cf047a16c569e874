"""What the paper prints: Tables 6 to 10, and the data sets and sizes in them.

The tables lie beside this file as CSV. Names of data sets there are the paper's, with two
spellings of some; everything here uses the names of `labelcover.datasets`.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from labelcover._arguments import check_choice

HERE = Path(__file__).parent

#: Names in the paper, in lower case, that are not those of the data sets.
DATASETS = {"mediamill": "mediamill-subset", "delicous": "delicious"}
#: The six methods of Tables 7 and 8, in their order.
METHODS = ("RAKEL", "RAKEL++", "DD-BALANCOR", "BALANCOR", "INLAC", "BALCO")
#: The methods of Table 9, the control first.
ENSEMBLES = ("DD-BALANCOR", "ECC", "EPS")
#: Name of a measure to what it is called in the CSV files.
MEASURES = {"micro_f1": "microF1", "hamming_loss": "hamming"}
#: Table to the members it was made with, by the names of `labelcover.experiments.named_methods`.
MEMBERS = {"table7": "smo", "table8": "c45", "table9": "c45", "table10": "c45"}


class PrintedRow(NamedTuple):
    """A line of one of the paper's tables: our name of the data set, and all cells by column."""

    dataset: str
    cells: dict[str, str]

    def number(self, column: str) -> float:
        """Return a cell as a number."""
        return float(self.cells[column])

    def score(self, measure: str, method: str) -> float:
        """Return what the paper prints for a measure of a method."""
        return self.number(f"{MEASURES[measure]} {method}")

    @property
    def size(self) -> int:
        """The number of labelsets σ, for pairs."""
        return int(self.cells.get("sigma") or self.cells["sigma r=2"])

    @property
    def k(self) -> int:
        """Labels in a labelset; Table 9 names its lines by σ only."""
        if "k" in self.cells:
            return int(self.cells["k"])
        own = self.dataset, self.size
        return next(k for (name, k), size in paper_sizes().items() if (name, size) == own)


@cache
def printed_table(name: str) -> tuple[PrintedRow, ...]:
    """Return the lines of a table of the paper.

    Parameters
    ----------
    name : {"table6", "table7", "table8", "table9", "table10"}

    Examples
    --------
    >>> from labelcover.experiments._paper.printed import printed_table
    >>> row = printed_table("table7")[1]
    >>> row.dataset, row.k, row.score("micro_f1", "DD-BALANCOR")
    ('emotions', 3, 0.6852)
    """
    check_choice("table", name, [f"table{n}" for n in range(6, 11)])
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        named = ((cells["dataset"].lower(), cells) for cells in csv.DictReader(file))
        return tuple(PrintedRow(DATASETS.get(name, name), cells) for name, cells in named)


@cache
def paper_sizes(r: int = 2) -> dict[tuple[str, int], int]:
    """Return the paper's σ for each data set and k: of Table 7 for pairs, Table 10 for triples."""
    name, column = ("table7", "sigma") if r == 2 else ("table10", "sigma r=3")
    return {(row.dataset, row.k): int(row.cells[column]) for row in printed_table(name)}


def paper_size(dataset: str, k: int, r: int = 2) -> int:
    """Return the number of labelsets σ that the paper has for a data set.

    Raises
    ------
    ValueError
        If the paper has no experiment with this data set, k and r.

    Examples
    --------
    >>> from labelcover.experiments._paper.printed import paper_size
    >>> paper_size("yeast", 4), paper_size("yeast", 4, r=3)
    (18, 92)
    """
    sizes = paper_sizes(r) if r in (2, 3) else {}
    if (dataset, k) in sizes:
        return sizes[dataset, k]
    names = dict.fromkeys(name for name, _ in sizes)
    ks = {name: ", ".join(str(k) for other, k in sizes if other == name) for name in names}
    known = ", ".join(f"{name} (k = {own})" for name, own in ks.items())
    raise ValueError(
        f"size='paper' needs a data set, k and r of the paper, got data set {dataset!r} with "
        f"k={k} and r={r}; " + (f"with r={r} it has {known}." if known else "it has r=2 and r=3.")
    )
