"""The tables of docs/quality.md, from the scores of the quality benchmark."""

from pathlib import Path

import pandas as pd

from benchmarks.quality_methods import BOOSTERS, DECIDED, FOREST, LEAST_SQUARES, OURS, PEERS
from benchmarks.quality_scores import DECODED, ONE_CUT
from labelcover._files import replacing

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
COMPARED = [OURS, *PEERS]
TITLES = {
    "micro_f1": "micro-F1 ↑",
    "macro_f1": "macro-F1 ↑",
    "example_f1": "example F1 ↑",
    "hamming_loss": "Hamming loss ↓",
    "subset_accuracy": "subset accuracy ↑",
    "micro_average_precision": "micro AP ↑",
    "label_ranking_average_precision": "LRAP ↑",
    "log_loss": "log-loss ↓",
    "brier_score": "Brier score ↓",
}
LOWER_IS_BETTER = ["hamming_loss", "log_loss", "brier_score"]
UNFINISHED = "unfinished"
LINEAR = "logistic regression"
SPARSE_SETS = ("genbase", "medical", "enron", "slashdot", "ohsumed")
# The best two of 28 methods on each set and measure, by Bogatinovski et al. (2022).
PUBLISHED = Path(__file__).parents[1] / "docs" / "results" / "published.csv"


def write_page(results: Path, page: Path, sets: list[str]) -> None:
    """Write the tables between the marks of the page; the text around them stays."""
    frame = pd.read_csv(results)
    frame["dataset"] = pd.Categorical(frame["dataset"], sets)
    frame = frame.sort_values("dataset", kind="stable").astype({"dataset": str})
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    with replacing(page) as temporary:
        temporary.write_text(f"{before}{BEGIN}\n{tables(frame)}{END}{after}", encoding="utf-8")


def tables(frame: pd.DataFrame) -> str:
    """Return all tables."""
    means = mean_scores(frame[frame["method"].isin(COMPARED)])
    own = list(TITLES)
    one_cut = [measure + ONE_CUT for measure in DECIDED]
    parts = [
        folds_used(frame),
        "## Mean ranks, each method with its own decisions\n",
        rank_table(means, own),
        "## Mean ranks, one cut for all methods\n",
        rank_table(means, one_cut),
        "## Subset accuracy, all methods decoded alike\n",
        decoding_table(means),
        "## The pool and its views\n",
        views_table(frame),
        "## Beside gradient boosting\n",
        boosters_table(frame),
        "## Beside logistic regression on sparse tables, in seconds\n",
        linear_table(frame),
        "## Beside a published study, on other splits\n",
        published_table(means),
        "## Each data set\n",
    ]
    for dataset in means.index.unique("dataset"):
        parts += [f"### {dataset}\n", scores_table(means.loc[dataset], own)]
    return "\n".join(["", *parts, ""])


