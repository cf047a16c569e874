"""The paper's tables beside ours: each figure of the paper, our mean and spread, the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from labelcover.covers.bounds import lower_bound
from labelcover.datasets import KNOWN, Dataset
from labelcover.experiments._paper.paper_fits import DEFAULT, columns_of, folds_of
from labelcover.experiments._paper.printed import MEASURES, PrintedRow, printed_table
from labelcover.metrics import MEASURES as KNOWN_MEASURES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

#: Times of Table 9, which are not measures of predictions, with their titles.
TIMES = {"train_seconds": "training, s", "design_seconds": "matrix design, s"}


@dataclass(frozen=True)
class Sheet:
    """A titled table with sentences below it.

    Attributes
    ----------
    title : str
    heads : list of str
        The headings of the columns.
    rows : list of list of str
        As many cells in each as there are headings.
    notes : list of str
        What follows from it, a sentence each.
    """

    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the sheet as Markdown.

        Examples
        --------
        >>> from labelcover.experiments._paper.paper_tables import Sheet
        >>> print(Sheet("Sizes", ["m", "σ"], [["6", "7"]], ["One row."]).markdown())
        ### Sizes
        <BLANKLINE>
        | m | σ |
        |---|---|
        | 6 | 7 |
        <BLANKLINE>
        - One row.
        """
        parts = [f"### {self.title}", ""]
        if self.rows:
            parts += [_line(self.heads), "|" + "---|" * len(self.heads), *map(_line, self.rows), ""]
        parts += [f"- {note}" for note in self.notes]
        return "\n".join(parts).rstrip()

    def print(self, console: Console) -> None:
        """Print the sheet in a terminal."""
        # A terminal's own width does not cut the table off.
        lines = [self.heads, *self.rows] if self.rows else []
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        for text in [self.title, *aligned, *self.notes]:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        console.print()


def compared(
    table: str,
    results: pd.DataFrame,
    *,
    n_folds: int = 10,
    datasets: Sequence[str] | None = None,
    reading: str | None = None,
    tuned_for: str = "micro_f1",
) -> pd.DataFrame:
    """Return each figure of a table beside ours.

    Parameters
    ----------
    table : {"table7", "table8", "table9", "table10"}
    results : DataFrame
        What `labelcover.experiments.results.read_results` returns.
    n_folds : int
        Only lines of so many folds count.
    datasets : sequence of str, optional
        Only these.
    reading, tuned_for : str, optional
        As of `labelcover.experiments._paper.paper_fits.Setting`, for Tables 7 and 8; by default
        what ``aggregate="auto"`` comes to, and micro-F1.

    Returns
    -------
    DataFrame
        A line for each figure: ``dataset``, ``k``, ``size`` (the paper's σ), ``column``,
        ``measure``, ``paper``, ``ours`` (mean over folds), ``spread`` (their standard deviation),
        ``folds``, ``our_size`` and ``difference`` (ours less the paper's).
    """
    import pandas as pd

    results = results[results["error"] == ""]
    results = results.assign(
        train_seconds=results["fit_seconds"] - results["design_seconds"].fillna(0)
    )
    rows_of = results.groupby(["dataset", "method", "folds"]).indices
    measures = MEASURES | ({"train_seconds": "train_s"} if table == "table9" else {})
    lines: list[dict] = []

    def add(row: PrintedRow, column: str, measure: str, paper: float, name: str) -> None:
        rows = rows_of.get((row.dataset, name, folds_of(row.dataset, n_folds)), [])
        values = results[measure].iloc[rows].dropna().to_numpy()
        ours = values.mean() if len(values) else np.nan
        place = {"dataset": row.dataset, "k": row.k, "size": row.size, "column": column}
        own = {
            "measure": measure,
            "paper": paper,
            "ours": ours,
            "spread": values.std(ddof=1) if len(values) > 1 else np.nan,
            "folds": len(values),
            "our_size": results["size"].iloc[rows].mean(),
            "difference": ours - paper,
        }
        lines.append(place | own)

    for row in printed_table(table):
        if datasets is not None and row.dataset not in datasets:
            continue
        columns = columns_of(table, row, reading, tuned_for)
        for measure, printed in measures.items():
            for column, (cell, setting) in columns.items():
                add(row, column, measure, row.number(f"{printed} {cell}"), setting.name)
            if measure == "train_seconds":
                setting = columns["DD-BALANCOR"][1]
                add(row, "BALANCOR", "design_seconds", row.number("matrix_s"), setting.name)
            add(row, DEFAULT, measure, np.nan, DEFAULT)
    return pd.DataFrame(lines)


def score_table(frame: pd.DataFrame, measure: str, columns: Sequence[str], value: str = "ours"):
    """Return the scores of complete lines, ``(n_lines, n_columns)``: what statistics take.

    A line counts if all `columns` have our score, so that ours and the paper's are of the same
    lines.
    """
    part = frame[(frame["measure"] == measure) & frame["column"].isin(columns)]
    whole = part.groupby(["dataset", "k"])["ours"].transform(lambda ours: ours.notna().all())
    part = part[whole]
    wide = part.pivot_table(index=["dataset", "k"], columns="column", values=value, sort=False)
    return wide.reindex(columns=list(columns)).to_numpy()


