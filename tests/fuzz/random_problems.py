"""Small random problems: odd tables, labels, weights and estimators, each as plain values.

A problem is made of a seed, and stored as JSON where it failed, so that it stays what it was when
this file changes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

MULTI_LABEL = {
    "labelcover": (
        "LabelCoverClassifier",
        "RakelClassifier",
        "RakelPlusPlusClassifier",
        "InlacClassifier",
        "BalcoClassifier",
        "BalancorClassifier",
        "DDBalancorClassifier",
    ),
    "labelcover.methods": (
        "BinaryRelevanceClassifier",
        "DependentSubsetsClassifier",
        "EnsembleOfChainsClassifier",
        "EnsembleOfDependentSubsetsClassifier",
        "EnsembleOfProbabilisticChainsClassifier",
        "EnsembleOfPrunedSetsClassifier",
        "HomerClassifier",
        "LabelPowersetClassifier",
        "LeadClassifier",
        "ProbabilisticChainClassifier",
        "PrunedSetsClassifier",
        "StackedBinaryRelevanceClassifier",
    ),
}
ALONE = ("LeastSquaresClassifier", "LogisticClassifier", "C45Classifier", "SMOClassifier")
# Keep fits quick.
SMALL = {"n_chains": 2, "n_members": 2, "clusters": 2, "n_partitions": 20}
DECISIONS = ("micro_f1", "macro_f1", "example_f1", "hamming_loss", "subset_accuracy", 1)
FORMS = ("dense", "csr", "csc", "frame", "masked", "float32")


@dataclass(frozen=True)
class Member:
    """A classifier by name, the module it is from, and its parameters."""

    module: str
    name: str
    params: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Training rows, new rows, and an estimator.

    Attributes
    ----------
    estimator : Member
        Of several labels, or of classes alone.
    member : Member or None
        What it is made of; None is the default.
    X, new : list of lists
        Numbers; None for a missing one.
    Y : list of lists
        Zeros and ones, a row each; the first label is the class where the estimator is alone.
    weights : list or None
    categories : list of int
        Columns that are nominal, in a data frame.
    form : str
        How tables are given; see `FORMS`.
    seed : int
    """

    estimator: Member
    member: Member | None
    X: list[list[float | None]]
    new: list[list[float | None]]
    Y: list[list[int]]
    weights: list[float] | None
    categories: list[int]
    form: str
    seed: int

    def to_json(self) -> str:
        """Return the problem as text."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return a problem that was kept."""
        content = json.loads(path.read_text())
        content["estimator"] = Member(**content["estimator"])
        content["member"] = content["member"] and Member(**content["member"])
        return cls(**content)


def random_problem(seed: int) -> Problem:
    """Return the problem of a seed."""
    random = np.random.default_rng([seed, 20])
    n = int(random.choice([1, 2, 3, 5, 8, 13, 21, 34], p=np.array([1, 1, 2, 3, 4, 5, 4, 2]) / 22))
    d = int(random.choice([1, 2, 3, 5, 8, 40], p=[0.15, 0.2, 0.25, 0.2, 0.15, 0.05]))
    X, categories = random_table(n, d, random)
    Y = random_labels(X, int(random.choice([1, 2, 3, 4, 6, 9])), random)
    new = random_rows(X, random)
    X, new = (np.clip(table, -3e38, 3e38) for table in (X, new))
    estimator, member = random_estimator(Y.shape[1], random)
    form = str(random.choice(FORMS))
    if member is not None and member.module.startswith("sklearn") and form != "frame":
        form = "dense"  # not all take sparse tables, and some compute in single precision
    if form in ("csr", "csc") or (member is not None and member.module.startswith("sklearn")):
        categories = []
    weights = random_weights(n, random)
    if member is not None and member.module == "sklearn.neighbors":
        weights = None
    if takes_gaps(estimator, member) and random.random() < 0.3:
        X[random.random(X.shape) < 0.2] = np.nan
        new[random.random(new.shape) < 0.2] = np.nan
        form = "dense" if form in ("csr", "csc") else form
    return Problem(
        estimator,
        member,
        _plain(X),
        _plain(new),
        Y.tolist(),
        None if weights is None else weights.tolist(),
        categories if form == "frame" else [],
        form,
        int(random.integers(1000)),
    )


