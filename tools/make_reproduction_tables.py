"""Write the tables of docs/reproduction.md from the results file of the runs.

    python tools/make_reproduction_tables.py                        # writes page and tables
    python tools/make_reproduction_tables.py --add FOLDER/results.csv  # new results first

The results file is docs/results/paper-folds.csv, the tables beside it are as `labelcover paper`
writes them. What stands between the marks of the page is replaced.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import Any

import pandas as pd

from labelcover._files import replacing
from labelcover.experiments._paper.claims import (
    choice_sheet,
    paired_sheet,
    readings_of,
    readings_sheets,
)
from labelcover.experiments._paper.paper_fits import BOTH, DEFAULT, MEDIAMILL, MEDIAMILL_FOLDS
from labelcover.experiments._paper.paper_tables import TIMES, TITLES, Sheet, compared
from labelcover.experiments._paper.reproduce import tests_sheet
from labelcover.experiments.results import read_results

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FOLDS = DOCS / "reproduction.md", DOCS / "results" / "paper-folds.csv"
# As `labelcover paper section5.7` writes it.
CHOICES = FOLDS.with_name("paper-section5.7.csv")
TABLES = ("table7", "table8", "table9", "table10")
# Table 7 in the reading in which it was run first.
BY_MEAN = f"{TITLES['table7']}, mean of votes of pairs"
MEASURES = {"table9": ("micro_f1", *TIMES)}
KEY = ("dataset", "method", "folds", "fold", "seed")
# As `benchmarks.study_paper_repeats` writes them.
REPEATS = FOLDS.with_name("paper-repeats.csv")


def add(file: Path) -> int:
    """Add the lines of a results file, in place of those of the same method, data set and fold."""
    with FOLDS.open(encoding="utf-8", newline="") as known:
        reader = csv.DictReader(known)
        columns, lines = list(reader.fieldnames or []), {_key(line): line for line in reader}
    with file.open(encoding="utf-8", newline="") as new:
        found = {_key(line): line for line in csv.DictReader(new) if not line["error"]}
    n_new = sum(lines.get(key) != line for key, line in found.items())
    lines |= found
    with replacing(FOLDS) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        # Columns of two cuts, which these runs have not, stay out.
        writer = csv.DictWriter(out, columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines.values())
    return n_new


def _key(line: dict[str, str]) -> tuple[str, ...]:
    return tuple(line[column] for column in KEY)


def parts(results: Any) -> dict[str, str]:
    """Return what belongs between the marks of the page, by their names."""
    frames = {table: _complete(compared(table, results)) for table in TABLES}
    means = _complete(compared("table7", results, reading="mean"))
    states = [_state(TITLES[table], frames[table]) for table in TABLES]
    states.insert(1, _state(BY_MEAN, means))
    made = {"state": "\n".join(states)}
    for table in BOTH:
        sheets = readings_sheets(table, _complete(readings_of(table, results)))
        made[f"readings-{table}"] = "\n\n".join(map(_untitled, reversed(sheets)))
        made[f"paired-{table}"] = _untitled(paired_sheet(table, results))
    made["repeats"] = repeats(results, pd.read_csv(REPEATS, keep_default_na=False))
    made["section5.7"] = _untitled(choice_sheet(pd.read_csv(CHOICES)))
    for table, frame in frames.items():
        if len(frame):
            made[table] = "\n\n".join(
                f"{_title(measure)}:\n\n{_markdown(frame[frame['measure'] == measure], measure)}"
                for measure in MEASURES.get(table, ("micro_f1",))
            )
    run = [table for table in BOTH if len(frames[table])]
    together = [[table] for table in run] + ([run] if len(run) > 1 else [])
    tests = [tests_sheet(tables, [frames[table] for table in tables]) for tables in together]
    made["tests"] = "\n".join(
        [f"- {_agreement(TITLES[table], frames[table])}" for table in run]
        + ([f"- {_agreement(BY_MEAN, means)}"] if len(means) else [])
        + [
            f"- {sheet.title.split(', ', 1)[1]}. {note}"
            for sheet in tests
            for note in sheet.notes
            if ", our " in note
        ]
    )
    return made


def said(results: Any) -> list[str]:
    """Return what the verdicts of the page must say: their counts, from the results."""
    frames = {table: _complete(compared(table, results)) for table in BOTH}
    by_mean = _complete(compared("table7", results, reading="mean"))
    # RAKEL votes in every reading, and has more rows where the others' mean has been run.
    smo_rows = pd.concat([frames["table7"], by_mean]).drop_duplicates(
        ["dataset", "k", "column", "measure"]
    )
    rakel = pd.concat([smo_rows, frames["table8"]])
    rakel = rakel.query("column == 'RAKEL' and measure == 'micro_f1'").dropna(subset=["spread"])
    smo = _complete(readings_of("table7", results))
    smo = smo.assign(near=smo["difference"].abs() <= smo["spread"])
    near = smo.groupby(["measure", "reading", "tuned_for"])["near"].sum()
    f1, loss = near["micro_f1"].unstack(), near["hamming_loss"].unstack()
    n = smo.groupby(["measure", "reading", "tuned_for"]).size().iloc[0]
    j48 = frames["table8"].query("column not in ['RAKEL', @DEFAULT] and measure == 'micro_f1'")
    apart = j48.dropna(subset=["spread"])
    far = apart["difference"].where(apart["difference"].abs() > apart["spread"], 0)
    better = {table: _rakel_plus_plus(frames[table]) for table in BOTH}
    paired = paired_sheet("table7", results)
    n_paired = len(paired.rows) * (len(paired.heads) - 2)
    below = paired.notes[0].split(": ")[1].split(". ")[0]
    n_below = 0 if below == "none" else len(below.split(", "))
    choices = choice_sheet(pd.read_csv(CHOICES)).rows
    right = [[int(number) for number in row[-1].split(" of ")] for row in choices]
    return [
        f"micro-F1 within one standard deviation over folds in "
        f"{(rakel['difference'].abs() <= rakel['spread']).sum()} of {len(rakel)} rows",
        f"by votes {f1['micro_f1']['votes']} of {n} figures are within one standard deviation, by "
        f"the mean of the votes of pairs {f1['micro_f1']['mean']}, by the winner's share "
        f"{f1['micro_f1']['winner'] or 'none'}",
        f"by votes {loss['micro_f1']['votes']} of {n} figures, tuned for Hamming loss "
        f"{loss['hamming_loss']['votes']}; by the mean of the votes of pairs "
        f"{loss['micro_f1']['mean']}",
        f"{(far == 0).sum()} of {len(far)} figures within one standard deviation; "
        f"{(far > 0).sum()} are higher",
        f"and {(far < 0).sum()} lower",
        f"in {better['table7']} rows by votes. With J48 it is better in {better['table8']} rows",
        f"{n_paired - n_below} of {n_paired} comparisons ({len(paired.rows)} sets, five methods, "
        f"ten folds) are not below RAKEL by more than one standard error of paired differences; "
        f"below: {below}",
        f"right in {sum(r for r, _ in right)} of {sum(of for _, of in right)} choices",
    ]


def repeats(results: Any, again: Any) -> str:
    """Return the differences from RAKEL on the folds of the table, on others, and on all."""
    (dataset,) = set(again["dataset"])
    lines = pd.concat([results[results["dataset"] == dataset], again])
    lines = lines.assign(fold=lines["fold"] + len(set(lines["fold"])) * lines["seed"])
    parts = [(f"seed {seed}", part) for seed, part in lines.groupby("seed")]
    sheets = [(name, paired_sheet("table7", part)) for name, part in [*parts, ("all", lines)]]
    rows = [[f"{dataset}, {name}", *sheet.rows[0][1:]] for name, sheet in sheets]
    return _untitled(Sheet("", sheets[0][1].heads, rows))


def _agreement(title: str, frame: Any) -> str:
    """Return how many figures are near the paper's, and in how many rows RAKEL++ beats RAKEL."""
    frame = frame[frame["column"] != DEFAULT]
    said = []
    for measure, name in (("micro_f1", "micro-F1"), ("hamming_loss", "Hamming loss")):
        part = frame[frame["measure"] == measure].dropna(subset=["spread"])
        near = part["difference"].abs() <= part["spread"]
        rakel = part["column"] == "RAKEL"
        said.append(
            f"{name} within one standard deviation over folds: RAKEL {near[rakel].sum()} of "
            f"{rakel.sum()} rows, the other methods {near[~rakel].sum()} of {(~rakel).sum()} "
            f"figures, of which {(part['difference'][~rakel & ~near] > 0).sum()} are above the "
            f"paper's and {(part['difference'][~rakel & ~near] < 0).sum()} below; mean difference "
            f"of the other methods {part['difference'][~rakel].mean():+.4f}"
        )
    said.append(f"RAKEL++ has a higher micro-F1 than RAKEL in {_rakel_plus_plus(frame)} rows")
    return f"{title}. {'. '.join(text[0].upper() + text[1:] for text in said)}."


