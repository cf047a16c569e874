"""Finding wrong labels: the audit beside cleanlab, on labels of which some are flipped.

``python -m benchmarks.bench_audit [--sets a,b] [--seeds 5]``. In each set 2 % of the cells of Y are
flipped at random; measured is the average precision of finding them. cleanlab ranks the cells of
its multi-label problem by the five-fold cross-validated probabilities of `LabelCoverClassifier`,
and by the leave-one-out probabilities of the audit; of its three scores the best counts. Seconds
are CPU seconds of one thread, all measured in turn. Needs the data folder (``LABELCOVER_DATA``) and
the ``bench`` extra.

``python -m benchmarks.bench_audit --number docs/results/audit-number.csv [--sets a,b] [--seeds 5]``
compares the number of wrong labels that the audit reports with that of cells flipped, and has a
line without flips (seed -1) for each set. Of sets with more than 2,000 rows, 2,000 are drawn. In
``coins`` the labels of debtags are drawn at random, as often as they are there. Lines are written
as they come, and the same command resumes an interrupted run.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from labelcover import LabelCoverClassifier
from labelcover.audit import suspicious_labels
from labelcover.datasets import load

SETS = "debtags,medical,yeast"
NUMBER_SETS = (
    "emotions,genbase,medical,scene,debtags,debtags-words,enron,yeast,slashdot,ohsumed,"
    "mediamill-subset,delicious,coins"
)
MOST_ROWS = 2000
COLUMNS = (
    *("set", "rows", "labels", "seed", "flipped", "estimate", "low", "high"),
    *("judged", "listed", "right"),
)
SHARE = 0.02
FOLDS = 5
SCORES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")


def flipped(Y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Y with some cells flipped, and which."""
    wrong = np.zeros(Y.size, dtype=bool)
    wrong[np.random.default_rng(seed).choice(Y.size, round(SHARE * Y.size), replace=False)] = True
    wrong = wrong.reshape(Y.shape)
    return np.where(wrong, 1 - Y, Y).astype(np.uint8), wrong


def cross_validated(X, Y: np.ndarray) -> np.ndarray:
    fold = np.random.default_rng(0).permutation(len(Y)) % FOLDS
    P = np.empty(Y.shape)
    for f in range(FOLDS):
        test = fold == f
        P[test] = (
            LabelCoverClassifier(random_state=0).fit(X[~test], Y[~test]).predict_proba(X[test])
        )
    return P


def best_of_cleanlab(Y: np.ndarray, P: np.ndarray, wrong: np.ndarray) -> float:
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    labels = [np.flatnonzero(row).tolist() for row in Y]
    found = [1 - get_label_quality_scores_per_class(labels, P, method=method) for method in SCORES]
    return max(precision(wrong, suspicion) for suspicion in found)


def precision(wrong: np.ndarray, suspicion: np.ndarray) -> float:
    return float(average_precision_score(wrong.ravel(), suspicion.ravel()))


def measure(X, Y: np.ndarray, seed: int) -> dict[str, float]:
    given, wrong = flipped(Y, seed)
    times, began = {}, time.process_time()

    def lap(name: str) -> None:
        nonlocal began
        now = time.process_time()
        times[name], began = now - began, now

    default = suspicious_labels(X, given)
    lap("audit")
    same = suspicious_labels(X, given, LabelCoverClassifier(random_state=0))
    lap("audit, same model")
    P = cross_validated(X, given)
    lap("cross-validation")
    return {
        "audit": precision(wrong, default.suspicion),
        "audit, same model": precision(wrong, same.suspicion),
        "cleanlab, left out": best_of_cleanlab(given, same.features, wrong),
        "cleanlab, five folds": best_of_cleanlab(given, P, wrong),
        **{f"seconds of {name}": seconds for name, seconds in times.items()},
    }


def number_line(name: str, seed: int) -> list:
    """Return how many cells look wrong, and how many of those listed were flipped."""
    data = load("debtags" if name == "coins" else name)
    rows = np.arange(len(data.Y))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), MOST_ROWS, replace=False))
    X, Y = data.X[rows], data.Y[rows]
    if name == "coins":
        Y = (np.random.default_rng(0).random(Y.shape) < Y.mean(axis=0)).astype(np.uint8)
    given, wrong = (Y, np.zeros(Y.shape, dtype=bool)) if seed < 0 else flipped(Y, seed)
    suspects = suspicious_labels(X, given, label_names=data.label_names)
    listed = suspects.ranked()
    right = sum(wrong[each.row, data.label_names.index(each.label)] for each in listed)
    numbers = [round(number, 1) for number in suspects.n_wrong]
    judged = int(suspects.errors.judged.any(axis=0).sum())
    return [name, *Y.shape, seed, int(wrong.sum()), *numbers, judged, len(listed), int(right)]


def write_numbers(path: Path, names: list[str], seeds: int) -> None:
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(line["set"], int(line["seed"])) for line in csv.DictReader(file)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for seed in range(-1, seeds):
            for name in names:
                if (name, seed) not in done:
                    line = number_line(name, seed)
                    print(*line, flush=True)
                    writer.writerow(line)
                    file.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--number", type=Path, help="write the numbers to this CSV file")
    options = parser.parse_args()
    names = (options.sets or (NUMBER_SETS if options.number else SETS)).split(",")
    if options.number:
        write_numbers(options.number, names, options.seeds)
    else:
        write_scores(names, options.seeds)


def write_scores(names: list[str], seeds: int) -> None:
    for number, name in enumerate(names):
        data = load(name)
        if number == 0:  # what is compiled is compiled before anything is timed
            measure(data.X[:80], data.Y[:80], 0)
        found = [measure(data.X, data.Y, seed) for seed in range(seeds)]
        if number == 0:
            print("| set |", " | ".join(found[0]), "|")
            print("|---|" + "---|" * len(found[0]))
        means = [np.mean([each[column] for each in found]) for column in found[0]]
        print(f"| {name} |", " | ".join(f"{mean:.3f}" for mean in means), "|", flush=True)
        for ours in ("audit", "audit, same model"):
            better = sum(each[ours] >= each["cleanlab, five folds"] for each in found)
            print(f"{ours}: at least as good with {better} of {len(found)} seeds", flush=True)


if __name__ == "__main__":
    main()