def random_table(n: int, d: int, random: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """Return a table, and which columns hold numbers of categories."""
    kind = random.choice(["mixed", "zeros", "alike", "few rows", "words", "one kind"])
    kinds = list(COLUMNS)
    if kind == "one kind":
        kinds = [str(random.choice(kinds))]
    columns = [str(random.choice(kinds)) for _ in range(d)]
    X = np.column_stack([COLUMNS[column](n, random) for column in columns])
    if kind == "zeros":
        X[:] = 0.0
    elif kind == "alike":
        X[:] = X[0]
    elif kind == "few rows":
        X = X[random.integers(max(1, n // 3), size=n)]
    elif kind == "words":
        X = (random.random((n, d)) < 0.2) * random.integers(1, 4, (n, d)).astype(float)
    is_category = [f for f, column in enumerate(columns) if column == "category"]
    return X, is_category if kind in ("mixed", "one kind", "few rows") else []


COLUMNS = {
    "normal": lambda n, random: random.normal(size=n),
    "constant": lambda n, random: np.full(n, random.normal()),
    "zero": lambda n, random: np.zeros(n),
    "one": lambda n, random: np.ones(n),
    "flag": lambda n, random: random.integers(2, size=n).astype(float),
    "rare": lambda n, random: (np.arange(n) == random.integers(n)).astype(float),
    "common": lambda n, random: (np.arange(n) != random.integers(n)).astype(float),
    "count": lambda n, random: random.poisson(0.5, n).astype(float),
    "category": lambda n, random: random.integers(3, size=n).astype(float),
    "large": lambda n, random: random.normal(size=n) * 10.0 ** random.integers(5, 38),
    "small": lambda n, random: random.normal(size=n) * 10.0 ** -random.integers(5, 300),
    "far": lambda n, random: random.normal(size=n) + 10.0 ** random.integers(3, 14),
    "outlier": lambda n, random: np.where(np.arange(n) == 0, 1e12, random.normal(size=n)),
    "heavy": lambda n, random: random.standard_cauchy(n),
    "rounded": lambda n, random: 0.3 + 5e-17 * random.integers(2, size=n),
    "steps": lambda n, random: random.integers(4, size=n) / 3.0,
}


def random_labels(X: np.ndarray, m: int, random: np.random.Generator) -> np.ndarray:
    """Return labels: of features, by chance, constant, rare, or like another."""
    n = len(X)
    Y = np.zeros((n, m), dtype=int)
    for j in range(m):
        kind = random.choice(["feature", "chance", "never", "always", "once", "copy", "opposite"])
        if kind == "feature":
            column = X[:, random.integers(X.shape[1])]
            Y[:, j] = column > np.median(column)
        elif kind == "chance":
            Y[:, j] = random.random(n) < random.random()
        elif kind == "always":
            Y[:, j] = 1
        elif kind == "once":
            Y[random.integers(n), j] = 1
        elif kind in ("copy", "opposite") and j:
            Y[:, j] = Y[:, j - 1] if kind == "copy" else 1 - Y[:, j - 1]
    return Y


def random_rows(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return new rows: training rows, zeros, near ones, and some far away."""
    rows = X[random.integers(len(X), size=5)].copy()
    rows[1] = 0.0
    rows[2] *= 1 + 1e-3 * random.normal(size=X.shape[1])
    rows[3] = random.normal(size=X.shape[1]) * 10.0 ** random.integers(-3, 12)
    return rows


def random_weights(n: int, random: np.random.Generator) -> np.ndarray | None:
    """Return weights of rows, of any scale, some 0; mostly None."""
    kind = random.choice(["none", "equal", "some", "wide", "zeros"], p=[0.5, 0.1, 0.15, 0.15, 0.1])
    scale = 10.0 ** random.integers(-12, 13)
    if kind == "none":
        return None
    if kind == "equal":
        return np.full(n, scale)
    weights = scale * random.integers(1, 4, n)
    if kind == "wide":
        return scale * 10.0 ** random.uniform(-8, 8, n)
    if kind == "zeros":
        weights = weights * (random.random(n) < 0.7)
        weights[0] = scale
    return weights.astype(float)


def random_estimator(m: int, random: np.random.Generator) -> tuple[Member, Member | None]:
    """Return an estimator and its member."""
    if random.random() < 0.15:
        return random_learner(str(random.choice(ALONE)), random), None
    module = "labelcover" if random.random() < 0.55 else "labelcover.methods"
    default = module == "labelcover" and random.random() < 0.4
    name = "LabelCoverClassifier" if default else str(random.choice(MULTI_LABEL[module]))
    params: dict[str, Any] = {}
    if module == "labelcover":
        params["k"] = int(random.integers(1, min(m, 4) + 1))
    if name == "LabelCoverClassifier":
        params["decide"] = DECISIONS[random.integers(len(DECISIONS))]
        if random.random() < 0.3:
            params = {"k": params["k"], "threshold": float(random.choice([0.0, 0.3, 1.0]))}
    return Member(module, name, params), random_member(name, random)


def random_member(owner: str, random: np.random.Generator) -> Member | None:
    """Return what an ensemble is made of."""
    if random.random() < 0.3:
        return None
    if owner == "LabelCoverClassifier" and random.random() < 0.5:
        name = str(random.choice(["LabelForest", "Pool", "ManyLabelPool"]))
        if name == "LabelForest":
            splits = str(random.choice(["auto", "features", "means"]))
            return Member("labelcover.learners", name, {"n_trees": 5, "splits": splits})
        return Member("labelcover.ensemble", name, {})
    if random.random() < 0.75:
        return random_learner(str(random.choice(ALONE)), random)
    name, module, params = SKLEARN[random.integers(len(SKLEARN))]
    return Member(module, name, params)


SKLEARN: list[tuple[str, str, dict[str, Any]]] = [
    ("DecisionTreeClassifier", "sklearn.tree", {}),
    ("GaussianNB", "sklearn.naive_bayes", {}),
    ("KNeighborsClassifier", "sklearn.neighbors", {"n_neighbors": 1}),
    ("LogisticRegression", "sklearn.linear_model", {"max_iter": 20}),
    ("NearestCentroid", "sklearn.neighbors", {}),
    ("RidgeClassifier", "sklearn.linear_model", {}),
]


def random_learner(name: str, random: np.random.Generator) -> Member:
    """Return a learner of the library with some parameters of its own."""

    def one(*values: Any) -> Any:
        return values[random.integers(len(values))]

    params: dict[str, Any] = {}
    if random.random() < 0.6:
        params = {
            "LeastSquaresClassifier": lambda: {
                "kernel": one("auto", "linear", "rbf"),
                "alpha": one(None, 1e-9, 1e-6, 1.0, 1e6),
                "scale": one("auto", "standard", "rows", "none"),
            },
            "LogisticClassifier": lambda: {
                "C": one(None, 1e-3, 1e5),
                "scale": one("auto", "rows", "standard", "none"),
            },
            "C45Classifier": lambda: {"pruned": one(True, False), "laplace": one(True, False)},
            "SMOClassifier": lambda: {"logistic": one(True, False), "C": one(1e-3, 1.0, 100.0)},
        }[name]()
    return Member("labelcover.learners", name, params)


def takes_gaps(estimator: Member, member: Member | None) -> bool:
    """Tell whether the learner takes missing values."""
    learner = estimator if member is None else member
    return learner.name in ("C45Classifier", "SMOClassifier")


def _plain(table: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(x) else float(x) for x in row] for row in table]
