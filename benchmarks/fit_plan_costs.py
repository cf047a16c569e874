"""Measure fits of the default, and fit the costs that ``labelcover plan`` computes with.

``python -m benchmarks.fit_plan_costs measure`` fits the default on simulated tables and on known
sets and writes ``docs/results/plan-costs.csv``. ``python -m benchmarks.fit_plan_costs fit`` fits
the coefficients on all of them, writes ``src/labelcover/experiments/plan_costs.json``, and prints
what is planned for every known set by coefficients that were fitted without it. One thread, CPU
seconds; the greatest memory is that of the fit (Linux). Known sets need the data folder
(``LABELCOVER_DATA``).
"""

import csv
import json
import multiprocessing
import sys
import time
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

from benchmarks.simulated_labels import simulate
from labelcover import LabelCoverClassifier
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.ensemble import ManyLabelPool, Pool
from labelcover.experiments.planning import KINDS, Plan, memory_terms, sizes, time_terms
from labelcover.learners import LogisticClassifier

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results" / "plan-costs.csv"
COSTS = ROOT / "src" / "labelcover" / "experiments" / "plan_costs.json"
NAMES = [field.name for field in fields(Plan)]
N_HIDDEN = 8
# Rows, features and labels of simulated tables of numbers, and of text.
NUMBERS = [
    (400, 30, 6), (1_000, 60, 10), (2_000, 20, 15), (3_000, 100, 8), (1_500, 300, 20),
    (800, 500, 40), (5_000, 50, 12), (2_000, 100, 60), (1_000, 100, 120), (600, 200, 25),
    (2_500, 100, 14), (2_400, 300, 6), (4_000, 100, 110),
]  # fmt: skip
TEXT = [
    (1_000, 2_000, 30), (2_500, 3_000, 60), (700, 1_000, 100), (4_000, 1_000, 20), (3_000, 500, 50),
    (10_000, 1_000, 25),
]  # fmt: skip
# The same with a third of the words and of the labels of a row.
SHORT_TEXT = [(1_200, 1_500, 40), (2_500, 500, 25), (6_000, 1_000, 20)]
# And held in dense arrays, as small tables often are.
SHORT_TEXT_IN_ARRAYS = [(800, 400, 40), (1_800, 200, 15), (3_000, 400, 30)]
WIDE_TEXT = [(4_500, 5_000, 15), (5_000, 8_000, 40), (7_000, 6_000, 20)]
MANY = [(2_000, 20_000, 2_000), (5_000, 50_000, 3_000), (4_000, 20_000, 12_000)]
KNOWN = [
    "emotions", "yeast", "debtags", "scene", "genbase", "medical", "slashdot", "enron", "ohsumed",
    "mediamill-subset",
]  # fmt: skip


def tables():
    """Yield a name, an estimator and a table, one after another."""
    for n, d, m in NUMBERS:
        # Columns that depend on each other and labels that bend, as in most real tables: a Gaussian
        # kernel is chosen, which takes longer than a linear one.
        random = np.random.default_rng(n)
        hidden = random.normal(size=(n, N_HIDDEN))
        X = hidden @ random.normal(size=(N_HIDDEN, d)) + random.normal(size=(n, d))
        odds = 3 * (np.abs(hidden) - 0.8) @ random.normal(size=(N_HIDDEN, m)) - 2
        yield f"numbers {n}×{d}×{m}", {}, X, (random.logistic(size=odds.shape) < odds).astype(int)
    for n, d, m in [*TEXT, *WIDE_TEXT]:
        data = simulate(n, m, d)
        yield f"text {n}×{d}×{m}", {}, data.X, data.Y.toarray()
    for n, d, m in SHORT_TEXT:
        data = simulate(n, m, d)
        yield f"short text {n}×{d}×{m}", {}, third(data.X), third(data.Y).toarray()
    for n, d, m in SHORT_TEXT_IN_ARRAYS:
        data = simulate(n, m, d)
        X, Y = third(data.X).toarray(), third(data.Y).toarray()
        yield f"short text in an array {n}×{d}×{m}", {}, X, Y
    for n, d, m in MANY:
        data = simulate(n, m, d)
        yield f"many labels {n}×{d}×{m}", {"estimator": ManyLabelPool()}, data.X, data.Y
    for name in KNOWN:
        data = load(name)
        X = data.X if sparse.issparse(data.X) else np.asarray(data.X)
        yield name, {}, X, data.Y