def result_sheets(table: str, frame: pd.DataFrame) -> list[Sheet]:
    """Return a table in the paper's layout, one sheet for each measure, three lines for each row.

    The lines are the paper's figures, ours with their spread over folds, and the differences, in
    parentheses as a multiple of the spread.
    """
    sheets = []
    for measure, part in frame.groupby("measure", sort=False):
        known = KNOWN_MEASURES.get(str(measure))
        best = part.groupby(["dataset", "k"])["ours"].transform(
            "max" if known and known.higher_is_better else "min"
        )
        part = part.assign(best=best)
        rows: list[list[str]] = []
        for (dataset, k, size), line in part.groupby(["dataset", "k", "size"], sort=False):
            if line["ours"].notna().any():
                cells = [_cells(cell, measure in TIMES) for cell in line.itertuples()]
                paper, ours, apart = zip(*cells, strict=True)
                rows.append([str(dataset), str(k), str(size), "paper", *paper])
                rows.append(["", "", "", "ours", *ours])
                last = "paper / ours" if measure in TIMES else "difference"
                rows.append(["", "", "", last, *apart])
        title = known.title if known else TIMES[str(measure)]
        heads = ["data set", "k", "σ", "", *part["column"].unique()]
        notes = _notes(table, str(measure), part)
        sheets.append(Sheet(f"{TITLES[table]}: {title}", heads, rows, notes))
    return sheets


TITLES = {
    "table6": "Table 6",
    "table7": "Table 7 (SMO)",
    "table8": "Table 8 (J48)",
    "table9": "Table 9 (J48)",
    "table10": "Table 10 (J48)",
}


def _cells(cell, seconds: bool) -> tuple[str, str, str]:
    """Return the paper's figure, ours with its spread, and the difference."""
    paper, ours = _number(cell.paper, seconds), _number(cell.ours, seconds)
    if seconds:
        return paper, ours, _number(cell.paper / cell.ours if cell.ours > 0 else np.nan, seconds)
    if not np.isnan(cell.spread):
        ours += f" ± {_number(cell.spread)}"
    if cell.column == DEFAULT and not np.isnan(cell.ours):
        return paper, ours, "best of the row" if cell.ours == cell.best else "not the best"
    if np.isnan(cell.difference):
        return paper, ours, "–"
    spreads = f" ({cell.difference / cell.spread:+.1f})" if cell.spread > 0 else ""
    return paper, ours, f"{cell.difference:+.4f}{spreads}"


def _number(value: float, seconds: bool = False) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.3g}" if seconds else f"{value:.4f}"


def _notes(table: str, measure: str, part: pd.DataFrame) -> list[str]:
    notes = []
    known = part.dropna(subset=["ours"])
    if known.empty:
        return ["Nothing has been run yet."]
    judged = known.dropna(subset=["paper", "spread"])
    if len(judged) and measure not in TIMES:
        near = (judged["difference"].abs() <= judged["spread"]).sum()
        notes.append(
            f"{near} of {len(judged)} figures are within one standard deviation over folds of the "
            f"paper's; the mean difference is {judged['difference'].mean():+.4f}."
        )
        own = known[known["column"] == DEFAULT]
        beaten = own[own["ours"] != own["best"]]
        where = ", ".join(f"{line.dataset} k={line.k}" for line in beaten.itertuples())
        notes.append(
            f"{DEFAULT} with its defaults is the best of ours in {len(own) - len(beaten)} of "
            f"{len(own)} rows{f'; not on {where}' if where else ''}."
        )
    if measure in TIMES:
        notes.append(
            "Ours are seconds for the training rows of one fold. The paper does not say whether "
            "its times are for one fold or for all ten."
        )
    if table == "table10":
        notes += _size_notes(known)
    short = known[(known["folds"] < known["folds"].max()) & (known["dataset"] != "delicious")]
    for (dataset, k), lines in short.groupby(["dataset", "k"], sort=False):
        notes.append(f"{dataset}, k = {k}: {lines['folds'].min()} folds so far.")
    return notes


def _size_notes(known: pd.DataFrame) -> list[str]:
    """Say which σ of r=3 no cover can have, and what size the true cover has."""
    said = []
    for row in printed_table("table10"):
        line = known[(known["dataset"] == row.dataset) & (known["k"] == row.k)]
        true = line[line["column"] == "DD-BALANCOR r=3, true cover"]["our_size"].dropna()
        if len(true) == 0:
            continue
        m, size = KNOWN[row.dataset].labels, int(row.cells["sigma r=3"])
        bound = lower_bound(m, row.k, 3)
        text = f"{row.dataset}, k = {row.k}, r = 3: σ is {size} in the paper, "
        text += f"which no cover can have (at least {bound}), " if size < bound else ""
        said.append(f"{text}{true.iloc[0]:.0f} for BALANCOR's true cover.")
    return said


def data_sheet(datasets: Sequence[Dataset]) -> Sheet:
    """Return Table 6, with the paper's figures and those of the files."""
    ours = {dataset.name: dataset for dataset in datasets}
    heads = ["data set", "", "rows", "attributes", "labels", "cardinality", "density"]
    rows, notes = [], []
    for row in printed_table("table6"):
        if row.dataset not in ours:
            continue
        cells = row.cells
        tested = 0 if cells["test"] == "CV" else int(cells["test"])
        total = int(cells["train"]) + tested
        attributes = int(cells["nominal"]) + int(cells["numeric"])
        paper = [str(total), str(attributes), str(int(cells["labels"]))]
        rows.append([row.dataset, "paper", *paper, cells["cardinality"], cells["density"]])
        own = ours[row.dataset]
        (n, m), density = own.Y.shape, own.density
        # The paper counts attributes that only identify rows.
        d = own.X.shape[1] + len(KNOWN[own.name].identifiers)
        rows.append(["", "file", *map(str, (n, d, m)), f"{own.cardinality:.3f}", f"{density:.3f}"])
        implied = row.number("cardinality") / int(cells["labels"])
        if abs(row.number("density") - density) > 0.0015:
            notes.append(
                f"{row.dataset}: the paper prints a density of {cells['density']}; its own "
                f"cardinality over its labels is {implied:.4f}."
            )
    return Sheet("Table 6: the data sets", heads, rows, notes)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