def _rakel_plus_plus(frame: Any) -> str:
    """Return in how many rows RAKEL++ beats RAKEL in micro-F1."""
    wide = frame[frame["measure"] == "micro_f1"].pivot_table(
        index=["dataset", "k"], columns="column", values="ours"
    )
    return f"{(wide['RAKEL++'] > wide['RAKEL']).sum()} of {len(wide)}"


def _complete(frame: Any) -> Any:
    """Return the rows that have all their folds."""
    if frame.empty:
        return frame
    wanted = frame["dataset"].map({"delicious": 1, MEDIAMILL: MEDIAMILL_FOLDS}).fillna(10)
    known = frame[(frame["column"] != DEFAULT) & (frame["measure"] == "micro_f1")]
    whole = known.assign(whole=known["folds"] >= wanted[known.index])
    kept = whole.groupby(["dataset", "k"])["whole"].all()
    rows = set(kept[kept].index)
    return frame[[row in rows for row in zip(frame["dataset"], frame["k"], strict=True)]]


def _untitled(sheet: Any) -> str:
    return sheet.markdown().split("\n", 2)[2]


def _state(title: str, frame: Any) -> str:
    if frame.empty:
        return f"- {title}: not run yet."
    said = [
        f"{name}, k = {', '.join(str(k) for k in sorted(set(rows['k'])))}"
        for name, rows in frame.groupby("dataset")
    ]
    return f"- {title}: {'; '.join(said)}."


