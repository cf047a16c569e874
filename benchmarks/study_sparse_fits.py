"""CPU seconds of default fits on sparse tables, beside another commit, fits of both in turn.

``PYTHONPATH=src python -m benchmarks.study_sparse_fits OTHER/src`` compares the package on the path
with that of another checkout: the training rows of the first of three folds of each set, one thread
each, loops compiled. Every turn is a row of ``docs/results/sparse-fits.csv``; printed are the least
of each, as other programs only add time.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd

from benchmarks.bench_quality import ONE_THREAD
from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.experiments._folds import make_folds

SETS = ["medical", "enron", "slashdot", "ohsumed", "genbase"]
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "sparse-fits.csv"


def answer_turns() -> None:
    """Fit the sets that standard input names, and print the seconds of each fit."""
    tables = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in tables:
            data = load(name)
            train, _ = make_folds(data, n_folds=3)[0]
            tables[name] = data.X[train], data.Y[train]
            LabelCoverClassifier(n_jobs=1, random_state=0).fit(*tables[name])
        began = time.process_time()
        LabelCoverClassifier(n_jobs=1, random_state=0).fit(*tables[name])
        print(f"{time.process_time() - began:.5f}", flush=True)


def run(other: str, turns: int) -> None:
    """Ask both for one fit after another, and keep the seconds."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    one_thread = os.environ | dict.fromkeys(ONE_THREAD, "1")
    command = [sys.executable, "-m", __spec__.name, "--answer"]
    children = {
        name: subprocess.Popen(command, env=one_thread | {"PYTHONPATH": source}, **pipes)
        for name, source in (("before", other), ("now", os.environ["PYTHONPATH"]))
    }
    lines = []
    for turn in range(turns):
        for name in SETS:
            seconds = {}
            for version in sorted(children, reverse=turn % 2 == 1):
                children[version].stdin.write(f"{name}\n")
                children[version].stdin.flush()
                seconds[version] = float(children[version].stdout.readline())
            lines.append({"dataset": name, "turn": turn, **seconds})
    for child in children.values():
        child.communicate()
    table = pd.DataFrame(lines)
    table.to_csv(RESULTS, index=False)
    least = table.groupby("dataset", sort=False)[["before", "now"]].min()
    least["now / before"] = least["now"] / least["before"]
    print(least.round(3).to_string(), f"\nmean {least['now / before'].mean():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", nargs="?", help="the src folder of another checkout")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.answer:
        answer_turns()
    else:
        run(options.other, options.turns)


if __name__ == "__main__":
    main()