def third(table):
    """Return a random third of the cells of a sparse table that are not 0."""
    rows, columns = table.nonzero()
    kept = np.random.default_rng(0).random(len(rows)) < 1 / 3
    cells = np.asarray(table[rows[kept], columns[kept]]).ravel()
    return sparse.csr_array((cells, (rows[kept], columns[kept])), shape=table.shape)


def warm_up() -> None:
    """Load the compiled loops of all kinds, which are no part of a fit."""
    data = simulate(300, 20, 400)
    for estimator in ("auto", Pool(logistic=LogisticClassifier(n_folds=3)), ManyLabelPool()):
        LabelCoverClassifier(estimator, random_state=0).fit(data.X, data.Y.toarray())
    LabelCoverClassifier(random_state=0).fit(data.X.toarray() + 1.0, data.Y.toarray())


def measure_one(table, queue) -> None:
    """Fit a table; runs in a process of its own, so that no other fit's memory counts."""
    name, options, X, Y = table
    estimator = LabelCoverClassifier(**options, random_state=0)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the greatest memory so far
    began = time.process_time()
    estimator.fit(X, Y)
    seconds = time.process_time() - began
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
    plan = sizes(LabelCoverClassifier(**options), X, Y)
    queue.put([name, *astuple(plan)[:-2], f"{seconds:.3f}", f"{peak / 2**20:.3f}"])


def measure() -> None:
    """Fit every table that is not in the results yet."""
    known = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            known = list(csv.reader(file))[1:]
    warm_up()
    fork = multiprocessing.get_context("fork")
    for table in tables():
        if table[0] in [row[0] for row in known]:
            continue
        queue = fork.Queue()
        process = fork.Process(target=measure_one, args=(table, queue))
        process.start()
        known.append(queue.get())
        process.join()
        print(*known[-1], flush=True)
        with replacing(RESULTS) as temporary, temporary.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["table", *NAMES], *known])


def read() -> list[tuple[str, Plan]]:
    with RESULTS.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    found = []
    for name, kind, *numbers in rows:
        counts = [int(number) for number in numbers[:-2]]
        found.append((name, Plan(kind, *counts, *map(float, numbers[-2:]))))
    return found


def fitted(plans: list[Plan], terms, name: str) -> dict[str, float]:
    """Return coefficients of at least 0 with the least relative squared errors."""
    every = [terms(plan) for plan in plans]
    names = list(every[0])
    truth = np.array([getattr(plan, name) for plan in plans])
    table = np.array([[one[term] for term in names] for one in every]) / truth[:, None]
    table = table[:, used := table.any(axis=0)]
    names = [name for name, is_used in zip(names, used, strict=True) if is_used]
    scale = table.max(axis=0)
    found = nnls(table / scale, np.ones(len(plans)))[0] / scale
    return {term: float(f"{c:.4g}") for term, c in zip(names, found, strict=True) if c > 0}


def fitted_costs(plans: list[Plan]) -> dict[str, dict[str, float]]:
    """Return the coefficients of plans of one kind."""
    return {
        "seconds": fitted(plans, time_terms, "seconds"),
        "memory_gb": fitted(plans, memory_terms, "memory_gb"),
    }


def planned(plan: Plan, costs: dict[str, dict[str, float]]) -> tuple[float, float]:
    """Return seconds and memory by some coefficients."""
    return tuple(
        sum(costs[what].get(term, 0) * value for term, value in terms(plan).items())
        for what, terms in (("seconds", time_terms), ("memory_gb", memory_terms))
    )


def fit() -> None:
    """Write the coefficients, and print what is planned beside what was measured."""
    measured = read()
    costs = {kind: fitted_costs([p for _, p in measured if p.kind == kind]) for kind in KINDS}
    with replacing(COSTS) as temporary:
        temporary.write_text(
            json.dumps(costs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    print("| table | seconds | planned | memory, GB | planned |\n|---|---|---|---|---|")
    for name, plan in measured:
        own = costs[plan.kind]
        if name in KNOWN:
            own = fitted_costs(
                [p for other, p in measured if p.kind == plan.kind and other != name]
            )
        seconds, memory = planned(plan, own)
        shown = f"{plan.seconds:.1f} | {seconds:.1f} | {plan.memory_gb:.2f} | {memory:.2f}"
        print(f"| {name}{' (left out)' if name in KNOWN else ''} | {shown} |")


if __name__ == "__main__":
    {"measure": measure, "fit": fit}[sys.argv[1]]()
