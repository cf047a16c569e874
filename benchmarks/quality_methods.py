"""The methods that the quality benchmark compares: ours, its two views, and the peers.

A method is a function ``fit(X, Y)`` that returns a function ``predict(X)``, which in turn returns
probabilities and the 0/1 tables for each measure of `DECIDED`. Peers are imported when they are
fitted. Each has the settings of its authors; whatever supports threads gets one.
"""

import importlib.util
import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

# Measures of 0/1 predictions, by the names that `decide` takes.
DECIDED = ["micro_f1", "macro_f1", "example_f1", "hamming_loss", "subset_accuracy"]


class Predicted(NamedTuple):
    """Probabilities, and for each measure of `DECIDED` the 0/1 table meant for it."""

    proba: np.ndarray
    decided: dict[str, np.ndarray]


Predict = Callable[[np.ndarray], Predicted]


class Method(NamedTuple):
    """How to fit a method, the module it needs, and the CPU seconds after which it is stopped."""

    fit: Callable[[np.ndarray, np.ndarray], Predict]
    needs: str | None = None
    limit: int = 600
    # Ours loads or compiles its loops at first use, which is not part of fitting.
    compiles: bool = False

    def missing(self) -> bool:
        """Return whether the module it needs is absent."""
        return self.needs is not None and importlib.util.find_spec(self.needs) is None


def fit_ours(X, Y, *, member: str | None = None) -> Predict:
    """Fit the default, or with a learner of `labelcover.learners` that is named."""
    import labelcover.learners
    from labelcover import LabelCoverClassifier

    options = {} if member is None else {"estimator": getattr(labelcover.learners, member)()}
    model = LabelCoverClassifier(**options, n_jobs=1, random_state=0).fit(X, Y)

    def predict(X) -> Predicted:
        decided = {measure: model.predict(X, decide=measure) for measure in DECIDED}
        return Predicted(model.predict_proba(X), decided)

    return predict


def varying(table) -> np.ndarray:
    """Return which columns are not constant."""
    return VarianceThreshold().fit(table).get_support()


def without_constants(fit) -> Callable[[np.ndarray, np.ndarray], Predict]:
    """Return the fit of a peer that sees neither constant features nor constant labels.

    Not every peer accepts a constant label. BOOMER draws a few features for each rule and stops
    for good if all of them are constant: with the 1,087 constant features of genbase it learns
    next to nothing, without them it is one of the best there.
    """

    def fit_varying(X, Y) -> Predict:
        features, labels = varying(X), varying(Y)
        predict_varying = fit(of_features(X, features), Y[:, labels])

        def predict(X) -> Predicted:
            proba, decided = predict_varying(of_features(X, features))
            whole = np.tile(Y[0].astype(float), (X.shape[0], 1))
            whole[:, labels] = proba
            table = np.tile(Y[0], (X.shape[0], 1))
            table[:, labels] = decided
            return Predicted(whole, dict.fromkeys(DECIDED, table))

        return predict

    return fit_varying


def of_features(X, which: np.ndarray):
    """Return these columns, sparse ones as a matrix: not every peer knows SciPy's arrays."""
    return sparse.csr_matrix(X[:, which]) if sparse.issparse(X) else X[:, which]


def cut_at_half(proba: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return proba, proba > 0.5


def scaler_for(X):
    """Return the usual scaler for linear models: sparse features keep their zeros."""
    return MaxAbsScaler() if sparse.issparse(X) else StandardScaler()


def fit_per_label(X, Y, *, make) -> Callable:
    models = [make(X).fit(X, y) for y in Y.T]
    return lambda X: cut_at_half(np.column_stack([m.predict_proba(X)[:, 1] for m in models]))


def logistic_regression(X):
    return make_pipeline(scaler_for(X), LogisticRegression(max_iter=300))


def lightgbm(X):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)


def hist_gradient_boosting(X):
    return HistGradientBoostingClassifier(random_state=0)


def xgboost(X):
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=0)


