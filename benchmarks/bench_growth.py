"""Fit time of the default as rows, features, labels, k or σ grow, and beside BOOMER.

``python -m benchmarks.bench_growth [rows] [features] [labels] [k] [sigma] [boomer] [--most 128000]
[--turns 5]`` (all by default). Curves go to ``docs/results/growth.csv`` and, as a picture, to
``docs/results/growth.png``.
Seconds are medians of fits after the first in the same process: nothing is compiled in them. CPU
seconds with one thread (``OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1``) hold on a busy machine, wall
seconds only on a free one. BOOMER needs the data folder (``LABELCOVER_DATA``) and the ``boomer``
extra.
"""

import argparse
import resource
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.bench_quality import split_of
from benchmarks.quality_methods import METHODS
from labelcover import LabelCoverClassifier
from labelcover._files import replacing

N_HIDDEN = 30
# What stays as it is while something else grows.
USUAL = {"rows": 2_000, "features": 50, "labels": 12, "k": 3, "sigma": None}
GROWTH = {
    "rows": [1_000 * 2**i for i in range(8)],
    "features": [10 * 2**i for i in range(8)],
    "labels": [6 * 2**i for i in range(6)],
    "k": [2, 3, 4, 5, 6, 7],
    "sigma": [20 * 2**i for i in range(8)],
}
# σ and k are those of a cover of more labels, whose labelsets are drawn at random if σ is given.
OTHERWISE = {"k": {"labels": 24}, "sigma": {"labels": 40}}
# Fits of a size are repeated until they have taken so many seconds.
LONG = 10
# From where on seconds should not grow faster than to the power of 1.1.
STEADY, MOST_EXPONENT = {"rows": 1_000, "sigma": 20}, 1.1
RESULTS = Path(__file__).parents[1] / "docs" / "results"
# Sets, and the share of BOOMER's seconds that ours should take in all of them together.
SHARES = [
    (("medical", "enron", "slashdot", "ohsumed"), 1.0),
    (("emotions", "scene", "yeast", "debtags"), 1 / 3),
]


def simulated(rows: int, features: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and labels that depend on common non-linear functions of them."""
    random = np.random.default_rng(0)
    into_hidden = random.normal(size=(features, N_HIDDEN))
    into_labels = random.normal(size=(N_HIDDEN, labels)) / np.sqrt(N_HIDDEN)
    X = random.normal(size=(rows, features))
    hidden = np.cos(X @ into_hidden / np.sqrt(features) + np.arange(N_HIDDEN))
    odds = 6 * (hidden - hidden.mean(axis=0)) @ into_labels - 1
    return X, (random.logistic(size=odds.shape) < odds).astype(np.uint8)


def seconds_of(fit) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    fit()
    return time.process_time() - cpu, time.perf_counter() - wall


def usual_seconds(fit, n_turns: int) -> tuple[float, float]:
    """Return the medians of fits after the first, which may compile; of one if it takes long."""
    measured = [seconds_of(fit)]
    while len(measured) <= n_turns and sum(wall for _, wall in measured) < LONG:
        measured.append(seconds_of(fit))
    cpu, wall = np.median(measured[1:] or measured, axis=0)
    return float(cpu), float(wall)


def growth(what: str, options) -> None:
    """Fit the default on simulated data of which one size grows."""
    print(f"| {what} | CPU s | wall s | exponent | peak GB |")
    print("|---|---|---|---|---|")
    sizes = [size for size in GROWTH[what] if what != "rows" or size <= options.most]
    lines = []
    for size in sizes:
        shape = {**USUAL, **OTHERWISE.get(what, {}), what: size}
        model = LabelCoverClassifier(
            cover="auto" if shape["sigma"] is None else "random",
            k=shape["k"],
            size=shape["sigma"],
            random_state=0,
        )
        X, Y = simulated(shape["rows"], shape["features"], shape["labels"])
        cpu, wall = usual_seconds(partial(model.fit, X, Y), options.turns)
        since = (np.log(cpu / lines[-1]["cpu"]) / np.log(size / lines[-1]["size"])) if lines else 0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append({"what": what, "size": size, "cpu": cpu, "wall": wall, "peak_gb": peak})
        shown = f"{since:.2f}" if len(lines) > 1 else ""
        print(f"| {size:,} | {cpu:.2f} | {wall:.2f} | {shown} | {peak:.2f} |", flush=True)
    frame = pd.DataFrame(lines)
    steady = frame[frame["size"] >= STEADY.get(what, 0)]
    exponent = np.polyfit(np.log(steady["size"]), np.log(steady["cpu"]), 1)[0]
    asked = f" (at most {MOST_EXPONENT})" if what in STEADY else ""
    print(f"\nExponent from {steady['size'].min():,} on: {exponent:.2f}{asked}.")
    keep(frame)


def keep(frame: pd.DataFrame) -> None:
    """Put a curve among those measured before, and draw all of them."""
    file = RESULTS / "growth.csv"
    if file.exists():
        before = pd.read_csv(file)
        frame = pd.concat([before[~before["what"].isin(frame["what"])], frame])
    with replacing(file) as temporary:
        frame.round(3).to_csv(temporary, index=False)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = [what for what in GROWTH if what in set(frame["what"])]
    figure, axes = pyplot.subplots(
        1, len(drawn), figsize=(2.4 * len(drawn), 3), squeeze=False, sharey=True
    )
    for axis, what in zip(axes[0], drawn, strict=True):
        curve = frame[frame["what"] == what]
        axis.loglog(curve["size"], curve["cpu"], "o-")
        axis.set(xlabel="σ" if what == "sigma" else what)
        if what == "k":
            axis.set_xticks(GROWTH["k"], GROWTH["k"])
            axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("CPU seconds of a fit")
    figure.tight_layout()
    with replacing(RESULTS / "growth.png") as temporary:
        figure.savefig(temporary, dpi=110, format="png")


def boomer(options) -> None:
    """Fit the default and BOOMER in turn on the training rows of a fold; medians of the turns."""
    if METHODS["BOOMER"].missing():
        print("BOOMER is left out: it is not installed.")
        return
    fits = [LabelCoverClassifier(random_state=0).fit, METHODS["BOOMER"].fit]
    print(
        "| data set | ours, CPU s | BOOMER, CPU s | ratio | ours, wall s | BOOMER, wall s | ratio |"
    )
    print("|---|---|---|---|---|---|---|")

    def show(name: str, seconds: np.ndarray) -> None:
        cells = []
        for ours, theirs in seconds.transpose(2, 1, 0):  # CPU, then wall
            ratios = ours / theirs
            cells += [f"{np.median(ours):.2f}", f"{np.median(theirs):.2f}"]
            cells += [f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)

    for names, share in SHARES:
        sums = np.zeros((options.turns, 2, 2))
        for name in names:
            X, Y, _, _ = split_of(name, 0)
            for fit in fits:  # compile, and have the memory at hand
                fit(X, Y)
            seconds = np.array(
                [[seconds_of(partial(fit, X, Y)) for fit in fits] for _ in range(options.turns)]
            )
            sums += seconds
            show(name, seconds)
        show(f"all four (asked: at most {share:.2f})", sums)


def main() -> None:
    parts = {**{what: partial(growth, what) for what in GROWTH}, "boomer": boomer}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *parts], default=list(parts))
    parser.add_argument("--most", type=int, default=128_000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    for name in options.parts:
        print(f"\n### {name}\n", flush=True)
        parts[name](options)


if __name__ == "__main__":
    main()
