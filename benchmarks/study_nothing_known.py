"""The default with nothing known, beside another commit: five times three folds of nine sets.

``PYTHONPATH=src python -m benchmarks.study_nothing_known now`` measures the package on the path
under a name; with ``PYTHONPATH`` at the ``src`` of another checkout and another name, that commit.
Rows are appended to ``docs/results/nothing-known.csv`` as they come, so that the same command
resumes an interrupted run. ``--compare before now`` prints mean differences and standard errors.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, log_loss

from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.metrics import example_f1, subset_accuracy

SETS = [
    "emotions", "scene", "yeast", "genbase", "medical", "enron", "slashdot", "debtags", "ohsumed",
]  # fmt: skip
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "nothing-known.csv"
REPEATS, FOLDS, LEAST = 5, 3, 1e-6
MEASURES = ["log_loss", "average_precision", "subset_accuracy", "example_f1"]
PLACE = ["dataset", "repeat", "fold"]


def measured(name: str, repeat: int, fold: int) -> list[float]:
    """Return the measures of the default, fitted on the other folds."""
    data = load(name)
    order = np.random.default_rng(repeat).permutation(len(data.Y))
    test = order[fold::FOLDS]
    train = np.setdiff1d(order, test)
    model = LabelCoverClassifier(random_state=0).fit(data.X[train], data.Y[train])
    P, Y = np.clip(model.predict_proba(data.X[test]), LEAST, 1 - LEAST), data.Y[test]
    return [
        log_loss(Y.ravel(), P.ravel()),
        average_precision_score(Y.ravel(), P.ravel()),
        subset_accuracy(Y, model.predict(data.X[test], decide="subset_accuracy")),
        example_f1(Y, model.predict(data.X[test], decide="example_f1")),
    ]


def run(commit: str) -> None:
    known = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=["commit", *PLACE])
    done = set(known[["commit", *PLACE]].itertuples(index=False, name=None))
    for repeat in range(REPEATS):
        for name in SETS:
            for fold in range(FOLDS):
                if (commit, name, repeat, fold) in done:
                    continue
                values = [f"{value:.6g}" for value in measured(name, repeat, fold)]
                row = [commit, name, repeat, fold, *values]
                table = pd.DataFrame([row], columns=["commit", *PLACE, *MEASURES])
                table.to_csv(RESULTS, mode="a", index=False, header=not RESULTS.exists())


def compare(before: str, now: str) -> None:
    """Print both means of each set and measure, and the paired difference."""
    table = pd.read_csv(RESULTS).set_index(PLACE)
    old, new = (table.loc[table["commit"] == name, MEASURES] for name in (before, now))
    change = (new - old).groupby("dataset")
    errors = change.std() / np.sqrt(change.count())
    for name in SETS:
        for measure in MEASURES:
            means = [t.loc[name, measure].mean() for t in (old, new)]
            d, e = change.mean().loc[name, measure], errors.loc[name, measure]
            print(f"{name:9} {measure:17} {means[0]:.4f} → {means[1]:.4f} ({d:+.4f} ± {e:.4f})")
    for measure in MEASURES:
        means = [t[measure].groupby("dataset").mean().mean() for t in (old, new)]
        error = np.sqrt((errors[measure] ** 2).sum()) / len(SETS)
        print(f"mean      {measure:17} {means[0]:.5f} → {means[1]:.5f} (± {error:.5f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="now")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "NOW"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.compare:
        compare(*options.compare)
    else:
        run(options.commit)


if __name__ == "__main__":
    main()
