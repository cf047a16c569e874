"""The paper's tables beside ours: each figure of the paper, our mean and spread, the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from labelcover.covers.bounds import lower_bound
from labelcover.datasets import KNOWN, Dataset
from labelcover.experiments._paper.paper_fits import (
    DEFAULT,
    Setting,
    folds_of,
    table_9_k,
    table_9_setting,
    table_setting,
)
from labelcover.experiments._paper.paper_page import Sheet
from labelcover.experiments._paper.printed import (
    ENSEMBLES,
    MEASURES,
    MEMBERS,
    METHODS,
    printed_table,
)
from labelcover.experiments.named_methods import PAPER
from labelcover.metrics import MEASURES as KNOWN_MEASURES

if TYPE_CHECKING:
    import pandas as pd

#: Times of Table 9, which are not measures of predictions, with their titles.
TIMES = {"train_seconds": "training, s", "design_seconds": "matrix design, s"}


def figures_of(table: str, reading: str | None = None, tuned_for: str = "micro_f1") -> pd.DataFrame:
    """Return all figures of a table of the paper, and the column of our default beside them.

    Parameters
    ----------
    table : {"table7", "table8", "table9", "table10"}
    reading, tuned_for : str, optional
        As of `labelcover.experiments._paper.paper_fits.Setting`, for Tables 7 and 8; by default
        what ``aggregate="auto"`` comes to, and micro-F1.

    Returns
    -------
    DataFrame
        ``dataset``, ``k``, ``size`` (the paper's σ), ``column`` (the heading in the table),
        ``measure``, ``paper`` (NaN where it prints nothing), ``name`` (the method in the results
        file).

    Examples
    --------
    >>> from labelcover.experiments._paper.paper_tables import figures_of
    >>> first = figures_of("table8")[["dataset", "column", "measure", "paper"]].head(1)
    >>> first.to_dict("list")
    {'dataset': ['delicious'], 'column': ['RAKEL'], 'measure': ['micro_f1'], 'paper': [0.209]}
    """
    import pandas as pd

    made: list[tuple] = []
    for row in printed_table(table):
        k = table_9_k(row.dataset) if table == "table9" else row.k
        place = row.dataset, k, int(row.cells["sigma r=2" if table == "table10" else "sigma"])
        named = _columns(table, row.dataset, k, reading, tuned_for)
        measures = MEASURES | ({"train_seconds": "train_s"} if table == "table9" else {})
        for measure, printed in measures.items():
            for column, (cell, name) in named.items():
                paper = row.number(f"{printed} {cell}")
                made.append((*place, column, measure, paper, name))
            if measure == "train_seconds":
                design = row.number("matrix_s"), named["DD-BALANCOR"][1]
                made.append((*place, "BALANCOR", "design_seconds", *design))
            made.append((*place, DEFAULT, measure, np.nan, DEFAULT))
    columns = ["dataset", "k", "size", "column", "measure", "paper", "name"]
    return pd.DataFrame(made, columns=columns)


def _columns(
    table: str, dataset: str, k: int, reading: str | None, tuned_for: str
) -> dict[str, tuple[str, str]]:
    """Return for each column its name in the CSV file of the table, and its method in ours."""
    if table == "table9":
        return {each: (each, table_9_setting(each, dataset).name) for each in ENSEMBLES}
    if table != "table10":
        how = MEMBERS[table], k, reading, tuned_for
        return {each: (each, table_setting(each, *how).name) for each in METHODS}
    # With r=3 on a true cover, and with the paper's σ.
    orders = {"r=2": (2, PAPER), "r=3, true cover": (3, None), "r=3, σ of the paper": (3, PAPER)}
    return {
        f"{method} {how}": (f"{printed} r={r}", Setting(method, "c45", k, r, size).name)
        for method, printed in (("DD-BALANCOR", "DD"), ("RAKEL++", "RAKEL++"))
        for how, (r, size) in orders.items()
    }


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
        As for `figures_of`.

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
    lines = []
    figures = figures_of(table, reading, tuned_for)
    for figure in figures.itertuples(index=False):
        if datasets is not None and figure.dataset not in datasets:
            continue
        rows = rows_of.get((figure.dataset, figure.name, folds_of(figure.dataset, n_folds)), [])
        values = results[figure.measure].iloc[rows].dropna().to_numpy()
        ours = values.mean() if len(values) else np.nan
        own = {
            "ours": ours,
            "spread": values.std(ddof=1) if len(values) > 1 else np.nan,
            "folds": len(values),
            "our_size": results["size"].iloc[rows].mean(),
            "difference": ours - figure.paper,
        }
        lines.append(figure._asdict() | own)
    return pd.DataFrame(lines).drop(columns="name", errors="ignore")


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
    for measure in frame["measure"].unique():
        part = frame[frame["measure"] == measure]
        columns = list(dict.fromkeys(part["column"]))
        heads = ["data set", "k", "σ", "", *columns]
        rows: list[list[str]] = []
        for (dataset, k, size), line in part.groupby(["dataset", "k", "size"], sort=False):
            if line["ours"].notna().any():
                cells = {c: line[line["column"] == c].iloc[0] for c in columns}
                rows += _three_lines(measure, str(dataset), int(k), int(size), cells)
        title = TIMES.get(measure) or KNOWN_MEASURES[measure].title
        sheets.append(Sheet(f"{TITLES[table]}: {title}", heads, rows, _notes(table, measure, part)))
    return sheets


TITLES = {
    "table6": "Table 6",
    "table7": "Table 7 (SMO)",
    "table8": "Table 8 (J48)",
    "table9": "Table 9 (J48)",
    "table10": "Table 10 (J48)",
}


def _three_lines(measure, dataset, k, size, cells):
    first = [dataset, str(k), str(size)]
    seconds = measure in TIMES
    best = _best(measure, [cell["ours"] for cell in cells.values()])
    paper = [_number(cell["paper"], seconds) for cell in cells.values()]
    ours, apart = [], []
    for column, cell in cells.items():
        spread = "" if seconds or np.isnan(cell["spread"]) else f" ± {_number(cell['spread'])}"
        ours.append(_number(cell["ours"], seconds) + spread)
        if seconds:
            known = cell["ours"] > 0
            apart.append(_number(cell["paper"] / cell["ours"] if known else np.nan, seconds))
        elif column == DEFAULT and not np.isnan(cell["ours"]):
            apart.append("best of the row" if cell["ours"] == best else "not the best")
        else:
            apart.append(_difference(cell))
    last = "paper / ours" if seconds else "difference"
    return [[*first, "paper", *paper], ["", "", "", "ours", *ours], ["", "", "", last, *apart]]


def _best(measure: str, values: list[float]) -> float:
    higher = measure in KNOWN_MEASURES and KNOWN_MEASURES[measure].higher_is_better
    return float((np.fmax if higher else np.fmin).reduce(values))


def _number(value: float, seconds: bool = False) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:,.3g}" if seconds else f"{value:.4f}"


def _difference(cell) -> str:
    if np.isnan(cell["difference"]):
        return "–"
    spreads = f" ({cell['difference'] / cell['spread']:+.1f})" if cell["spread"] > 0 else ""
    return f"{cell['difference']:+.4f}{spreads}"


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
        notes.append(_default_note(measure, known))
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


def _default_note(measure: str, known: pd.DataFrame) -> str:
    rows, beaten = 0, []
    for (dataset, k), line in known.groupby(["dataset", "k"], sort=False):
        ours = line[line["column"] == DEFAULT]["ours"]
        if len(ours):
            rows += 1
            if ours.iloc[0] != _best(measure, line["ours"].tolist()):
                beaten.append(f"{dataset} k={k}")
    said = f"{DEFAULT} with its defaults is the best of ours in {rows - len(beaten)} of {rows} rows"
    return f"{said}; not on {', '.join(beaten)}." if beaten else f"{said}."


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