def finished_by_all(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep, for each set, the methods never stopped there and the folds that all of them have."""
    kept = []
    for _, rows in frame.groupby("dataset", sort=False):
        stopped = rows.loc[rows["measure"] == UNFINISHED, "method"]
        rows = rows[~rows["method"].isin(stopped)]
        methods = rows.groupby("fold")["method"].transform("nunique")
        kept.append(rows[methods == rows["method"].nunique()])
    return pd.concat(kept)


def mean_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the means over folds: a row per data set and method, a column per measure."""
    return finished_by_all(frame).pivot_table(
        index=["dataset", "method"], columns="measure", values="value", sort=False
    )


def folds_used(frame: pd.DataFrame) -> str:
    """Say how many folds each set has, and which methods were stopped."""
    used = finished_by_all(frame[frame["method"].isin(COMPARED)])
    folds = used.groupby("dataset", sort=False)["fold"].nunique()
    counts = ", ".join(f"{dataset} {number}" for dataset, number in folds.items())
    stopped = frame[frame["measure"] == UNFINISHED].drop_duplicates(["dataset", "method"])
    names = "; ".join(f"{row.method} on {row.dataset}" for row in stopped.itertuples())
    return f"Folds: {counts}. Stopped at the time limit: {names or 'none'}.\n"


def title_of(measure: str) -> str:
    return TITLES[measure.removesuffix(ONE_CUT)]


def lower_is_better(measure: str) -> bool:
    return measure.removesuffix(ONE_CUT) in LOWER_IS_BETTER


def ranks(means: pd.DataFrame, measure: str) -> pd.Series:
    """Return the rank of each method on each set, 1 the best; equal scores share a rank."""
    return means[measure].round(6).groupby("dataset").rank(ascending=lower_is_better(measure))


def rank_table(means: pd.DataFrame, measures: list[str]) -> str:
    """Return the mean ranks over data sets; the best of each measure in bold."""
    found = pd.DataFrame({m: ranks(means, m).groupby("method").mean() for m in measures})
    sets = means.groupby("method").size()
    lines = markdown_head(["method", *map(title_of, measures), "data sets"])
    for method in in_order(found.index):
        cells = [
            bold(f"{found.loc[method, m]:.2f}", found.loc[method, m] == found[m].min())
            for m in measures
        ]
        lines.append(markdown_row([method, *cells, str(sets[method])]))
    return "\n".join(lines) + "\n"


def decoding_table(means: pd.DataFrame) -> str:
    """Return the subset accuracy of each method on each set by decoding, and mean ranks."""
    table = means[DECODED].unstack("dataset", sort=False)
    mean_rank = ranks(means, DECODED).groupby("method").mean()
    lines = markdown_head(["method", *table.columns, "mean rank"])
    for method in in_order(table.index):
        cells = [number_cell(table.loc[method, name], table[name].max()) for name in table.columns]
        rank = bold(f"{mean_rank[method]:.2f}", mean_rank[method] == mean_rank.min())
        lines.append(markdown_row([method, *cells, rank]))
    return "\n".join(lines) + "\n"


def scores_table(means: pd.DataFrame, measures: list[str]) -> str:
    """Return the scores of all methods on one set."""
    lines = markdown_head(["method", *map(title_of, measures)])
    for method in in_order(means.index):
        cells = []
        for measure in measures:
            column = means[measure]
            best = column.min() if lower_is_better(measure) else column.max()
            cells.append(number_cell(column[method], best))
        lines.append(markdown_row([method, *cells]))
    return "\n".join(lines) + "\n"


def published_table(means: pd.DataFrame) -> str:
    """Return ours beside the best two of the published study, of each set and measure."""
    published = pd.read_csv(PUBLISHED)
    ours = means.xs(OURS, level="method")
    measures = list(dict.fromkeys(published["measure"]))
    lines = markdown_head(["data set", *map(title_of, measures)])
    ahead = dict.fromkeys(measures, 0)
    for dataset, rows in published.groupby("dataset", sort=False):
        if dataset not in ours.index:
            continue
        cells = []
        for row in rows.itertuples():
            own = ours.loc[dataset, row.measure]
            # As many digits as the study has.
            apart = round(own, 3) - row.value
            is_best = apart <= 0 if lower_is_better(row.measure) else apart >= 0
            ahead[row.measure] += is_best
            theirs = f"{row.value:.3f} {row.best}, {row.second_value:.3f} {row.second}"
            cells.append(f"{bold(f'{own:.3f}', is_best)} ({theirs})")
        lines.append(markdown_row([dataset, *cells]))
    counts = [f"{ahead[m]} of {len(lines) - 2}" for m in measures]
    lines.append(markdown_row(["at least their best", *counts]))
    return "\n".join(lines) + "\n"


def views_table(frame: pd.DataFrame) -> str:
    """Return log-loss of the pool and of each view alone, its calibration and its fit time."""
    views = [OURS, LEAST_SQUARES, FOREST]
    frame = frame[frame["method"].isin(views)]
    if set(frame["method"]) != set(views):
        return "Not measured yet.\n"
    means = mean_scores(frame)
    losses = means["log_loss"].unstack("method", sort=False)
    errors = means["calibration_error"].xs(OURS, level="method")
    seconds = means["fit_seconds"].unstack("method", sort=False)
    lines = markdown_head(
        [
            "data set", "log-loss of the pool", "of least squares alone", "of the forest alone",
            "calibration error of the pool", "fit, pool (CPU s)", "fit, least squares (CPU s)",
        ]
    )  # fmt: skip
    for dataset in losses.index:
        cells = [number_cell(losses.loc[dataset, v], losses.loc[dataset].min()) for v in views]
        times = [f"{seconds.loc[dataset, v]:.1f}" for v in views[:2]]
        lines.append(markdown_row([dataset, *cells, f"{errors[dataset]:.4f}", *times]))
    totals = [f"{seconds[v].sum():.1f}" for v in views[:2]]
    lines.append(markdown_row(["all", "", "", "", "", *totals]))
    return "\n".join(lines) + "\n"


def boosters_table(frame: pd.DataFrame) -> str:
    """Return ours beside each method of gradient boosting, on the folds that it has finished."""
    lines = markdown_head(
        [
            "data set",
            "method",
            "folds",
            "log-loss ↓: theirs, ours",
            "micro AP ↑: theirs, ours",
            "fit (CPU s): theirs, ours",
        ]
    )
    for dataset, rows in frame.groupby("dataset", sort=False):
        for method in BOOSTERS:
            pair = rows[rows["method"].isin([OURS, method])]
            if UNFINISHED in pair["measure"].values or pair["method"].nunique() < 2:
                continue
            means = mean_scores(pair).loc[dataset]
            theirs, ours = means.loc[method], means.loc[OURS]
            n_folds = finished_by_all(pair)["fold"].nunique()
            cells = [
                ", ".join(
                    number_cell(each[measure], best(theirs[measure], ours[measure]))
                    for each in (theirs, ours)
                )
                for measure, best in (("log_loss", min), ("micro_average_precision", max))
            ]
            cells.append(f"{theirs['fit_seconds']:.1f}, {ours['fit_seconds']:.1f}")
            lines.append(markdown_row([dataset, method, str(n_folds), *cells]))
    return "\n".join(lines) + "\n"


def linear_table(frame: pd.DataFrame) -> str:
    """Return CPU seconds of our fit and of one logistic regression per label on sparse tables."""
    lines = markdown_head(["data set", "ours", "logistic regression", "ours / theirs"])
    pair = frame[frame["method"].isin([OURS, LINEAR])]
    seconds = mean_scores(pair)["fit_seconds"].unstack("method", sort=False)
    for dataset in [name for name in SPARSE_SETS if name in seconds.index]:
        ours, theirs = seconds.loc[dataset, OURS], seconds.loc[dataset, LINEAR]
        cells = [f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.1f}"]
        lines.append(markdown_row([dataset, *cells]))
    return "\n".join(lines) + "\n"


def in_order(methods) -> list[str]:
    return [method for method in COMPARED if method in methods]


def number_cell(value: float, best: float) -> str:
    """Return a score of four digits, in bold if it equals the best as printed."""
    if pd.isna(value):
        return "–"
    return bold(f"{value:.4f}", f"{value:.4f}" == f"{best:.4f}")


def bold(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def markdown_head(titles: list[str]) -> list[str]:
    return [markdown_row(titles), "|" + "---|" * len(titles)]


def markdown_row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
