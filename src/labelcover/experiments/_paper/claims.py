"""The paper's claims: the readings, the tests of Sections 5.4 and 5.5, the choice of k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover.datasets import Dataset
from labelcover.dependence import label_dependence
from labelcover.experiments._folds import Fold, make_folds
from labelcover.experiments._paper.paper_fits import (
    SEED,
    WAYS,
    Setting,
    folds_of,
    table_setting,
    table_settings,
)
from labelcover.experiments._paper.paper_tables import Sheet, compared
from labelcover.experiments._paper.printed import MEMBERS, METHODS, printed_table
from labelcover.experiments._running import fit_seeds
from labelcover.experiments._statistics import (
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    groups,
    p_value,
)
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

#: Of how many choices the paper was right, of 80: with SMO (Table 7) and with J48 (Table 8).
PRINTED = {"smo": 64, "c45": 59}
PRINTED_OF = 80
#: Measures of the tables, as they are written.
NAMES = {"micro_f1": "micro-F1", "hamming_loss": "Hamming loss"}
#: Member to its name in WEKA.
WEKA = {"smo": "SMO", "c45": "J48"}


def printed_scores(
    tables: Sequence[str], measure: str, methods: Sequence[str] = METHODS
) -> NDArray[np.float64]:
    """Return what the paper prints, a row per data set and k, a column per method."""
    rows = [row for table in tables for row in printed_table(table)]
    return np.array([[row.score(measure, method) for method in methods] for row in rows])


def tested(
    scores: NDArray[np.float64], measure: str, methods: Sequence[str], *, against_first: bool
) -> str:
    """Return mean ranks, Friedman's test and which methods differ, in a sentence.

    All pairs are compared by Nemenyi's critical difference, as in Section 5.4, or all methods with
    the first by Bonferroni–Dunn's test, as in Section 5.5.

    Examples
    --------
    >>> from labelcover.experiments._paper.claims import METHODS, printed_scores, tested
    >>> scores = printed_scores(["table7", "table8"], "micro_f1")
    >>> "F(5, 315) = 127.3" in tested(scores, "micro_f1", METHODS, against_first=False)
    True
    """
    higher = MEASURES[measure].higher_is_better
    ranks = average_ranks(scores, higher_is_better=higher)
    test = friedman(scores if higher else -scores)
    told = ", ".join(f"{methods[j]} {ranks[j]:.2f}" for j in np.argsort(ranks, kind="stable"))
    degrees = f"F({test.degrees[0]}, {test.degrees[1]})"
    said = f"mean ranks {told}; {degrees} = {test.f:.4g}, {p_value(test.p_value)}"
    if against_first:
        p = bonferroni_dunn(scores, 0, higher_is_better=higher)
        others = [f"{name} {p_value(own)}" for name, own in zip(methods, p, strict=True)]
        return f"{said}; against {methods[0]} (Bonferroni–Dunn): {', '.join(others[1:])}"
    difference = critical_difference(len(methods), len(scores))
    bars = [" and ".join(methods[j] for j in bar) for bar in groups(ranks, difference)]
    same = f"do not differ: {'; '.join(bars)}" if bars else "all differ"
    return f"{said}; critical difference {difference:.3f} (Nemenyi); {same}"


def readings_of(table: str, results: pd.DataFrame, **how: Any) -> pd.DataFrame:
    """Return the figures of Table 7 or 8 in every reading and for every measure of the threshold.

    These are what `compared` returns for the methods with a threshold, with ``reading`` and
    ``tuned_for``; only rows of the table that have been run in all of them.
    """
    import pandas as pd

    frames = [
        compared(table, results, reading=reading, tuned_for=measure, **how).assign(
            reading=reading, tuned_for=measure
        )
        for reading, measure in WAYS
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["column"].isin(METHODS[1:])]
    folds = frame.groupby(["dataset", "k"])["folds"]
    return frame[(folds.transform("min") > 0) & (folds.transform("min") == folds.transform("max"))]


def readings_sheets(table: str, frame: pd.DataFrame) -> list[Sheet]:
    """Return the paper's figures beside six of ours, and which of these are nearest."""
    title = f"Micro-F1/Hamming loss by reading and measure of the threshold, {WEKA[MEMBERS[table]]}"
    if frame.empty:
        return [Sheet(title, [], [], ["Nothing has been run yet."])]
    heads = ["data set", "k", "method", "paper", *map(_way, WAYS)]
    cells = frame.pivot_table(
        index=["dataset", "k", "column"], columns=["measure", "reading", "tuned_for"], values="ours"
    )
    rows = []
    for (dataset, k, method), part in frame.groupby(["dataset", "k", "column"], sort=False):
        printed = part.groupby("measure")["paper"].first()
        ours = cells.loc[(dataset, k, method)]
        pairs = [[printed[measure] for measure in NAMES]]
        pairs += [[ours[measure, *way] for measure in NAMES] for way in WAYS]
        rows.append([str(dataset), str(k), method, *(f"{f1:.4f}/{loss:.4f}" for f1, loss in pairs)])
    return [Sheet(title, heads, rows), _nearness_sheet(table, frame)]