def _title(measure: str) -> str:
    return {"micro_f1": "Micro-F1"}.get(measure) or TIMES[measure].capitalize()


def _markdown(frame: Any, measure: str) -> str:
    columns = list(dict.fromkeys(frame["column"]))
    lines = [f"| data set | k | σ | {' | '.join(columns)} |", "|---" * (len(columns) + 3) + "|"]
    for (dataset, k, size), row in frame.groupby(["dataset", "k", "size"]):
        cells = row.set_index("column")
        said = [_cell(cells.loc[column], measure in TIMES) for column in columns]
        lines.append(f"| {dataset} | {k} | {size} | {' | '.join(said)} |")
    return "\n".join(lines)


def _cell(figure: Any, seconds: bool) -> str:
    if figure["ours"] != figure["ours"]:
        return "–"
    if seconds:
        ours, paper = f"{figure['ours']:,.3g}", figure["paper"]
        return ours if paper != paper else f"{paper:,.4g} → {ours} ({paper / figure['ours']:,.3g}×)"
    ours = f"{figure['ours']:.4f}"
    if figure["spread"] == figure["spread"]:
        ours += f" ± {figure['spread']:.4f}"
    return ours if figure["paper"] != figure["paper"] else f"{figure['paper']:.4f} → {ours}"


def page(text: str, made: dict[str, str]) -> str:
    """Return the page with everything between its marks replaced."""
    for name, content in made.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"docs/reproduction.md needs the marks {begin} and {end}.")
        text = pattern.sub(lambda _, c=content, b=begin, e=end: f"{b}\n\n{c}\n\n{e}", text)
    return text


def main() -> None:
    """Write the tables and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--add", type=Path, nargs="*", default=[])
    for file in parser.parse_args().add:
        print(f"{add(file)} new lines of {file}")
    results = read_results(FOLDS)
    for table in TABLES:
        with replacing(FOLDS.parent / f"paper-{table}.csv") as temporary:
            frame = compared(table, results)
            frame.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
    text = page(PAGE.read_text(encoding="utf-8"), parts(results))
    with replacing(PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    for count in said(results):
        if count not in text:
            print(f"A verdict of the page is to say: {count}")


if __name__ == "__main__":
    main()