def fit_catboost(X, Y) -> Callable:
    """Fit CatBoost on all labels at once; of a single one it knows only the log-loss."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        loss_function="MultiLogloss" if Y.shape[1] > 1 else "Logloss",
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    ).fit(X, Y)
    return lambda X: cut_at_half(model.predict_proba(X)[:, -Y.shape[1] :])


def fit_random_forest(X, Y) -> Callable:
    forest = RandomForestClassifier(300, n_jobs=1, random_state=0).fit(X, Y)

    def predict(X):
        proba = forest.predict_proba(X)
        # A single label gives an array, not a list of arrays.
        columns = proba if isinstance(proba, list) else [proba]
        return cut_at_half(np.column_stack([column[:, 1] for column in columns]))

    return predict


def fit_chains(X, Y) -> Callable:
    """Fit ten chains of logistic regressions, in random orders; probabilities are averaged."""
    scaler = scaler_for(X).fit(X)
    scaled = scaler.transform(X)
    base = LogisticRegression(max_iter=300)
    chains = [
        ClassifierChain(base, order="random", random_state=seed).fit(scaled, Y)
        for seed in range(10)
    ]
    return lambda X: cut_at_half(
        np.mean([chain.predict_proba(scaler.transform(X)) for chain in chains], axis=0)
    )


def fit_boomer(X, Y, **options) -> Callable:
    from mlrl.boosting import BoomerClassifier

    model = BoomerClassifier(random_state=1, **options).fit(X.astype(np.float32), Y)

    def predict(X):
        X = X.astype(np.float32)
        return np.asarray(model.predict_proba(X)), np.asarray(model.predict(X))

    return predict


def fit_rakel(X, Y) -> Callable:
    """Fit scikit-multilearn-ng's RakelO: 2m labelsets of 3 labels, logistic regressions.

    It decides by vote and gives no probabilities: they are the mean over the members here.
    """
    from skmultilearn.ensemble import RakelO

    random.seed(0)  # the only seed that RakelO obeys
    scaler = scaler_for(X).fit(X)
    n_labels = Y.shape[1]
    rakel = RakelO(
        LogisticRegression(max_iter=300),
        labelset_size=min(3, n_labels),
        model_count=2 * n_labels,
        base_classifier_require_dense=[not sparse.issparse(X), True],
    )
    voting = rakel.fit(scaler.transform(X), Y.astype(int))  # not itself, unlike scikit-learn

    def predict(X):
        scaled = scaler.transform(X)
        sums, counts = np.zeros((X.shape[0], n_labels)), np.zeros(n_labels)
        labelsets = voting.partition_.astype(int)
        for member, labels in zip(voting.classifiers_, labelsets, strict=True):
            classes = np.zeros((len(member.reverse_combinations_), len(labels)))
            for row, positive in zip(classes, member.reverse_combinations_, strict=True):
                row[positive] = 1
            sums[:, labels] += member.classifier.predict_proba(scaled) @ classes
            counts[labels] += 1
        return sums / np.maximum(counts, 1), voting.predict(scaled).toarray()

    return predict


OURS, LEAST_SQUARES, FOREST = "labelcover", "least squares alone", "forest alone"
PEERS = {
    "BOOMER": Method(without_constants(fit_boomer), "mlrl"),
    "BOOMER non-decomposable": Method(
        without_constants(
            partial(fit_boomer, loss="logistic-non-decomposable", head_type="complete")
        ),
        "mlrl",
        limit=60,
    ),
    "LightGBM": Method(without_constants(partial(fit_per_label, make=lightgbm)), "lightgbm"),
    "random forest": Method(without_constants(fit_random_forest)),
    "logistic regression": Method(
        without_constants(partial(fit_per_label, make=logistic_regression))
    ),
    "chains": Method(without_constants(fit_chains)),
    "RAKEL": Method(without_constants(fit_rakel), "skmultilearn"),
}
# Gradient boosting for tables of numbers, which takes too long on text: compared apart.
BOOSTERS = {
    "CatBoost": Method(without_constants(fit_catboost), "catboost", limit=1_800),
    "XGBoost": Method(without_constants(partial(fit_per_label, make=xgboost)), "xgboost"),
    "HistGradientBoosting": Method(
        without_constants(partial(fit_per_label, make=hist_gradient_boosting))
    ),
}
METHODS = {
    **PEERS,
    **BOOSTERS,
    OURS: Method(fit_ours, compiles=True),
    LEAST_SQUARES: Method(partial(fit_ours, member="LeastSquaresClassifier"), compiles=True),
    FOREST: Method(partial(fit_ours, member="LabelForest"), compiles=True),
}
