"""Fit, a batch, one row and memory of the default beside the libraries people use today.

``python -m benchmarks.bench_speed [SET …] [--repeats 3] [--results docs/results/speed.csv]``. Every
fit runs in a process of its own, with one thread and its loops compiled; methods take turns, so
that a slow moment of the machine meets all of them. Seconds are CPU seconds. Peers that are not
installed are left out and named. Sets that were measured before stay in the results, and a picture
of all is drawn beside them. ``--show`` measures nothing and prints the tables again.
"""

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from labelcover._files import replacing
from labelcover.datasets import load

SETS = ["emotions", "yeast", "scene", "medical", "enron"]
OURS = "labelcover"
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "speed.csv"


def ours(X):
    from labelcover import LabelCoverClassifier

    return LabelCoverClassifier(n_jobs=1, random_state=0)


def scaled_logistic(X):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    return make_pipeline(scaler, LogisticRegression(max_iter=300))


def one_vs_rest(X):
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(scaled_logistic(X))


def ten_chains(X):
    from sklearn.multioutput import ClassifierChain

    class TenChains:
        """The mean of ten chains in random orders, as scikit-learn's examples have it."""

        def fit(self, X, Y):
            chains = [
                ClassifierChain(scaled_logistic(X), order="random", random_state=seed)
                for seed in range(10)
            ]
            self.chains = [chain.fit(X, Y) for chain in chains]
            return self

        def predict(self, X):
            return np.mean([chain.predict_proba(X) for chain in self.chains], axis=0) > 0.5

    return TenChains()


def random_forest(X):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, n_jobs=1, random_state=0)


def boomer(X):
    from mlrl.boosting import BoomerClassifier

    return BoomerClassifier(random_state=1)


def rakel(X):
    from skmultilearn.ensemble import RakelO

    class Rakel:
        """RakelO gives back another object from ``fit``, which predicts."""

        def fit(self, X, Y):
            m = Y.shape[1]
            model = RakelO(
                scaled_logistic(X),
                labelset_size=min(3, m),
                model_count=2 * m,
                base_classifier_require_dense=[not sparse.issparse(X), True],
            )
            self.voting = model.fit(X, Y.astype(int))
            return self

        def predict(self, X):
            return self.voting.predict(X)

    return Rakel()


#: How each method is made, and the module it needs.
METHODS = {
    OURS: (ours, "labelcover"),
    "logistic one-vs-rest": (one_vs_rest, "sklearn"),
    "ten chains": (ten_chains, "sklearn"),
    "random forest": (random_forest, "sklearn"),
    "BOOMER": (boomer, "mlrl"),
    "RakelO": (rakel, "skmultilearn"),
}


