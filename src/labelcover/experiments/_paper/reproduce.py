"""One table, figure or section of the paper from end to end: run, compare, print, write."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcover._arguments import check_choice, check_integer, check_jobs
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.experiments._paper import claims
from labelcover.experiments._paper.coverage_figure import DRAWS, coverage_curves, draw_curves
from labelcover.experiments._paper.paper_fits import (
    BOTH,
    Setting,
    groups_of,
    outcomes_of,
    table_settings,
)
from labelcover.experiments._paper.paper_tables import (
    TITLES,
    Sheet,
    compared,
    data_sheet,
    result_sheets,
    score_table,
)
from labelcover.experiments._paper.printed import ENSEMBLES, METHODS, printed_table
from labelcover.experiments._report.page_parts import to_svg, write_page
from labelcover.experiments._running import perform_missing
from labelcover.experiments.named_methods import TITLES as METHOD_TITLES
from labelcover.experiments.results import ResultsFile, read_results

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

TABLES = ("table6", "table7", "table8", "table9", "table10")
#: What `reproduce` knows.
PARTS = (*TABLES, "figure1", "section5.7")
#: With `quick`: these data sets, so many folds, so many simulated families for Figure 1; of Tables
#: 7 and 8 so many k, the lowest: with SMO the others of yeast take longer than everything else.
QUICK_DATASETS, QUICK_FOLDS, QUICK_DRAWS, QUICK_KS = ("emotions", "scene", "yeast"), 3, 500, 2
RESULTS = "results.csv"
LETTERS = {
    "m": "number of labels",
    "k": "number of labels in a labelset",
    "r": "so many labels at a time are covered",
    "σ": "number of labelsets",
}


@dataclass(frozen=True)
class Reproduction:
    """A part of the paper beside ours.

    Attributes
    ----------
    part : str
        One of `PARTS`.
    sheets : list of Sheet
        What is printed and written.
    missing : list of str
        For each data set that is not on this machine, how to get it.
    files : list of Path
        What was written.
    """

    part: str
    sheets: list[Sheet]
    missing: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def markdown(self) -> str:
        """Return everything as Markdown."""
        parts = [f"## {TITLES.get(self.part, self.part)}", *(s.markdown() for s in self.sheets)]
        parts += [f"- {text}" for text in self.missing]
        return "\n\n".join(parts) + "\n"

    def written(self, folder: Path, command: str, frame: Any = None) -> Reproduction:
        """Write everything, and the figures of `frame`, to a folder."""
        names = [folder / f"{self.part}.{suffix}" for suffix in ("csv", "md", "html")]
        if frame is not None:
            with replacing(names[0]) as temporary:
                frame.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
        with replacing(names[1]) as temporary:
            temporary.write_text(self.markdown(), encoding="utf-8")
        self.write_page(names[2], command, frame if self.part == "figure1" else None)
        self.files.extend(names if frame is not None else names[1:])
        return self

    def write_page(self, path: Path, command: str = "", curves: Any = None) -> None:
        """Write everything as one HTML file, in the style of the report of a comparison."""
        text = "Bound of Lemma 1 and simulated probabilities against the number of labelsets."
        panels = [] if curves is None else [panel for _, panel in curves.groupby("m")]
        drawn = [
            to_svg(draw_curves(panel, "page"), f"figure1-{j}", self.sheets[0].title, text)
            for j, panel in enumerate(panels)
        ]
        values = {
            "part": self.part,
            "sheets": [(sheet, explained(sheet)) for sheet in self.sheets],
            "missing": self.missing,
            "pictures": drawn,
            "command": command,
        }
        write_page(path, "paper_page.html", values)

    def print(self, console: Console) -> None:
        """Print everything."""
        for sheet in self.sheets:
            sheet.print(console)
        for text in [*self.missing, *map(str, self.files)]:
            console.print(text, highlight=False, markup=False)


def reproduce(
    part: str,
    folder: str | os.PathLike[str],
    *,
    datasets: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    n_folds: int = 10,
    quick: bool = False,
    n_jobs: int | None = None,
    run: bool = True,
    command: str = "",
    verbose: bool = True,
) -> Reproduction:
    """Reproduce a part of the paper and write it to a folder as CSV, Markdown and HTML.

    Parameters
    ----------
    part : {"table6", "table7", "table8", "table9", "table10", "figure1", "section5.7"}
    folder : path-like
        Created if it does not exist. Its ``results.csv``, which all parts share, is a results file
        as of `labelcover.experiments.comparing.compare`: an interrupted run is resumed.
    datasets : sequence of str, optional
        By default all of the paper that are on this machine; what is missing is said.
    k : sequence of int, optional
        Only these labelset sizes.
    n_folds : int
        Number of folds; delicious has a split of its own.
    quick : bool
        Emotions, scene and yeast with three folds; of Tables 7 and 8 the two lowest k.
    n_jobs : int, optional
        Number of fits in parallel. Table 9 is about times: take 1 for it.
    run : bool
        Whether to run what is missing, or only to show what there is.
    command : str
        What the user typed, for the page.
    verbose : bool
        Show a progress bar.

    Raises
    ------
    ValueError
        If there is no such part, or a data set is none of the paper's.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelcover.experiments._paper.reproduce import reproduce
    >>> with TemporaryDirectory() as folder:
    ...     outcome = reproduce("figure1", folder, quick=True, verbose=False)
    ...     sorted(path.suffix for path in outcome.files)
    ['.csv', '.html', '.md', '.png']
    """
    check_choice("part", part, PARTS)
    check_jobs(n_jobs)
    n_folds = QUICK_FOLDS if quick else check_integer("n_folds", n_folds, low=2)
    wanted = _wanted(part, datasets, quick)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if part == "figure1":
        return _figure(folder, QUICK_DRAWS if quick else DRAWS, command)
    loaded, missing = [], []
    for name in wanted:
        try:
            loaded.append(load(name))
        except FileNotFoundError as error:
            missing.append(f"{error}")
    if part == "table6":
        return Reproduction(part, [data_sheet(loaded)], missing).written(folder, command)
    if run and loaded:
        groups = [
            group
            for data in loaded
            for group in groups_of(_settings(part, data.name, k, quick), data, n_folds)
        ]
        with ResultsFile(folder / RESULTS) as file:
            file.set_outdated_aside(task for group in groups for task, *_ in group)
            perform_missing(groups, file, outcomes_of, n_jobs=n_jobs, verbose=verbose)
    results = read_results(folder / RESULTS) if (folder / RESULTS).exists() else read_results()
    if part == "section5.7":
        frame = claims.choices_of(loaded, results, n_folds=n_folds)
        sheets = [claims.choice_sheet(frame)]
    else:
        frame = compared(part, results, n_folds=n_folds, datasets=wanted)
        sheets = [*result_sheets(part, frame), tests_sheet([part], [frame])]
        if part in BOTH:
            both = [compared(t, results, n_folds=n_folds, datasets=wanted) for t in BOTH]
            sheets.append(tests_sheet(BOTH, both))
            readings = claims.readings_of(part, results, n_folds=n_folds, datasets=wanted)
            sheets += claims.readings_sheets(part, readings)
            sheets.append(claims.paired_sheet(part, results, n_folds=n_folds))
    return Reproduction(part, sheets, missing).written(folder, command, frame)


def explained(sheet: Sheet) -> str:
    """Return what the letters and the names of methods of a sheet stand for."""
    texts = [sheet.title, *sheet.heads, *sheet.notes]
    # Names hold hyphens and pluses: BALANCOR is not a word of DD-BALANCOR.
    words = {word for text in texts for word in re.findall(r"[\w+-]+", text)}
    known = {**LETTERS, **METHOD_TITLES}
    return " ".join(f"{word}: {known[word]}." for word in known if word in words)


def tests_sheet(tables: Sequence[str], frames: Sequence[pd.DataFrame]) -> Sheet:
    """Return the tests of Sections 5.4 and 5.5: on the paper's rows, and on the same rows of ours.

    Where ours are of some rows only, the tests are also made of those rows in the paper. `frames`
    are what `compared` returns for each of `tables`: one, or Tables 7 and 8, whose rows Section 5.4
    takes together.
    """
    methods: tuple[str, ...] = METHODS
    section = "5.4"
    if "table9" in tables:
        methods, section = ENSEMBLES, "5.5"
    elif "table10" in tables:
        columns = frames[0]["column"].unique()
        methods = tuple(c for c in columns if "σ of the paper" in c or "r=2" in c)
        section = "5.6"
    notes = []
    for measure, title in claims.NAMES.items():
        ours, same = (
            np.vstack([score_table(frame, measure, methods, value) for frame in frames])
            for value in ("ours", "paper")
        )
        rows = {}
        if "table10" not in tables:
            whole = claims.printed_scores(tables, measure, methods)
            rows[f"the paper's {len(whole)} rows"] = whole
        if len(ours) >= 2:
            rows |= {"the same rows in the paper": same, f"our {len(ours)} rows": ours}
        for which, scores in rows.items():
            said = claims.tested(scores, measure, methods, against_first=section == "5.5")
            notes.append(f"{title}, {which}: {said}.")
    names = " and ".join(TITLES[table] for table in tables)
    return Sheet(f"Tests as in Section {section}, {names}", [], [], notes)


def _wanted(part: str, datasets: Sequence[str] | None, quick: bool) -> list[str]:
    """Return the data sets of a part: the paper's, cheapest first, or those asked for."""
    table = part if part in TABLES else "table7"
    known = {row.dataset for row in printed_table(table)}
    names = [name for name in ORDER if name in known]
    for name in datasets or ():
        check_choice("datasets", name, names)
    by_default = QUICK_DATASETS if quick else names
    return [name for name in names if name in (by_default if datasets is None else datasets)]


