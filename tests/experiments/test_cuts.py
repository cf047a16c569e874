"""Every method is compared with its own cut and with a tuned one, from one fit where it can be."""

import csv

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from labelcover import BalancorClassifier, RakelClassifier
from labelcover.datasets import Dataset, load
from labelcover.experiments._cuts import fit_method
from labelcover.experiments._running import cover_file, run
from labelcover.experiments._statistics import rank_methods
from labelcover.experiments.comparing import compare
from labelcover.experiments.results import COLUMNS, CUTS, MEASURED, read_results
from labelcover.methods import BinaryRelevanceClassifier, LabelPowersetClassifier
from labelcover.metrics import micro_f1

pytestmark = pytest.mark.filterwarnings("ignore:cover leaves out")
OWN = {
    "br": BinaryRelevanceClassifier(),
    "lp": LabelPowersetClassifier(),
    "balancor": BalancorClassifier(threshold=0.5),
}


class WithoutConfidences(BaseEstimator):
    """A method of another library that only predicts."""

    def fit(self, X, Y):
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@pytest.fixture(scope="module")
def part():
    full = load("debtags")
    often = np.argsort(-full.Y[:150].sum(axis=0))[:5]
    return Dataset(
        "part",
        full.X[:150],
        full.Y[:150, often],
        full.feature_names,
        [full.label_names[j] for j in often],
        full.categorical,
        np.arange(100),
        np.arange(100, 150),
    )


@pytest.fixture(scope="module")
def outcome(part, tmp_path_factory):
    methods = OWN | {
        "balancor": BalancorClassifier(threshold="auto"),
        "rakel": RakelClassifier(DecisionTreeClassifier(max_depth=3), size=3),
        "neighbours": KNeighborsClassifier(),
        "tree": WithoutConfidences(),
    }
    folder = tmp_path_factory.mktemp("cuts")
    return compare(methods, [part], folder, n_folds=3, verbose=False)


def test_both_cuts_are_those_of_two_fits(part, tmp_path):
    run(OWN, [part], tmp_path / "r.csv", folds="own")
    frame = read_results(tmp_path / "r.csv").set_index("method")
    for name, model in OWN.items():
        for column, threshold in (("micro_f1", model.threshold), ("tuned_micro_f1", "loo")):
            alone = clone(model).set_params(threshold=threshold, random_state=0)
            alone.fit(part.X[:100], part.Y[:100])
            expected = micro_f1(part.Y[100:], alone.predict(part.X[100:]))
            assert frame.loc[name, column] == pytest.approx(expected), (name, column)


def test_the_results_say_how_each_method_is_cut_and_tuned(outcome):
    frame = read_results(outcome.results)
    assert (frame["error"] == "").all()
    first = frame.groupby("method", sort=False)[["cut", "tuning"]].first()
    assert first["cut"].to_dict() == {
        "br": "at 0.5",
        "lp": "most probable labelset",
        "balancor": "at 0.5",
        "rakel": "at 0.5 of the votes",
        "neighbours": "its own",
        "tree": "its own",
    }
    tuning = first["tuning"].to_dict()
    assert {tuning[name] for name in OWN} == {"left-out rows of the fit"}
    assert {tuning[name] for name in ("rakel", "neighbours")} == {"a third left out"}
    assert tuning["tree"] == "not tuned: no confidences"
    tuned = frame[frame["method"] != "tree"]
    assert tuned["threshold"].between(0, 1).all()
    assert frame.loc[frame["method"] == "tree", "tuned_micro_f1"].isna().all()


def test_ranks_are_of_methods_that_are_cut_alike(outcome):
    assert outcome.ranking.measure == "tuned_micro_f1"
    assert "tree" not in outcome.ranking.methods, "what is not tuned is not ranked with the tuned"
    assert outcome.own_ranking.measure == "micro_f1"
    assert "tree" in outcome.own_ranking.methods


def test_the_page_shows_both_cuts_and_says_which_is_which(outcome):
    page = outcome.report.read_text(encoding="utf-8")
    for piece in (
        "Results with tuned thresholds",
        "Results with each method’s own cut",
        "Mean ranks by micro-F1, with tuned thresholds",
        "Mean ranks by micro-F1, with their own cuts",
        "a third left out",
        "not tuned: no confidences",
        "most probable labelset",
    ):
        assert piece in page, piece
    assert "memory" not in page


def test_a_tuned_measure_has_the_direction_of_its_measure():
    lines = [
        dict.fromkeys(COLUMNS, 0.0)
        | {"dataset": "d", "method": method, "folds": "f", "fold": fold, "seed": 0, "error": ""}
        | {"tuned_hamming_loss": loss}
        for fold in (0, 1)
        for method, loss in (("a", 0.2), ("b", 0.1))
    ]
    assert rank_methods(pd.DataFrame(lines), "tuned_hamming_loss").methods == ["b", "a"]


def test_a_third_is_left_out_where_a_fit_has_no_left_out_predictions(part):
    seen = []

    class Spy(KNeighborsClassifier):
        def fit(self, X, Y):
            seen.append(len(Y))
            return super().fit(X, Y)

    fit_method(Spy(), part.X[:60], part.Y[:60])
    assert seen == [60, 40]


def test_lines_without_both_cuts_are_set_aside_and_computed_again(tmp_path, part):
    path, methods = tmp_path / "r.csv", {"a": BinaryRelevanceClassifier()}
    run(methods, [part], path, n_folds=2)
    whole = read_results(path).drop(columns=list(MEASURED))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        older = [column for column in COLUMNS if column not in CUTS]
        writer = csv.DictWriter(file, older, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    assert read_results(path)["tuned_micro_f1"].isna().all()
    with pytest.warns(UserWarning, match=r"how method 'a' is cut changed .* 2 outdated lines"):
        run(methods, [part], path, n_folds=2)
    assert read_results(path).drop(columns=list(MEASURED)).equals(whole)


def test_names_that_look_alike_have_covers_of_their_own(tmp_path):
    long = "x" * 300
    names = [("x y.csv", "a"), ("x_y.csv", "a"), ("x", "y.csv a"), (long, "a"), (long, "b")]
    files = [cover_file(tmp_path, *name) for name in names]
    assert len(set(files)) == len(names)
    assert max(len(file.name) for file in files) < 200