def split(name: str):
    """Return two thirds of the rows to fit on, their labels but constant ones, and the rest."""
    data = load(name)
    rows = np.random.default_rng(0).permutation(len(data.Y))
    train, new = np.split(rows, [2 * len(rows) // 3])
    labels = data.Y[train].any(axis=0) & ~data.Y[train].all(axis=0)
    # Single precision is what BOOMER takes; not every peer knows SciPy's arrays.
    X = data.X.astype(np.float32)
    X = sparse.csr_matrix(X) if sparse.issparse(X) else X
    return X[train], data.Y[train][:, labels], X[new]


def times(method: str, name: str) -> dict[str, float]:
    """Return the CPU seconds of a fit and a batch, and the milliseconds of one row."""
    X, Y, new = split(name)
    make = METHODS[method][0]
    if method == OURS:  # loops are loaded or compiled at first use
        make(X).fit(X, Y).predict(new[:1])
    began = time.process_time()
    model = make(X).fit(X, Y)
    fit = time.process_time() - began
    began = time.process_time()
    model.predict(new)
    batch = time.process_time() - began
    if sparse.issparse(new):  # BOOMER cannot read a single row without words
        new = new[np.flatnonzero(np.diff(new.indptr))]
    calls: list[float] = []
    while len(calls) < 5 or (len(calls) < 200 and sum(calls) < 2):
        at = len(calls) % new.shape[0]
        row = new[at : at + 1]
        began = time.process_time()
        model.predict(row)
        calls.append(time.process_time() - began)
    return {"fit": fit, "batch": batch, "one_row": 1000 * float(np.median(calls))}


def memory(method: str, name: str) -> dict[str, float]:
    """Return by how many MB a fit and a batch raise the peak of a process that has read the data.

    What a library imports or loads when it is first used counts as its own.
    """
    X, Y, new = split(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    METHODS[method][0](X).fit(X, Y).predict(new)
    return {"memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def in_own_process(what: str, method: str, name: str) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--child", what, method, name]
    one_thread = dict.fromkeys(
        ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"], "1"
    )
    done = subprocess.run(
        command, env={**os.environ, **one_thread}, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def run(sets: list[str], repeats: int, results: Path) -> None:
    """Measure all methods in turn, and write the results as they come."""
    methods = []
    for method, (_, module) in METHODS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{method} is left out: {module} is not installed.")
        else:
            methods.append(method)
    before = pd.read_csv(results) if results.exists() else pd.DataFrame({"dataset": []})
    for name in sets:
        lines = []
        for repeat in range(repeats):
            for method in methods:
                found = in_own_process("times", method, name)
                if repeat == 0:
                    found |= in_own_process("memory", method, name)
                lines.append({"dataset": name, "method": method, "repeat": repeat, **found})
        before = pd.concat([before[before.dataset != name], pd.DataFrame(lines)])
        with replacing(results) as temporary:
            before.round(5).to_csv(temporary, index=False)
        show(before[before.dataset == name])
    draw(before, results.with_suffix(".png"))


def show(frame: pd.DataFrame) -> None:
    """Print a table for each data set."""
    for name, of_set in frame.groupby("dataset", sort=False):
        print(f"\n### {name}\n\n{table(of_set)}", flush=True)


def table(frame: pd.DataFrame) -> str:
    """Return the medians of a data set, and how many times ours they are, with the spread."""
    text = ["| | fit s | × ours | batch s | × ours | one row ms | × ours | memory MB |"]
    text.append("|---" * 8 + "|")
    base = frame[frame.method == OURS].set_index("repeat")
    for method, of_method in frame.groupby("method", sort=False):
        cells = [str(method)]
        for what in ("fit", "batch", "one_row"):
            values = of_method.set_index("repeat")[what]
            ratio = values / base[what]
            cells.append(f"{values.median():.3g}")
            cells.append(f"{ratio.median():.2g} ({ratio.min():.2g} to {ratio.max():.2g})")
        cells.append(f"{of_method.memory.max():.0f}")
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def draw(frame: pd.DataFrame, file: Path) -> None:
    """Draw how many times ours every method takes, with the spread over the repetitions."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    parts = {"fit": "fit", "batch": "a batch", "one_row": "one row"}
    figure, axes = pyplot.subplots(1, len(parts), figsize=(10, 3.2), sharey=True)
    sets = list(frame.dataset.unique())
    for axis, (what, title) in zip(axes, parts.items(), strict=True):
        times = frame.pivot_table(index=["dataset", "repeat"], columns="method", values=what)
        ratios = times.div(times[OURS], axis=0).drop(columns=OURS).groupby("dataset", sort=False)
        middle, low, high = (getattr(ratios, how)().loc[sets] for how in ("median", "min", "max"))
        for number, method in enumerate(m for m in METHODS if m in middle):
            at = np.arange(len(sets)) + (number - 2) / 8
            spread = [middle[method] - low[method], high[method] - middle[method]]
            axis.errorbar(at, middle[method], yerr=spread, fmt="o", ms=4, label=method)
        axis.axhline(1, color="grey", lw=1)
        axis.set_xticks(range(len(sets)), sets, rotation=30)
        axis.set(yscale="log", title=f"{title}, × labelcover")
        axis.grid(axis="y", alpha=0.3)
    axes[-1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    with replacing(file) as temporary:
        figure.savefig(temporary, dpi=110, format="png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, method, name = options.child
        print(json.dumps({"times": times, "memory": memory}[what](method, name)))
    elif options.show:
        show(pd.read_csv(options.results))
    else:
        run(options.sets, options.repeats, options.results)


if __name__ == "__main__":
    main()
