"""Chains and binary relevance beside scikit-learn's, with the same base learner in the same run.

``python -m benchmarks.bench_methods [data set …]`` (emotions, scene and yeast by default). Needs
the data folder (``LABELCOVER_DATA``). A ratio above 1 means that scikit-learn takes longer.
"""

import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelcover.datasets import load
from labelcover.methods import BinaryRelevanceClassifier, EnsembleOfChainsClassifier

BASES = {
    "logistic regression": LogisticRegression(max_iter=200),
    "linear SVM": LinearSVC(random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
}
N_CHAINS = 10
REPEATS = 5


class ScikitLearnChains:
    """The mean of scikit-learn's chains in the same orders, on all rows."""

    def __init__(self, base, orders):
        self.chains = [ClassifierChain(base, order=order) for order in orders]

    def fit(self, X, Y):
        """Fit one chain after the other."""
        for chain in self.chains:
            chain.fit(X, Y)
        return self

    def predict(self, X):
        """Return the labels that at least half of the chains predict."""
        return np.mean([chain.predict(X) for chain in self.chains], axis=0) >= 0.5


def pairs(base, n_labels):
    """Return pairs of models to compare: ours and scikit-learn's."""
    random = np.random.default_rng(0)
    orders = [random.permutation(n_labels) for _ in range(N_CHAINS)]
    ours = EnsembleOfChainsClassifier(
        base, n_chains=N_CHAINS, order=orders, bagging=None, aggregate="votes"
    )
    return {
        "BR": (BinaryRelevanceClassifier(base), MultiOutputClassifier(base)),
        "ECC": (ours, ScikitLearnChains(base, orders)),
    }


def seconds(model, X, Y, train, test):
    """Return the seconds of a fit and of a prediction, and what was predicted."""
    began = time.perf_counter()
    model.fit(X[train], Y[train])
    fitted = time.perf_counter()
    predicted = model.predict(X[test])
    return fitted - began, time.perf_counter() - fitted, np.asarray(predicted)


def main() -> None:
    print("| data set | method | base | fit s | ratio | predict s | ratio | both | same |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or ("emotions", "scene", "yeast"):
        data = load(name)
        X, Y = MaxAbsScaler().fit_transform(data.X), data.Y
        rows = np.random.default_rng(0).permutation(len(Y))
        train, test = rows[len(Y) // 5 :], rows[: len(Y) // 5]
        varying = np.ptp(Y[train], axis=0) > 0  # scikit-learn's methods take no other labels
        Y = Y[:, varying]
        for base_name, base in BASES.items():
            for method, (ours, theirs) in pairs(base, Y.shape[1]).items():
                seconds(ours, X, Y, train[:100], test[:10])  # compile
                # In turns, so that what else the machine does meets both.
                runs = {"own": [], "peer": []}
                for repeat in range(REPEATS):
                    turn = [("own", ours), ("peer", theirs)]
                    for who, model in turn if repeat % 2 else turn[::-1]:
                        runs[who].append(seconds(model, X, Y, train, test))
                own, peer = (
                    np.median([[fit, predict] for fit, predict, _ in runs[who]], axis=0)
                    for who in ("own", "peer")
                )
                same = (runs["own"][0][2] == runs["peer"][0][2]).mean()
                fit, predict = peer / own
                both = peer.sum() / own.sum()
                print(
                    f"| {name} | {method} | {base_name} | {own[0]:.3f} | {fit:.2f} "
                    f"| {own[1]:.4f} | {predict:.2f} | {both:.2f} | {same:.1%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
