"""Fit time of the default as rows grow, and beside BOOMER.

``python -m benchmarks.bench_growth [rows] [boomer] [--most 128000] [--folds 1]`` (both by default).
Seconds are those of a second fit in the same process: nothing is compiled in them. CPU seconds with
one thread (``OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1``) hold on a busy machine, wall seconds only on
a free one. BOOMER needs the data folder (``LABELCOVER_DATA``) and the ``bench`` extra.
"""

import argparse
import resource
import time

import numpy as np

from benchmarks.bench_quality import split_of
from benchmarks.quality_methods import METHODS, OURS
from labelcover import LabelCoverClassifier

LEAST_ROWS = 1_000
N_FEATURES, N_LABELS, N_HIDDEN = 50, 12, 30
# From so many rows on, seconds should not grow faster than rows to the power of 1.1.
STEADY_ROWS, MOST_EXPONENT = 4_000, 1.1
# Sets, and the share of BOOMER's seconds that ours should take in all of them together.
SHARES = [
    (("medical", "enron", "slashdot", "ohsumed"), 1.0),
    (("emotions", "scene", "yeast", "debtags"), 1 / 3),
]


def simulated(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels that depend on common non-linear functions of them."""
    random = np.random.default_rng(0)
    into_hidden = random.normal(size=(N_FEATURES, N_HIDDEN))
    into_labels = random.normal(size=(N_HIDDEN, N_LABELS)) / np.sqrt(N_HIDDEN)
    X = random.normal(size=(n, N_FEATURES))
    hidden = np.cos(X @ into_hidden / np.sqrt(N_FEATURES) + np.arange(N_HIDDEN))
    odds = 6 * (hidden - hidden.mean(axis=0)) @ into_labels - 1
    return X, (random.logistic(size=odds.shape) < odds).astype(np.uint8)


def seconds_of(fit) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    fit()
    return time.process_time() - cpu, time.perf_counter() - wall


def rows(options) -> None:
    """Fit the default on simulated rows, twice as many each time."""
    print("| rows | CPU s | wall s | exponent | peak GB |")
    print("|---|---|---|---|---|")
    model = LabelCoverClassifier(random_state=0)
    model.fit(*simulated(LEAST_ROWS))
    n, found = LEAST_ROWS, {}
    while n <= options.most:
        X, Y = simulated(n)
        cpu, wall = found[n] = seconds_of(lambda X=X, Y=Y: model.fit(X, Y))
        growth = f"{np.log2(cpu / found[n // 2][0]):.2f}" if n > LEAST_ROWS else ""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"| {n:,} | {cpu:.2f} | {wall:.2f} | {growth} | {peak:.2f} |", flush=True)
        n *= 2
    steady = [n for n in found if n >= STEADY_ROWS]
    if len(steady) > 1:
        logs = np.log([steady, [found[n][0] for n in steady]])
        exponent = np.polyfit(*logs, 1)[0]
        print(f"\nExponent from {STEADY_ROWS:,} rows on: {exponent:.2f} (at most {MOST_EXPONENT}).")


def boomer(options) -> None:
    """Fit the default and BOOMER on the training rows of the same folds."""
    if METHODS["BOOMER"].missing():
        print("BOOMER is left out: it is not installed.")
        return
    print("| data set | ours, CPU s | BOOMER, CPU s | ours / BOOMER | asked |")
    print("|---|---|---|---|---|")
    for names, share in SHARES:
        sums = np.zeros(2)
        for name in names:
            seconds = np.zeros(2)
            for fold in range(options.folds):
                X, Y, _, _ = split_of(name, fold)
                METHODS[OURS].fit(X[:60], Y[:60])
                for at, method in enumerate((OURS, "BOOMER")):
                    fit = METHODS[method].fit
                    seconds[at] += seconds_of(lambda fit=fit, X=X, Y=Y: fit(X, Y))[0]
            seconds /= options.folds
            sums += seconds
            ours, theirs = seconds
            print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} | |", flush=True)
        ratio = sums[0] / sums[1]
        print(
            f"| all four | {sums[0]:.2f} | {sums[1]:.2f} | {ratio:.2f} | {share:.2f} |", flush=True
        )


def main() -> None:
    parts = {"rows": rows, "boomer": boomer}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *parts], default=list(parts))
    parser.add_argument("--most", type=int, default=128_000)
    parser.add_argument("--folds", type=int, default=1, choices=(1, 2, 3))
    options = parser.parse_args()
    for name in options.parts:
        print(f"\n### {name}: {parts[name].__doc__}\n", flush=True)
        parts[name](options)


if __name__ == "__main__":
    main()
