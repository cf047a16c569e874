"""RAKEL and RAKEL++ on SMO with a logistic model for every pair of classes (WEKA's option -M).

``python -m benchmarks.study_paper_variants`` prints the figures of "With logistic models" in
docs/reproduction.md: micro-F1 and Hamming loss with the paper's sizes on the first two of ten
folds. Needs the data folder (``LABELCOVER_DATA``).
"""

import warnings

import numpy as np

from labelcover.datasets import load
from labelcover.experiments._folds import make_folds
from labelcover.experiments._paper.joint_fits import fit_together
from labelcover.experiments._paper.paper_fits import SEED, table_setting
from labelcover.learners import SMOClassifier
from labelcover.metrics import hamming_loss, micro_f1

PLAN = [("emotions", 3), ("emotions", 4), ("scene", 3), ("scene", 4)]
METHODS = ("RAKEL", "RAKEL++")
N_FOLDS = 2


def main() -> None:
    warnings.simplefilter("ignore")
    print("| data set | k | method | micro-F1 | Hamming loss |")
    print("|---|---|---|---|---|")
    for name, k in PLAN:
        data = load(name)
        made = [table_setting(method, "smo", k, "mean").make(data) for method in METHODS]
        own = {"estimator": SMOClassifier(logistic=True), "random_state": SEED}
        models = [model.set_params(**own) for model in made]
        scores = []
        for train, test in make_folds(data)[:N_FOLDS]:
            answers = fit_together(models, data.X[train], data.Y[train], data.X[test])
            said = [each.predicted for each in answers]
            scores.append(
                [(micro_f1(data.Y[test], p), hamming_loss(data.Y[test], p)) for p in said]
            )
        for method, (f1, loss) in zip(METHODS, np.mean(scores, axis=0), strict=True):
            print(f"| {name} | {k} | {method} | {f1:.4f} | {loss:.4f} |", flush=True)


if __name__ == "__main__":
    main()