def _nearness_sheet(table: str, frame: pd.DataFrame) -> Sheet:
    """Return how many figures of each reading are near the paper's, and where it is nearest."""
    frame = frame.assign(apart=frame["difference"].abs())
    rows = [[_way(way)] for way in WAYS]
    for measure in NAMES:
        part = frame[frame["measure"] == measure]
        by_row = part.pivot_table(
            index=["dataset", "k"], columns=["reading", "tuned_for"], values="apart"
        )
        nearest = by_row.idxmin(axis=1).value_counts()
        for way, row in zip(WAYS, rows, strict=True):
            own = part[(part["reading"] == way[0]) & (part["tuned_for"] == way[1])]
            near = (own["apart"] <= own["spread"]).sum()
            row += [f"{near} of {len(own)}", f"{own['apart'].mean():.4f}"]
            row.append(f"{nearest.get(way, 0)} of {len(by_row)}")
    heads = ["within one sd", "mean difference", "nearest row"]
    named = [f"{NAMES[measure]}: {head}" for measure in NAMES for head in heads]
    title = f"Which reading is nearest to the paper, {WEKA[MEMBERS[table]]}"
    note = (
        "Differences are absolute; a row is a data set and k, and nearest is the least mean "
        "difference of its five methods; sd is the standard deviation over folds."
    )
    return Sheet(title, ["reading", *named], rows, [note])


def _way(way: tuple[str, str]) -> str:
    return f"{way[0]}, tuned for {NAMES[way[1]]}"


def paired_sheet(table: str, results: pd.DataFrame, k: int = 3, n_folds: int = 10) -> Sheet:
    """Return how far each method is from RAKEL in micro-F1, on the same folds.

    The standard error is that of the mean of paired differences. A method is said to be below
    where it is so by more than one; how many would be by chance alone is by Student's t.
    """
    from scipy.stats import t

    good = results[results["error"] == ""].set_index(["dataset", "method", "folds", "fold"])
    scores = good["micro_f1"].unstack("method")
    rows, below = [], []
    member = MEMBERS[table]
    for dataset in dict.fromkeys(row.dataset for row in printed_table(table) if row.k == k):
        names = [table_setting(method, member, k).name for method in METHODS]
        place = dataset, folds_of(dataset, n_folds)
        if place not in scores.index.droplevel("fold") or not set(names) <= set(scores.columns):
            continue
        own = scores.loc[place, names].dropna()
        if len(own) < n_folds:
            continue
        apart = own[names[1:]].sub(own[names[0]], axis=0)
        mean, error = apart.mean(), apart.std(ddof=1) / np.sqrt(len(apart))
        said = [f"{mean[name]:+.4f} ± {error[name]:.4f}" for name in names[1:]]
        rows.append([dataset, f"{own[names[0]].mean():.4f}", *said])
        # One fold that differs is exactly one standard error away, but for rounding.
        worse = [mean[name] < -error[name] - 1e-12 for name in names[1:]]
        below += [f"{METHODS[1:][j]} on {dataset}" for j in np.flatnonzero(worse)]
    chance = t.cdf(-1, n_folds - 1) * len(METHODS[1:]) * len(rows)
    note = (
        f"Below RAKEL by more than one standard error: {', '.join(below) or 'none'}. Did no method "
        f"differ from it, {chance:.1f} of {len(METHODS[1:]) * len(rows)} comparisons would be."
    )
    title = (
        f"Micro-F1 less that of RAKEL, {WEKA[member]}, k = {k}: mean over folds ± standard error"
    )
    return Sheet(title, ["data set", *METHODS], rows, [note])


