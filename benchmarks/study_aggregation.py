"""What the way of combining members changes: the tables of docs/aggregation.md.

Run ``python -m benchmarks.study_aggregation RESULTS.csv [FOLDS]``. It resumes an interrupted run;
with 0 FOLDS it only reports on what RESULTS.csv holds.
"""

import sys

import pandas as pd

from labelcover import BalancorClassifier
from labelcover.experiments._running import run
from labelcover.experiments.results import read_results

DATASETS = ["emotions", "scene", "yeast", "debtags", "medical", "enron"]
# The threshold is tuned on leave-one-out predictions, combined in the same way.
METHODS = {
    aggregate: BalancorClassifier(aggregate=aggregate, threshold="loo")
    for aggregate in ("mean", "votes", "weighted")
}
MEASURES = {
    "log_loss": ("log-loss", False),
    "micro_f1": ("micro-F1", True),
    "macro_f1": ("macro-F1", True),
    "hamming_loss": ("Hamming loss", False),
    "subset_accuracy": ("subset accuracy", True),
    "micro_average_precision": ("average precision (micro)", True),
}


def report_measure(frame: pd.DataFrame, measure: str) -> None:
    """Print the table of a measure: means over folds, and in how many folds mean is beaten."""
    title, higher = MEASURES[measure]
    print(f"\n### {title}, {'higher' if higher else 'lower'} is better\n")
    print("| data set | folds | mean | votes | weighted | votes better | weighted better |")
    print("|---|---|---|---|---|---|---|")
    for dataset in DATASETS:
        table = frame[frame["dataset"] == dataset].pivot_table(
            index=["seed", "fold"], columns="method", values=measure
        )
        if table.empty:
            continue
        gain = table.sub(table["mean"], axis=0) * (1 if higher else -1)
        better = [f"{(gain[name] > 0).sum()} of {len(table)}" for name in ("votes", "weighted")]
        means = [f"{table[name].mean():.4f}" for name in METHODS]
        print(f"| {dataset} | {len(table)} |", " | ".join([*means, *better]), "|")


def report(frame: pd.DataFrame) -> None:
    """Print the tables of folds on which all ways have been tried."""
    finished = frame.groupby(["dataset", "seed", "fold"])["method"].transform("nunique")
    frame = frame[finished == len(METHODS)]
    for measure in MEASURES:
        report_measure(frame, measure)


if __name__ == "__main__":
    path = sys.argv[1]
    n_folds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if n_folds:
        run(METHODS, DATASETS, path, n_folds=n_folds, verbose=False)
    report(read_results(path))
