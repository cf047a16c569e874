"""Ensembles of chains with J48 score as MULAN's did; chains beat binary relevance on debtags."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import RepeatedKFold
from sklearn.svm import LinearSVC

from labelcover import RakelClassifier
from labelcover.datasets import load
from labelcover.learners import C45Classifier
from labelcover.methods import BinaryRelevanceClassifier, EnsembleOfChainsClassifier
from labelcover.metrics import micro_f1, subset_accuracy

# MULAN's ECC has ten chains in random orders on bootstrap samples; its random draws are its own.
TOLERANCE = 0.02
SEEDS = range(5)
# MULAN's names: ECC takes the mean of confidences, ECCV votes.
AGGREGATES = {"ECC": "mean", "ECCV": "votes"}


def in_arff_order(data, folder):
    """Return a data set with its labels in the order of the ARFF file, as MULAN saw them."""
    text = (folder / data.name / f"{data.name}.arff").read_text(encoding="utf-8")
    names = re.findall(r"(?im)^@attribute\s+['\"]?([^\s'\"]+)", text)
    order = sorted(range(len(data.label_names)), key=lambda j: names.index(data.label_names[j]))
    return replace(data, Y=data.Y[:, order], label_names=[data.label_names[j] for j in order])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"),
    [("emotions", "ECC"), ("emotions", "ECCV"), ("yeast", "ECC"), ("yeast", "ECCV")],
)
def test_scores_on_the_folds_of_mulan_are_near_its_scores(golden, shared_data, name, method):
    data = in_arff_order(load(name, identifiers=True), shared_data)
    with open(golden / "mulan_reference.csv", newline="") as file:
        references = {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}
    reference = references[name, f"{method}:J48"]
    folds = np.loadtxt(golden / "folds" / f"folds_{name}.csv", delimiter=",", dtype=int)
    scores = []
    for seed in SEEDS:
        for fold in range(int(reference["folds_run"])):
            test, train = folds[folds[:, 0] == fold, 1], folds[folds[:, 0] != fold, 1]
            model = EnsembleOfChainsClassifier(
                C45Classifier(categorical_features=data.categorical),
                aggregate=AGGREGATES[method],
                random_state=seed,
            ).fit(data.X[train], data.Y[train])
            scores.append(micro_f1(data.Y[test], model.predict(data.X[test])))
    print(f"{name} {method}: micro-F1 {np.mean(scores):.4f} ({reference['micro_f1']})")
    assert np.mean(scores) == pytest.approx(float(reference["micro_f1"]), abs=TOLERANCE)


@pytest.mark.slow
def test_chains_and_rakel_have_more_labelsets_right_than_binary_relevance():
    data = load("debtags-words")
    X = sparse.csr_matrix(data.X)
    member = LinearSVC(random_state=0)
    models = {
        "BR": BinaryRelevanceClassifier(member),
        "chain": EnsembleOfChainsClassifier(member, n_chains=1, bagging=None, random_state=0),
        "RAKEL": RakelClassifier(member, random_state=0),
    }
    folds = RepeatedKFold(n_splits=5, n_repeats=3, random_state=0)
    scores = {name: [] for name in models}
    for train, test in folds.split(data.Y):
        for name, model in models.items():
            predicted = model.fit(X[train], data.Y[train]).predict(X[test])
            scores[name].append(subset_accuracy(data.Y[test], predicted))
    baseline = np.array(scores.pop("BR"))
    wins = {name: int((np.array(each) > baseline).sum()) for name, each in scores.items()}
    print(wins, baseline.mean(), {name: np.mean(each) for name, each in scores.items()})
    assert min(wins.values()) >= 12
