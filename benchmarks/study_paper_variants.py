"""What the paper does not say: SMO's probabilities, and the measure that thresholds are tuned for.

``python -m benchmarks.study_paper_variants [data set k folds]`` prints the figures of "Two things
the paper does not say" in docs/reproduction.md: micro-F1 and Hamming loss of RAKEL, RAKEL++ and
DD-BALANCOR with the paper's sizes, on the first folds. SMO with logistic models, which takes long,
has two folds. Needs the data folder (``LABELCOVER_DATA``).
"""

import sys
import warnings

import numpy as np
from sklearn.base import clone

from labelcover.datasets import Dataset, load
from labelcover.experiments._folds import Fold, make_folds
from labelcover.experiments._paper.joint_fits import fit_together
from labelcover.experiments._paper.paper_fits import table_settings
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.metrics import hamming_loss, micro_f1
from labelcover.models import with_nominal_features

PLAN = [("emotions", 3, 10), ("emotions", 4, 10), ("scene", 3, 3), ("scene", 4, 3)]
MEMBERS = {
    "SMO": SMOClassifier(),
    "SMO, logistic": SMOClassifier(logistic=True),
    "J48": C45Classifier(),
}
LOGISTIC_FOLDS = 2
METHODS = ("RAKEL", "RAKEL++", "DD-BALANCOR")


def models_of(data: Dataset, k: int, learner) -> dict:
    """Return the methods by name; those that tune a threshold once for each measure."""
    models = {}
    for setting in table_settings("table7", data.name):
        if setting.k != k or setting.method not in METHODS:
            continue
        made = setting.make(data).set_params(random_state=0, estimator=clone(learner))
        made = with_nominal_features(made, data)
        if setting.method == "RAKEL":
            models["RAKEL"] = made
            continue
        for measure in ("micro_f1", "hamming_loss"):
            tuned = clone(made).set_params(threshold_measure=measure)
            models[f"{setting.method} for {measure}"] = tuned
    return models


def fold_scores(models: dict, data: Dataset, fold: Fold) -> list[tuple[float, float]]:
    """Return micro-F1 and Hamming loss of each method on a fold."""
    X, Y = data.X, data.Y
    answers = fit_together(list(models.values()), X[fold.train], Y[fold.train], X[fold.test])
    truth = Y[fold.test]
    return [(micro_f1(truth, a.predicted), hamming_loss(truth, a.predicted)) for a in answers]


def main() -> None:
    words = sys.argv[1:]
    plan = [(words[0], int(words[1]), int(words[2]))] if words else PLAN
    warnings.simplefilter("ignore")
    print("| data set | k | members | folds | method | micro-F1 | Hamming loss |")
    print("|---|---|---|---|---|---|---|")
    for name, k, most in plan:
        data = load(name)
        for member, learner in MEMBERS.items():
            n = min(most, LOGISTIC_FOLDS) if "logistic" in member else most
            models = models_of(data, k, learner)
            scores = np.mean([fold_scores(models, data, f) for f in make_folds(data)[:n]], axis=0)
            for method, (f1, loss) in zip(models, scores, strict=True):
                print(
                    f"| {name} | {k} | {member} | {n} | {method} | {f1:.4f} | {loss:.4f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
