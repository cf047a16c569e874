"""Predictions of the default beside those of its peers: the numbers of docs/quality.md.

``python -m benchmarks.bench_quality [--folds 3] [--sets a,b] [--methods a,b] [--again]``. Scores
are appended to ``docs/results/quality.csv`` as they come, so the same command resumes an
interrupted run, and the tables of the page are written anew. ``--again`` measures what is named
although it has been measured. Needs the data folder (``LABELCOVER_DATA``) and the extras ``bench``
and ``boomer``; a peer that is not installed is named and left out.
"""

import argparse
import csv
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.quality_methods import METHODS, Predicted
from benchmarks.quality_page import UNFINISHED, write_page
from benchmarks.quality_scores import scores_of
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.experiments._folds import make_folds

# The largest set last, so that an interrupted run has all the others.
SETS = [
    "emotions", "scene", "yeast", "genbase", "medical", "enron", "slashdot", "debtags", "ohsumed",
]  # fmt: skip
DOCS = Path(__file__).parents[1] / "docs"
COLUMNS = ["dataset", "fold", "method", "measure", "value"]
ONE_THREAD = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]


def split_of(name: str, fold: int):
    data = load(name)
    train, test = make_folds(data, n_folds=3)[fold]
    return data.X[train], data.Y[train], data.X[test], data.Y[test]


def measure(name: str, fold: int, method_name: str, results: Path) -> None:
    """Fit, predict and append the scores. Runs in a process of its own, which may be stopped."""
    method = METHODS[method_name]
    X_train, Y_train, X, Y = split_of(name, fold)
    if method.compiles:
        method.fit(X_train[:60], Y_train[:60])(X[:60])
    began = time.process_time()
    # One thread each: CPU seconds are the seconds on a free machine, whatever else is running.
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + method.limit, resource.RLIM_INFINITY))
    predict = method.fit(X_train, Y_train)
    fitted = time.process_time()
    predicted: Predicted = predict(X)
    done = time.process_time()
    scores = scores_of(Y_train, Y, predicted)
    scores |= {"fit_seconds": fitted - began, "predict_seconds": done - fitted}
    append(results, [(name, fold, method_name, score, f"{scores[score]:.6g}") for score in scores])


def append(results: Path, rows: list[tuple]) -> None:
    """Add rows in one write, so that an interruption leaves all of them or none."""
    with results.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def measured(results: Path) -> list[list[str]]:
    with results.open(newline="") as file:
        return list(csv.reader(file))[1:]


def forget(results: Path, jobs: list[tuple[str, int, str]]) -> None:
    """Remove what has been measured of these jobs."""
    gone = {(name, str(fold), method) for name, fold, method in jobs}
    kept = [row for row in measured(results) if tuple(row[:3]) not in gone]
    with replacing(results) as temporary:
        append(temporary, [tuple(COLUMNS), *map(tuple, kept)])


def run(jobs: list[tuple[str, int, str]], results: Path) -> int:
    """Measure what has not been measured; return the number of jobs that failed.

    A method that was stopped on a set gets no rank there, so its other folds are not tried.
    """
    known = measured(results)
    done = {tuple(row[:3]) for row in known}
    stopped = {(row[0], row[2]) for row in known if row[3] == UNFINISHED}
    # Not a fork: a new process reads the number of threads from its environment.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    context = multiprocessing.get_context("spawn")
    failed = 0
    for name, fold, method in jobs:
        if (name, str(fold), method) in done or (name, method) in stopped:
            continue
        process = context.Process(target=measure, args=(name, fold, method, results))
        process.start()
        process.join()
        if process.exitcode == -signal.SIGXCPU:
            append(results, [(name, fold, method, UNFINISHED, METHODS[method].limit)])
            stopped.add((name, method))
        failed += process.exitcode not in (0, -signal.SIGXCPU)
        outcome = {0: "measured", -signal.SIGXCPU: "stopped"}.get(process.exitcode, "FAILED")
        print(f"{name}, fold {fold}, {method}: {outcome}", flush=True)
    return failed


def available(names: list[str]) -> list[str]:
    """Return the methods that can run, and name the others."""
    missing = [name for name in names if METHODS[name].missing()]
    for name in missing:
        print(f"{name} is left out: module {METHODS[name].needs!r} is not installed.")
    return [name for name in names if name not in missing]


def names_in(known) -> Callable[[str], list[str]]:
    """Return the reader of a list of known names, for argparse."""

    def parse(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(known)}")
        return names

    return parse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3, choices=(1, 2, 3))
    parser.add_argument("--sets", type=names_in(SETS), default=SETS)
    parser.add_argument("--methods", type=names_in(METHODS), default=list(METHODS))
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    results = DOCS / "results" / "quality.csv"
    results.parent.mkdir(exist_ok=True)
    if not results.exists():
        append(results, [tuple(COLUMNS)])
    methods = available(options.methods)
    jobs = [(s, f, m) for f in range(options.folds) for s in options.sets for m in methods]
    if options.again:
        forget(results, jobs)
    failed = run(jobs, results)
    write_page(results, DOCS / "quality.md", SETS)
    return failed


if __name__ == "__main__":
    sys.exit(main())
