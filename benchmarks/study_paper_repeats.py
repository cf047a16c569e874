"""Ten folds of Table 7 again with other folds and labelsets, to see which differences are chance.

``python -m benchmarks.study_paper_repeats`` runs the six methods with SMO on other ten folds and
with other random labelsets, and writes ``docs/results/paper-repeats.csv``, a line for each method
and fold; what is in it is not run again. ``python tools/make_reproduction_tables.py`` writes the
table of docs/reproduction.md from it. Needs the data folder (``LABELCOVER_DATA``).
"""

import argparse
import csv
from pathlib import Path

from labelcover.datasets import load
from labelcover.experiments._folds import make_folds
from labelcover.experiments._paper.joint_fits import fit_together
from labelcover.experiments._paper.paper_fits import table_setting
from labelcover.experiments._paper.printed import METHODS
from labelcover.metrics import hamming_loss, micro_f1

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "paper-repeats.csv"
COLUMNS = ["dataset", "method", "folds", "fold", "seed", "error", "micro_f1", "hamming_loss"]
# Seed 0 is that of the table.
SEEDS, N_FOLDS = (1, 2), 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="medical")
    parser.add_argument("-k", type=int, default=3)
    options = parser.parse_args()
    if not RESULTS.exists():
        _append([COLUMNS])
    with RESULTS.open(encoding="utf-8", newline="") as file:
        done = {(line["dataset"], line["seed"], line["fold"]) for line in csv.DictReader(file)}
    data = load(options.dataset)
    settings = [table_setting(method, "smo", options.k) for method in METHODS]
    made = [setting.make(data) for setting in settings]
    for seed in SEEDS:
        models = [model.set_params(random_state=seed) for model in made]
        folds = make_folds(data, n_folds=N_FOLDS, random_state=seed)
        for number, (train, test) in enumerate(folds):
            if (data.name, str(seed), str(number)) in done:
                continue
            answers = fit_together(models, data.X[train], data.Y[train], data.X[test])
            where = f"kfold-{N_FOLDS}", number, seed, ""
            _append(
                [
                    [data.name, setting.name, *where, *_scores(data.Y[test], answer.predicted)]
                    for setting, answer in zip(settings, answers, strict=True)
                ]
            )
            print(f"{data.name}, seed {seed}, fold {number + 1} of {N_FOLDS}", flush=True)


def _scores(truth, predicted) -> list[str]:
    return [f"{measure(truth, predicted):.8g}" for measure in (micro_f1, hamming_loss)]


def _append(rows: list[list]) -> None:
    """Add rows in one write, so that an interruption leaves all of them or none."""
    with RESULTS.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