def choices_of(
    datasets: Sequence[Dataset], results: pd.DataFrame, *, n_folds: int = 10
) -> pd.DataFrame:
    """Return for each data set, fold and member which k was chosen, and which was better.

    The covers are those of DD-BALANCOR with the paper's σ for the lowest and the highest k of the
    data set; chosen is the one that addresses the greater total dependency of triples in the
    training labels, better the one with the lower Hamming loss on the test rows:
    ``loss_difference`` is that at the highest k less that at the lowest.
    """
    import pandas as pd

    lines = []
    good = results[results["error"] == ""].set_index(["dataset", "method", "folds", "fold"])
    losses = good["hamming_loss"].to_dict()
    for dataset in datasets:
        settings = table_settings("section5.7", dataset.name)
        if not settings:
            continue
        kind = folds_of(dataset, n_folds)
        how, _, number_of = kind.partition("-")
        made = make_folds(dataset, how, n_folds=int(number_of or n_folds))
        chosen: dict[int, bool] = {}
        for low, high in (settings[:2], settings[2:]):
            for number, fold in enumerate(made):
                keys = [(dataset.name, s.name, kind, number) for s in (low, high)]
                if not all(key in losses for key in keys):
                    continue
                if number not in chosen:
                    chosen[number] = _chooses_high(dataset, fold, low, high)
                apart = losses[keys[1]] - losses[keys[0]]
                own = dataset.name, number, low.member, low.k, high.k, chosen[number], apart
                lines.append(own)
    columns = ["dataset", "fold", "member", "low", "high", "chose_high", "loss_difference"]
    return pd.DataFrame(lines, columns=columns)


def _chooses_high(dataset: Dataset, fold: Fold, low: Setting, high: Setting) -> bool:
    """Return whether DD-BALANCOR's cover of the highest k addresses more dependency.

    Of equals the one with fewer labelsets is chosen, as by `labelcover.dependence.cover_choices`.
    """
    Y = dataset.Y[fold.train]
    triples = label_dependence(Y, 3)
    addressed = []
    for setting in (low, high):
        model = setting.make(dataset).set_params(random_state=SEED)
        cover = model._make_cover(Y, int(fit_seeds(model)[0]))
        addressed.append((triples.merit(cover), -len(cover)))
    return addressed[1] > addressed[0]


def choice_sheet(choices: pd.DataFrame) -> Sheet:
    """Return Section 5.7 as a table: how often the choice was right, for each data set and member.

    Equal losses count as right.
    """
    heads = ["data set", "member", "low k", "high k", "chose high", "high better", "equal", "right"]
    apart = choices["loss_difference"]
    choices = choices.assign(right=(apart == 0) | ((apart < 0) == choices["chose_high"]))
    rows = []
    for (dataset, member), part in choices.groupby(["dataset", "member"], sort=False):
        ks = [str(part[end].iloc[0]) for end in ("low", "high")]
        own = part["loss_difference"]
        counts = [part["chose_high"].sum(), (own < 0).sum(), (own == 0).sum()]
        right = f"{part['right'].sum()} of {len(part)}"
        rows.append([str(dataset), WEKA[str(member)], *ks, *map(str, counts), right])
    notes = []
    for member, part in choices.groupby("member", sort=False):
        right, printed = part["right"], PRINTED[str(member)]
        notes.append(
            f"{WEKA[str(member)]}: right in {right.sum()} of {len(part)} choices "
            f"({right.mean():.1%}); the paper has {printed} of {PRINTED_OF} "
            f"({printed / PRINTED_OF:.1%})."
        )
    if len(choices):
        high = choices["chose_high"]
        notes.append(
            f"The highest k was chosen in {high.sum()} of {len(choices)} cases. Always choosing "
            f"it would be right in {(apart <= 0).sum()}, always the lowest in {(apart >= 0).sum()}."
        )
        notes.append(
            "The paper's mean of 75 % is neither (64 + 59)/160 = 76.9 % nor either of its parts."
        )
    else:
        notes.append("Nothing has been run yet.")
    return Sheet("Section 5.7: the choice between the lowest and the highest k", heads, rows, notes)
