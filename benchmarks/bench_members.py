"""Covers as members: the paper's methods beside binary relevance with the same learner.

``python -m benchmarks.bench_members [--sets a,b] [--learners a,b]``. Three folds. Binary relevance
is there twice, cut at one half as RAKEL is, and at a threshold that is chosen on training rows as
for the methods after RAKEL. Scores are appended to ``docs/results/members.csv`` as they
come, so the same command resumes an interrupted run; ``--page`` prints the tables of
``docs/what-covers-bring.md``. Needs the data folder (``LABELCOVER_DATA``). Seconds are CPU seconds
of one thread.
"""

import argparse
import csv
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import labelcover
from benchmarks.quality_page import markdown_head, markdown_row
from labelcover.datasets import load
from labelcover.experiments._folds import make_folds
from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.metrics import hamming_loss, micro_f1, subset_accuracy

SETS = "emotions,genbase,debtags,medical,yeast,scene,enron,slashdot"
LEARNERS = {"least squares": LeastSquaresClassifier, "C4.5": C45Classifier}
METHODS = {
    "BR at ½": BinaryRelevanceClassifier,
    "RAKEL": labelcover.RakelClassifier,
    "BR": partial(BinaryRelevanceClassifier, threshold="cv"),
    "RAKEL++": labelcover.RakelPlusPlusClassifier,
    "INLAC": labelcover.InlacClassifier,
    "BALANCOR": labelcover.BalancorClassifier,
    "DD-BALANCOR": labelcover.DDBalancorClassifier,
}
RELEVANCE = ("BR at ½", "BR")
MEASURES = {
    "micro-F1": micro_f1,
    "Hamming loss": hamming_loss,
    "subset accuracy": subset_accuracy,
}
COLUMNS = ["dataset", "fold", "learner", "method", *MEASURES, "seconds"]
FILE = Path(__file__).parents[1] / "docs" / "results" / "members.csv"


def measure(name: str, fold: int, learner: str, method: str) -> list[str]:
    """Return a line of the results."""
    data = load(name)
    train, test = make_folds(data, n_folds=3)[fold]
    model = METHODS[method](LEARNERS[learner](), random_state=0, n_jobs=1)
    model.fit(data.X[train[:60]], data.Y[train[:60]])  # compile
    began = time.process_time()
    predicted = model.fit(data.X[train], data.Y[train]).predict(data.X[test])
    seconds = time.process_time() - began
    found = [f"{score(data.Y[test], np.asarray(predicted)):.5f}" for score in MEASURES.values()]
    return [name, str(fold), learner, method, *found, f"{seconds:.2f}"]


def done() -> set[tuple[str, ...]]:
    if not FILE.exists():
        return set()
    with FILE.open(newline="") as file:
        return {tuple(line[:4]) for line in csv.reader(file)}


def page() -> str:
    """Return a table for each learner: means over folds, in bold what is better than both BR."""
    frame = pd.read_csv(FILE)
    text = []
    for learner, own in frame.groupby("learner", sort=False):
        means = own.groupby(["dataset", "method"], sort=False)[COLUMNS[4:]].mean()
        titles = list(METHODS)
        names = [
            name
            for name in dict.fromkeys(own["dataset"])
            if all((name, each) in means.index for each in titles)
        ]
        for measure, digits in [*((each, 3) for each in MEASURES), ("seconds", 1)]:
            text += ["", *markdown_head([f"{learner}: {measure}", *titles])]
            sign = 1 if measure in ("micro-F1", "subset accuracy") else -1
            for name in names:
                values = [f"{means[measure].get((name, each)):.{digits}f}" for each in titles]
                least = max(sign * float(values[titles.index(each)]) for each in RELEVANCE)
                is_time = measure == "seconds"
                cells = [
                    f"**{v}**" if sign * float(v) > least and not is_time else v for v in values
                ]
                text.append(markdown_row([name, *cells]))
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--page", action="store_true", help="print the tables of the page")
    options = parser.parse_args()
    if options.page:
        print(page())
        return
    wanted = [
        (name, str(fold), learner, method)
        for name in options.sets.split(",")
        for fold in range(3)
        for learner in options.learners.split(",")
        for method in METHODS
    ]
    for job in wanted:
        if job in done():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = measure(job[0], int(job[1]), *job[2:])
        is_new = not FILE.exists()
        with FILE.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, line] if is_new else [line])
        print(*line, flush=True)


if __name__ == "__main__":
    main()
