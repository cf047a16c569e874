"""RAKEL with J48 and SMO answers as MULAN's RAkEL did, member by member and over all folds."""

import csv
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from labelcover import BalancorClassifier, RakelClassifier, RakelPlusPlusClassifier
from labelcover.datasets import load
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.metrics import hamming_loss, micro_f1

LEARNERS = {"J48": C45Classifier, "SMO": SMOClassifier}
TOLERANCE = 0.003

# The five labelsets that MULAN drew for yeast leave labels out.
pytestmark = pytest.mark.filterwarnings("ignore:cover leaves out")

ARFF = {"scene": "scene-train"}


@pytest.fixture(scope="module")
def table(shared_data):
    """Return a reader of data sets as MULAN saw them: all attributes, labels in ARFF order."""

    @cache
    def read(name):
        data = load(name, identifiers=True)
        text = (shared_data / name / f"{ARFF.get(name, name)}.arff").read_text(encoding="utf-8")
        names = re.findall(r"(?im)^@attribute\s+['\"]?([^\s'\"]+)", text)
        order = sorted(range(len(data.label_names)), key=lambda j: names.index(data.label_names[j]))
        return replace(data, Y=data.Y[:, order], label_names=[data.label_names[j] for j in order])

    return read


def rakel(data, base, subsets):
    estimator = LEARNERS[base](categorical_features=data.categorical)
    return RakelClassifier(estimator, cover=subsets, n_jobs=2)


class JavaRandom:
    """The generator of java.util.Random, as its documentation defines it."""

    def __init__(self, seed):
        self.state = (seed ^ 0x5DEECE66D) % 2**48

    def next_int(self, n):
        while True:
            self.state = (self.state * 0x5DEECE66D + 0xB) % 2**48
            bits = self.state >> 17
            if n & (n - 1) == 0:
                return (n * bits) >> 31
            if bits - bits % n + (n - 1) < 2**31:
                return bits % n


def mulan_subsets(n_labels, k, size, seed):
    """Return MULAN's labelsets: labels are drawn until k differ, sets until all differ."""
    random = JavaRandom(seed)
    subsets = []
    while len(subsets) < size:
        labels = set()
        while len(labels) < k:
            labels.add(random.next_int(n_labels))
        if sorted(labels) not in subsets:
            subsets.append(sorted(labels))
    return subsets


RUNS = ["emotions_k3_7", "yeast_k3_5"]


@pytest.fixture(scope="module")
def run(golden, table, member_distributions):
    """Return a fitted RAKEL, its members' class distributions and MULAN's, for one run."""

    @cache
    def fit(which, base):
        mulan = json.loads((golden / f"rakel_{which}_{base}.json").read_text())
        data = table(which.split("_")[0])
        model = rakel(data, base, mulan["subsets"])
        model.fit(data.X[mulan["train"]], data.Y[mulan["train"]])
        test = data.X[mulan["test"]]
        encoding = model.view_.encoding
        answers = member_distributions(model.view_, model._coding.read(model, test))
        ours, theirs = [], []
        for j in range(len(mulan["subsets"])):
            low, high = encoding.starts[j : j + 2]
            names = ["".join(map(str, pattern)) for pattern in encoding.patterns[low:high]]
            order = mulan["class_order_per_member"][j]
            assert sorted(order) == names
            ours.append(answers[:, low:high])
            theirs.append(np.array(mulan["member_dist"][j])[:, [order.index(n) for n in names]])
        return model, mulan, ours, theirs

    return fit


def winners(dist):
    return dist > dist.max(axis=1, keepdims=True) - 1e-9


@pytest.mark.parametrize("which", RUNS)
def test_the_subsets_of_mulan_follow_from_its_seed(golden, table, which):
    mulan = json.loads((golden / f"rakel_{which}_J48.json").read_text())
    n_labels = table(which.split("_")[0]).Y.shape[1]
    assert mulan_subsets(n_labels, mulan["k"], mulan["models"], seed=0) == mulan["subsets"]


@pytest.mark.parametrize("which", RUNS)
def test_every_j48_member_answers_as_in_mulan(run, which):
    _, _, ours, theirs = run(which, "J48")
    for member, their_member in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(member, their_member, atol=1e-9)


@pytest.mark.parametrize("which", RUNS)
def test_smo_members_have_the_winners_of_mulan(run, which):
    _, _, ours, theirs = run(which, "SMO")
    same = np.array(
        [(winners(a) == winners(b)).all(axis=1) for a, b in zip(ours, theirs, strict=True)]
    )
    assert same.mean() >= 0.98


def vote_bounds(model, distributions):
    """Return the least and the largest share of votes of each label, whoever wins the ties."""
    encoding = model.view_.encoding
    low = np.zeros((len(distributions[0]), model.cover_.n_labels))
    high = np.zeros_like(low)
    for j, dist in enumerate(distributions):
        patterns = encoding.patterns[encoding.starts[j] : encoding.starts[j + 1]]
        tied = winners(dist)[:, :, None]
        labels = model.cover_.labelsets[j]
        low[:, labels] += np.where(tied, patterns, 1).min(axis=1)
        high[:, labels] += np.where(tied, patterns, 0).max(axis=1)
    counts = np.maximum(model.cover_.label_counts, 1)
    return low / counts, high / counts


# The test rows in which MULAN broke a tie between the classes of some member at random.
ROWS_WITH_TIES = {
    "emotions_k3_7": "29 78 115 204 220 232 392 412 502 504 527",
    "yeast_k3_5": "27 35 83 116 126 156 161 311 326 393 407 446 521 596 616 718 757 776 781 796 "
    "878 894 1031 1229 1267 1315 1388 1399 1408 1467 1494 1544 1665 1772 1822 1880 1888 1895 1931 "
    "2113 2147 2195 2229 2319",
}


