"""The fits behind the paper's tables: which ensembles on which data, fitted together, resumable.

Everything is written to a results file of `labelcover.experiments.results`, a line for each
ensemble and fold, as `compare` would write it, but for times: ensembles that share a fit have none
of their own. Table 9 is about times, so its ensembles are fitted one by one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.datasets import Dataset
from labelcover.ensemble import READINGS
from labelcover.experiments._folds import Fold
from labelcover.experiments._paper.joint_fits import fit_together
from labelcover.experiments._paper.printed import (
    ENSEMBLES,
    MEMBERS,
    PrintedRow,
    paper_size,
    printed_table,
)
from labelcover.experiments._paper.printed import METHODS as SIX
from labelcover.experiments._running import Fit, Outcome, failed, fits_of, perform, scores_of
from labelcover.experiments.named_methods import METHODS, PAPER, member_of, named_method
from labelcover.metrics import label_f1

#: The one more column of every table: the general estimator with its defaults.
DEFAULT = "LabelCover"
SEED = 0
#: What thresholds are tuned for: as Section 5.2 has it, and as MULAN does.
TUNED_FOR = ("micro_f1", "hamming_loss")
#: Readings of members, each with the measures that thresholds are tuned for.
WAYS = [(reading, measure) for reading in READINGS for measure in TUNED_FOR]
#: The tables of the six methods, whose rows Section 5.4 takes together.
BOTH = ("table7", "table8")
#: What ``aggregate="auto"`` comes to with the members of the tables.
READING_OF = {"smo": "votes", "c45": "mean"}
#: MediaMill is not cross-validated in the paper; here some of its rows are, in so many folds.
MEDIAMILL, MEDIAMILL_FOLDS = "mediamill-subset", 3
#: The other ensembles of Table 9, and their parameters from σ and m (Section 5.5): ECC has the
#: fewest chains with at least σ models, EPS σ members; the rest are MULAN's defaults.
PEERS: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "ECC": lambda size, m: {"n_chains": -(-size // m)},
    "EPS": lambda size, m: {
        "n_members": size,
        "subsample": 0.66,
        "aggregate": "votes",
        "threshold": 0.5,
    },
}


@dataclass(frozen=True)
class Setting:
    """An ensemble of one of the paper's tables.

    Attributes
    ----------
    method : str
        One of `labelcover.experiments.named_methods.METHODS`.
    member : str
        ``"smo"`` or ``"c45"``.
    k, r : int
        Labels in a labelset, and the order of the correlations.
    size : "paper", int or None
        Number of labelsets: the paper's σ, another, or as many as BALANCOR needs.
    alone : bool
        Whether it is fitted by itself, so that its times count.
    reading : {"mean", "votes", "winner"}
        How members are combined: MULAN's readings 2, 0 and 1. RAKEL always votes.
    tuned_for : {"micro_f1", "hamming_loss"}
        The measure of the threshold. RAKEL's is ½.
    """

    method: str
    member: str
    k: int
    r: int = 2
    size: str | int | None = PAPER
    alone: bool = False
    reading: str = "mean"
    tuned_for: str = "micro_f1"

    @property
    def name(self) -> str:
        """What it is called in the results file."""
        words = [self.method, self.member, f"k={self.k}"]
        words += [f"r={self.r}"] if self.r != 2 else []
        words += [f"size={self.size}"] if self.r != 2 and self.size is not None else []
        words += ["alone"] if self.alone else []
        words += [self.reading] if self.reading != "mean" else []
        words += [self.tuned_for] if self.tuned_for != "micro_f1" else []
        return " ".join(words)

    def make(self, dataset: Dataset) -> Any:
        """Return the estimator for a data set."""
        if self.method in PEERS:
            size = paper_size(dataset.name, self.k)
            parameters = PEERS[self.method](size, dataset.Y.shape[1])
            return METHODS[self.method](member_of("c45", dataset), **parameters)
        made = named_method(
            self.method,
            k=self.k,
            r=self.r,
            size=self.size,
            threshold="cv",
            member=self.member,
        )(dataset)
        if self.method != "RAKEL":
            made.set_params(aggregate=self.reading)
            if self.tuned_for != "micro_f1":
                made.set_params(threshold_measure=self.tuned_for)
        return made


def table_settings(table: str, dataset: str) -> list[Setting]:
    """Return the ensembles that a table of the paper needs on a data set.

    Parameters
    ----------
    table : {"table7", "table8", "table9", "table10", "section5.7"}
    dataset : str

    Examples
    --------
    >>> from labelcover.experiments._paper.paper_fits import table_settings
    >>> [setting.name for setting in table_settings("table8", "emotions")][:2]
    ['RAKEL c45 k=3', 'RAKEL++ c45 k=3']
    """
    if table == "section5.7":
        ks = [row.k for row in printed_table("table7") if row.dataset == dataset]
        # The lowest and the highest; two data sets have one k only.
        ends = [min(ks), max(ks)] if len(ks) > 1 else []
        return [table_setting("DD-BALANCOR", member, k) for member in ("smo", "c45") for k in ends]
    # Methods with a threshold in every reading and for every measure.
    ways = WAYS if table in BOTH else WAYS[:1]
    made = [
        setting
        for row in printed_table(table)
        if row.dataset == dataset
        for column in zip(*(columns_of(table, row, *way).values() for way in ways), strict=True)
        for _, setting in column
    ]
    return list(dict.fromkeys(made))


def columns_of(
    table: str, row: PrintedRow, reading: str | None = None, tuned_for: str = TUNED_FOR[0]
) -> dict[str, tuple[str, Setting]]:
    """Return for each column of a table its name in the CSV file, and our ensemble for a row."""
    if table in BOTH:
        how = MEMBERS[table], row.k, reading, tuned_for
        return {each: (each, table_setting(each, *how)) for each in SIX}
    if table == "table9":
        return {each: (each, Setting(each, "c45", row.k, alone=True)) for each in ENSEMBLES}
    # With r=3 on a true cover, and with the paper's σ.
    orders: dict[str, tuple[int, str | None]] = {
        "r=2": (2, PAPER),
        "r=3, true cover": (3, None),
        "r=3, σ of the paper": (3, PAPER),
    }
    return {
        f"{method} {how}": (f"{printed} r={r}", Setting(method, "c45", row.k, r, size))
        for method, printed in (("DD-BALANCOR", "DD"), ("RAKEL++", "RAKEL++"))
        for how, (r, size) in orders.items()
    }


def table_setting(
    method: str, member: str, k: int, reading: str | None = None, tuned_for: str = TUNED_FOR[0]
) -> Setting:
    """Return a method of Tables 7 and 8, by default in the reading that its member asks for."""
    if method == "RAKEL":
        return Setting(method, member, k)
    return Setting(method, member, k, reading=reading or READING_OF[member], tuned_for=tuned_for)


def folds_of(dataset: Dataset | str, n_folds: int) -> str:
    """Return how a data set is split, as in the results file: ``"own"``, or ``"kfold-10"``.

    Section 5.3: the two largest sets are split once, all others are cross-validated. Delicious
    has that split; of MediaMill only some rows are known here, which have three folds at most.
    """
    name = dataset if isinstance(dataset, str) else dataset.name
    if name == "delicious":
        return "own"
    return f"kfold-{min(n_folds, MEDIAMILL_FOLDS) if name == MEDIAMILL else n_folds}"


def groups_of(settings: Sequence[Setting], dataset: Dataset, n_folds: int) -> list[list[Fit]]:
    """Return the fits of some ensembles on a data set: those with one member, k and fold together.

    One k comes after the other, so that a line of a table is soon complete. `LabelCoverClassifier`
    with its defaults is fitted on the same folds.
    """
    methods: dict[str, Any] = {s.name: partial(Setting.make, s) for s in settings}
    shared = {s.name: s.name if s.alone else f"{s.member} k={s.k}" for s in settings}
    shared[DEFAULT] = DEFAULT
    order = list(dict.fromkeys(shared.values()))

    def place(fit: Fit) -> tuple[int, int]:
        return order.index(shared[fit[0].method]), fit[0].fold

    how, _, number = folds_of(dataset, n_folds).partition("-")
    every = methods | {DEFAULT: LabelCoverClassifier()} if methods else {}
    fits = fits_of(every, dataset, how, int(number or n_folds), [SEED])
    return [list(group) for _, group in groupby(sorted(fits, key=place), key=place)]


def outcomes_of(estimators: list[Any], dataset: Dataset, fold: Fold) -> list[Outcome]:
    """Return the outcomes of a group of fits, each with its cover."""
    if len(estimators) == 1:
        return [perform(estimators[0], dataset, fold)]
    try:
        for estimator in estimators:
            if isinstance(estimator, Exception):
                raise estimator
        answers = fit_together(
            estimators, dataset.X[fold.train], dataset.Y[fold.train], dataset.X[fold.test]
        )
    except Exception as error:
        return [(failed(error, fold), None) for _ in estimators]
    Y, found = dataset.Y[fold.test], list[Outcome]()
    for estimator, answer in zip(estimators, answers, strict=True):
        # Measures of rankings take as long as the fits: they are made of the tables alone, not of
        # other readings, and nobody asks for those of each label.
        is_ranked = isinstance(estimator, RakelClassifier) or (
            estimator.aggregate == "mean" and estimator.threshold_measure == "auto"
        )
        result = {
            "n_train": len(fold.train),
            "n_test": len(fold.test),
            "size": len(answer.cover),
            "label_f1": label_f1(Y, answer.predicted).tolist() if is_ranked else [],
            **scores_of(Y, answer.predicted, answer.confidence if is_ranked else None),
        }
        found.append((result, answer.cover))
    return found