# By the work that they are, the least first.
ORDER = (
    "emotions", "scene", "genbase", "yeast", "medical", "slashdot", "enron", "mediamill-subset",
    "ohsumed", "delicious",
)  # fmt: skip


def _settings(part: str, dataset: str, k: Sequence[int] | None, quick: bool) -> list[Setting]:
    settings = table_settings(part, dataset)
    if k is None and quick and part in BOTH:
        k = sorted({s.k for s in settings})[:QUICK_KS]
    return [s for s in settings if k is None or s.k in k]


def _figure(folder: Path, draws: int, command: str) -> Reproduction:
    curves = coverage_curves(draws=draws)
    below = curves["bound"] - curves["with replacement"]
    over = curves["without replacement"] - curves["bound"]
    worst = curves.loc[over.idxmax()]
    sheet = Sheet(
        "Figure 1: probability that σ random labelsets cover all pairs",
        [],
        [],
        [
            "Lines: Lemma 1's upper bound. Circles: labelsets drawn with replacement, as the lemma "
            f"assumes, {draws:,} families each; crosses: without, as RAKEL draws them.",
            f"With replacement the simulation lies up to {below.max():.3f} below the bound and "
            f"nowhere more than {max(0.0, -below.min()):.3f} above it.",
            f"Without replacement it exceeds the bound by up to {over.max():.3f} (m = "
            f"{worst['m']:.0f}, k = {worst['k']:.0f}, σ = {worst['size']:.0f}): Lemma 1 is no "
            "bound for RAKEL's distinct labelsets.",
        ],
    )
    picture = folder / "figure1.png"
    with replacing(picture) as temporary:
        draw_curves(curves).savefig(temporary, dpi=150, format="png")
    return Reproduction("figure1", [sheet], files=[picture]).written(folder, command, curves)