@pytest.mark.parametrize("which", RUNS)
def test_bits_and_votes_are_those_of_mulan_where_it_broke_no_tie(run, table, which):
    model, mulan, ours, _ = run(which, "J48")
    data = table(which.split("_")[0])
    test = data.X[mulan["test"]]
    bits = np.array([[int(b) for b in row[0]] for row in mulan["prediction"]])
    fractions = np.array([row[1] for row in mulan["prediction"]])
    low, high = vote_bounds(model, ours)
    ties = (low < high - 1e-9).any(axis=1)
    confidence = model.predict_proba(test)
    np.testing.assert_array_equal(model.predict(test)[~ties], bits[~ties])
    np.testing.assert_allclose(confidence[~ties], fractions[~ties], atol=1e-9)
    assert (fractions >= low - 1e-9).all()
    assert (fractions <= high + 1e-9).all()
    tied_rows = sorted(np.array(mulan["test"])[ties].tolist())
    assert tied_rows == [int(row) for row in ROWS_WITH_TIES[which].split()]


def cross_validated(golden, data, base, k, size, seed, n_folds):
    """Return mean micro-F1 and Hamming loss over MULAN's folds, with its subsets."""
    rows = np.loadtxt(golden / "folds" / f"folds_{data.name}.csv", delimiter=",", dtype=int)
    subsets = mulan_subsets(data.Y.shape[1], k, size, seed)
    scores = []
    for fold in range(n_folds):
        test, train = rows[rows[:, 0] == fold, 1], rows[rows[:, 0] != fold, 1]
        model = rakel(data, base, subsets).fit(data.X[train], data.Y[train])
        predicted = model.predict(data.X[test])
        scores.append([micro_f1(data.Y[test], predicted), hamming_loss(data.Y[test], predicted)])
    return np.mean(scores, axis=0)


def reference(golden, name, method):
    with open(golden / "mulan_reference.csv", newline="") as file:
        for row in csv.DictReader(file):
            if (row["dataset"], row["method"]) == (name, method):
                return int(row["folds_run"]), float(row["micro_f1"]), float(row["hamming_loss"])
    raise LookupError(f"no reference for {method} on {name}")


slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("emotions", "RAkEL:3:7:0:J48"),
        ("emotions", "RAkEL:3:7:0:SMO"),
        pytest.param("genbase", "RAkEL:3:125:0:J48", marks=slow),
        pytest.param("scene", "RAkEL:3:7:0:J48", marks=slow),
        pytest.param("scene", "RAkEL:3:7:0:SMO", marks=slow),
        pytest.param("scene", "RAkEL:4:3:0:SMO", marks=slow),
        pytest.param("yeast", "RAkEL:3:35:0:J48", marks=slow),
        pytest.param("yeast", "RAkEL:3:35:0:SMO", marks=slow),
        pytest.param("medical", "RAkEL:3:372:0:J48", marks=slow),
    ],
)
def test_scores_on_the_folds_of_mulan_are_its_scores(golden, table, name, method):
    _, k, size, seed, base = method.split(":")
    n_folds, their_f1, their_loss = reference(golden, name, method)
    ours = cross_validated(golden, table(name), base, int(k), int(size), int(seed), n_folds)
    print(
        f"{name} {method}: micro-F1 {ours[0]:.4f} ({their_f1:.4f}), "
        f"Hamming loss {ours[1]:.4f} ({their_loss:.4f})"
    )
    assert ours[0] == pytest.approx(their_f1, abs=TOLERANCE)
    assert ours[1] == pytest.approx(their_loss, abs=TOLERANCE)


# OneThreshold: RAKEL with its one threshold tuned as MULAN does it.


def tuned(data, golden, model):
    """Return mean micro-F1 and Hamming loss over MULAN's folds of emotions."""
    rows = np.loadtxt(golden / "folds" / "folds_emotions.csv", delimiter=",", dtype=int)
    scores = []
    for fold in range(10):
        test, train = rows[rows[:, 0] == fold, 1], rows[rows[:, 0] != fold, 1]
        predicted = model.fit(data.X[train], data.Y[train]).predict(data.X[test])
        scores.append([micro_f1(data.Y[test], predicted), hamming_loss(data.Y[test], predicted)])
    return np.mean(scores, axis=0)


@slow
def test_votes_with_mulans_threshold_score_as_mulan(golden, table):
    """MULAN breaks ties between classes at random, which moves thresholds a little."""
    method = "RAkELOT:3:7:0:J48"
    _, their_f1, their_loss = reference(golden, "emotions", method)
    model = RakelPlusPlusClassifier(
        C45Classifier(),
        cover=mulan_subsets(6, 3, 7, seed=0),
        aggregate="votes",
        threshold_search="mulan",
    )
    ours = tuned(table("emotions"), golden, model)
    print(f"{method}: {ours[0]:.4f} ({their_f1:.4f}), {ours[1]:.4f} ({their_loss:.4f})")
    assert ours[0] == pytest.approx(their_f1, abs=0.006)
    assert ours[1] == pytest.approx(their_loss, abs=0.003)


@slow
def test_the_measure_that_the_threshold_is_tuned_for_matters_most(golden, table):
    data = table("emotions")
    for_f1 = tuned(data, golden, BalancorClassifier(C45Classifier(), random_state=0))
    mulans = BalancorClassifier(C45Classifier(), threshold_search="mulan", random_state=0)
    as_mulan = tuned(data, golden, mulans)
    print(f"tuned for micro-F1 {for_f1}, as MULAN {as_mulan}")
    np.testing.assert_allclose(for_f1, [0.632, 0.268], atol=0.01)
    np.testing.assert_allclose(as_mulan, [0.601, 0.227], atol=0.01)
