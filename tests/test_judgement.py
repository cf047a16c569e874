"""A model beside chance: what label frequencies alone would give, and how far noise goes."""

import csv
import json
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.chance import LabelFrequencies, chance_of, verdict
from labelcover.datasets import Dataset, read_table
from labelcover.judgement import EXPLANATIONS, JUDGED_BY, judged_left_out, judged_on
from labelcover.metrics import MEASURES, micro_f1
from labelcover.models import fit_model, load_model, save_model

LABELS = ["a", "b", "c", "d"]


def rows(seed, *, informative, n=240):
    """Rows whose labels follow from the features, or are thrown like coins."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    signal = X[:, :4] if informative else random.normal(size=(n, 4))
    Y = (signal > [0.2, 0.5, 0.8, 1.0]).astype(np.uint8)
    return Dataset("some", X, Y, [f"f{j}" for j in range(5)], LABELS, np.zeros(5, dtype=bool))


@pytest.fixture(scope="module")
def good():
    return fit_model(LabelCoverClassifier(random_state=0), rows(0, informative=True))


@pytest.fixture(scope="module")
def coins():
    return fit_model(LabelCoverClassifier(random_state=0), rows(0, informative=False))


@pytest.mark.parametrize("threshold", [None, 0.2, 0.4])
def test_coin_flips_are_no_better_than_chance(coins, threshold):
    for seed in (1, 2, 3):
        judged = judged_on(coins, rows(seed, informative=False), threshold=threshold)
        assert judged.verdict.said == "no better than chance"
        assert "no better than chance" in str(judged.verdict)
    assert judged_left_out(coins, threshold=threshold).verdict.said == "no better than chance"


def test_a_model_that_predicts_as_chance_does_is_told_without_an_interval_of_noise(coins):
    judged = judged_on(coins, rows(1, informative=False))
    same = replace(judged, predicted=judged.chance.predicted[0])
    assert same.verdict.said == "no better than chance"
    assert str(same.verdict).endswith(": there is no difference (95 % interval, 240 rows).")


@pytest.mark.parametrize("threshold", [None, 0.2, 0.9])
def test_what_follows_from_the_features_is_better_than_chance(good, threshold):
    judged = judged_on(good, rows(1, informative=True), threshold=threshold)
    found = judged.verdict
    assert found.said == "better than chance"
    assert found.gain == pytest.approx(found.value - found.chance)
    assert found.gain_low < found.gain < found.gain_high
    assert f"better than chance, which has {found.chance:.3f}, by {found.gain:.3f}" in str(found)
    assert judged_left_out(good, threshold=threshold).verdict.said == "better than chance"


def test_a_model_that_errs_on_purpose_is_worse_than_chance(good):
    data = rows(1, informative=True)
    judged = judged_on(good, data)
    wrong = 1 - judged.Y
    chance = chance_of(good.frequencies_, wrong, threshold_is_given=False)
    assert verdict("micro_f1", judged.Y, wrong, chance).said == "worse than chance"


def test_one_row_is_too_few_to_tell(good):
    judged = judged_on(good, rows(1, informative=True, n=1))
    assert judged.verdict.said == "no better than chance"
    assert str(judged.verdict).endswith("too few rows.")


@pytest.mark.parametrize("decide", ["micro_f1", "example_f1", "hamming_loss", "subset_accuracy"])
def test_chance_is_the_best_that_is_the_same_for_every_row(decide):
    Y = rows(0, informative=True).Y
    found = LabelFrequencies.of(LabelCoverClassifier(decide=decide), Y)
    measure = MEASURES[decide]
    scores = {
        bits: measure.function(Y, np.tile(bits, (len(Y), 1))) for bits in product((0, 1), repeat=4)
    }
    best = (max if measure.higher_is_better else min)(scores.values())
    assert scores[tuple(found.decided.astype(int))] == pytest.approx(best)
    assert found.measure == decide
    assert found.share == pytest.approx(Y.mean(axis=0), abs=0.01)


def test_chance_at_a_given_threshold_predicts_as_often_as_the_model():
    data = rows(0, informative=True)
    model = fit_model(RakelClassifier(threshold=0.6, random_state=0), data)
    judged = judged_on(model, rows(1, informative=True))
    assert model.frequencies_.decided is None
    for table in judged.chance.predicted:
        assert table.sum(axis=0).tolist() == judged.predicted.sum(axis=0).tolist()
    assert judged.verdict.said == "better than chance"


def test_every_measure_has_a_direction_a_line_and_a_value_of_chance(good):
    assert EXPLANATIONS.keys() == JUDGED_BY.keys() >= MEASURES.keys()
    judged = judged_on(good, rows(1, informative=True))
    for name, score in judged.scores.items():
        assert score.direction == ("higher" if JUDGED_BY[name].higher_is_better else "lower")
        assert np.isfinite([score.value, score.chance]).all()
        better = score.value - score.chance
        assert (better > 0 if score.direction == "higher" else better < 0) or name == "micro_recall"


def test_the_frequencies_are_kept_in_the_model_file(good, tmp_path):
    save_model(good, tmp_path / "m.skops")
    kept = load_model(tmp_path / "m.skops").frequencies_
    assert kept.share.tolist() == good.frequencies_.share.tolist()
    assert kept.decided.tolist() == good.frequencies_.decided.tolist()
    assert kept.measure == "micro_f1"


def test_left_out_rows_are_judged_by_decisions_that_have_not_seen_them(coins):
    """Labels of a row change the decision for other rows only."""
    judged = judged_left_out(coins)
    kept = coins.left_out_predictions_
    own = coins.decision_.decide(kept.confidence)
    assert judged.scores["micro_f1"].value <= micro_f1(kept.Y, own)
    unseen = coins._unseen
    try:
        flipped = unseen[0].copy()
        flipped[kept.rows == 7] = 1 - flipped[kept.rows == 7]
        coins._unseen = flipped, *unseen[1:]
        again = judged_left_out(coins)
    finally:
        coins._unseen = unseen
    assert again.predicted[7].tolist() == judged.predicted[7].tolist()


def test_labels_come_by_support(good):
    judged = judged_on(good, rows(1, informative=True))
    support = [line.support for line in judged.label_lines(judged.by_support)]
    assert support == sorted(support, reverse=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory, good):
    folder = tmp_path_factory.mktemp("files")
    data = rows(1, informative=True)
    Y = data.Y.copy()
    Y[:9] = 0
    with (folder / "test.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names, *LABELS])
        writer.writerows([*x, *y] for x, y in zip(data.X.tolist(), Y.tolist(), strict=True))
    save_model(good, folder / "m.skops")
    return folder / "m.skops", folder / "test.csv"


def test_evaluate_says_whether_the_model_is_better_than_chance(files, command):
    code, printed, err = command("evaluate", *files)
    assert code == 0, err
    assert "better than chance, which has" in printed.splitlines()[0]
    assert "240 rows)" in printed.splitlines()[0]
    empty = int(printed.split(" of 240 rows have no labels")[0].split()[-1])
    code, printed_json, _ = command("evaluate", *files, "--json")
    told = json.loads(printed_json)
    assert told["rows_without_labels"] == empty >= 9
    assert told["rows"] == 240
    for name in JUDGED_BY:
        assert name in printed
        # One line a measure where there is no terminal, however narrow one would be.
        assert any(
            line.startswith(f"{name} ") and line.rstrip().endswith(EXPLANATIONS[name])
            for line in printed.splitlines()
        )
        assert {told["better"][name]} <= {"higher", "lower"}
        assert told["chance"][name] is not None
    assert told["verdict"]["said"] == "better than chance"
    assert [line["label"] for line in told["labels"]] == ["a", "b", "c", "d"]
    assert set(told["label_f1"]) == set(LABELS)


@pytest.fixture(scope="module")
def rare_tags(tmp_path_factory):
    """A model of a table with tags of one row, and a test file with tags it does not know."""
    folder = tmp_path_factory.mktemp("tags")
    random = np.random.default_rng(0)
    for name, n, others in (("train.csv", 80, 20), ("test.csv", 60, 12)):
        X = random.normal(size=(n, 3))
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["x", "y", "z", "tags"])
            for i, x in enumerate(X.tolist()):
                tags = [tag for tag, value in zip("abc", x, strict=True) if value > 0.3]
                more = [f"{name}{i}"] if i < others else ["pair"] if i in (40, 41) else []
                writer.writerow([*x, ";".join([*tags, *more])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tags in one row only
        data = read_table(folder / "train.csv", tags="tags", separator=";")
        model = fit_model(LabelCoverClassifier(random_state=0), data)
    return model, folder / "test.csv"


def test_tags_that_the_model_does_not_know_are_told_as_missed(rare_tags):
    model, path = rare_tags
    with pytest.warns(UserWarning, match="12 tags that the model does not know"):
        dataset = model.reading_.read(path, with_labels=True)
    judged = judged_on(model, dataset)
    assert judged.n_other_tags == 12
    truth = np.hstack([judged.Y, np.eye(len(judged.Y), 12, dtype=np.uint8)])
    guess = np.hstack([judged.predicted, np.zeros((len(judged.Y), 12), dtype=np.uint8)])
    assert judged.all_tags_f1 == pytest.approx(micro_f1(truth, guess))
    assert judged.all_tags_f1 < judged.scores["micro_f1"].value
    assert f"counted as missed, micro-F1 is {judged.all_tags_f1:.3f}" in judged.other_tags_told


def test_tags_that_a_left_out_row_brings_to_two_rows_would_not_be_known_to_it(rare_tags):
    model = rare_tags[0]
    judged = judged_left_out(model)
    assert model.frequencies_.counts[model.reading_.label_names.index("pair")] == 2
    assert judged.n_other_tags == pytest.approx(20 + 2)
    both = judged.Y.sum() + judged.predicted.sum()
    micro = judged.scores["micro_f1"].value
    assert judged.all_tags_f1 == pytest.approx(micro * (both - 2) / (both + 20))
    assert judged.all_tags_f1 < judged.scores["micro_f1"].value
    assert judged.sampled(40).n_other_tags == pytest.approx(11)


def test_without_such_tags_nothing_is_said_of_them(good):
    judged = judged_left_out(good)
    assert judged.other_tags_told == ""
    assert judged.all_tags_f1 == pytest.approx(judged.scores["micro_f1"].value)


def test_evaluate_prints_the_most_frequent_labels_and_says_how_many_are_left(
    files, command, monkeypatch
):
    monkeypatch.setattr("labelcover.cli._model_commands.MOST_LABELS", 3)
    printed = command("evaluate", *files)[1]
    assert printed.splitlines()[-1] == "… and 1 labels of fewer rows, which --json has."


def test_the_threshold_of_the_command_cuts_probabilities(files, command, tmp_path):
    out, page = tmp_path / "out.csv", tmp_path / "page.html"
    code, _, err = command("predict", *files, "--threshold", "0.8", "-o", out)
    assert code == 0, err
    with out.open(newline="") as file:
        lines = list(csv.DictReader(file))
    cells = [
        (line[name], float(line[f"probability of {name}"])) for line in lines for name in LABELS
    ]
    assert {said for said, p in cells if p >= 0.8} == {"1"}
    assert {said for said, p in cells if p < 0.8} == {"0"}
    told = json.loads(command("evaluate", *files, "--threshold", "0.8", "--json")[1])
    assert told["threshold"] == 0.8
    assert sum(line["predicted"] for line in told["labels"]) == sum(
        said == "1" for said, _ in cells
    )
    code, printed, err = command("report", *files, "--threshold", "0.8", "-o", page, "--json")
    assert code == 0, err
    assert json.loads(printed)["micro-F1"] == pytest.approx(told["micro_f1"], abs=1e-4)
    assert f"labelcover predict {files[0]} new.csv --threshold <span" in page.read_text("utf-8")


@pytest.mark.parametrize("name", ["predict", "evaluate", "report"])
@pytest.mark.parametrize("value", ["1.5", "-0.1", "nan"])
def test_a_threshold_that_is_no_probability_is_refused(files, command, tmp_path, name, value):
    words = [] if name == "evaluate" else ["-o", tmp_path / "out"]
    code, _, err = command(name, *files, f"--threshold={value}", *words)
    assert code == 2
    assert f"--threshold must be a number at least 0.0 and at most 1.0, got {float(value)}" in (
        err.replace("least 0 ", "least 0.0 ").replace("most 1,", "most 1.0,")
    )


def test_a_threshold_is_not_given_with_another_decision(files, command, tmp_path):
    words = ["predict", *files, "-o", tmp_path / "out.csv", "--threshold", "0.5"]
    code, _, err = command(*words, "--decide", "macro_f1")
    assert code == 2
    assert "--threshold 0.5 and --decide macro_f1 are two ways to decide, expected one" in err
    code, _, err = command(*words, "--why", "2")  # reasons are told of whatever is decided
    assert code == 0, err


def with_unknown(dataset, share=0.4, seed=0):
    """The same rows, of which some labels are not known; and which are known."""
    known = np.random.default_rng(seed).random(dataset.Y.shape) >= share
    return replace(dataset, Y=np.where(known, dataset.Y, np.float32(np.nan))), known


@pytest.mark.parametrize("threshold", [None, 0.4])
def test_unknown_labels_of_test_rows_are_not_judged(good, threshold):
    whole = rows(1, informative=True)
    dataset, known = with_unknown(whole)
    judged = judged_on(good, dataset, threshold=threshold)
    every = judged_on(good, whole, threshold=threshold)
    np.testing.assert_array_equal(judged.known, known)
    np.testing.assert_array_equal(judged.Y, np.where(known, whole.Y, 0))
    hits = (known & (every.Y == 1) & (every.predicted == 1)).sum()
    size = (known & (every.Y == 1)).sum() + (known & (every.predicted == 1)).sum()
    assert judged.scores["micro_f1"].value == pytest.approx(2 * hits / size)
    assert judged.verdict.said == "better than chance"
    said = f"{1 - known.mean():.0%} of the labels of these rows are not known"
    assert any(text.startswith(said) for text in judged.told)
    assert judged.all_tags_f1 == judged.scores["micro_f1"].value


def test_counts_of_labels_are_of_known_cells(good):
    whole = rows(1, informative=True)
    dataset, known = with_unknown(whole)
    judged, every = judged_on(good, dataset), judged_on(good, whole)
    for j, line in enumerate(judged.label_lines(range(4))):
        own = known[:, j]
        y, guess = whole.Y[own, j], every.predicted[own, j]
        assert (line.known, line.support, line.predicted) == (own.sum(), y.sum(), guess.sum())
        assert line.precision == pytest.approx((y & guess).sum() / guess.sum())
        assert line.always_f1 == pytest.approx(2 * y.sum() / (y.sum() + own.sum()))
        true, false = judged.counts([j])
        assert (sum(true), sum(false)) == (y.sum(), own.sum() - y.sum())
        assert sum(count for *_, count in judged.reliability([j])) == own.sum()
    cells = {(each.row, each.label) for row in judged.mistakes(240, 4) for each in row}
    wrong = np.argwhere(known & (every.predicted != whole.Y))
    assert cells == set(map(tuple, wrong.tolist()))
    some = judged.sampled(50)
    np.testing.assert_array_equal(some.known, known[some.rows])
    assert [line.known for line in every.label_lines([0, 1])] == [240, 240]


def test_a_label_that_is_never_known_has_no_measure(good):
    dataset, known = with_unknown(rows(1, informative=True))
    known[:, 2] = False
    judged = judged_on(good, replace(dataset, Y=np.where(known, dataset.Y, np.nan)))
    line = judged.label_lines([2])[0]
    assert (line.known, line.support) == (0, 0)
    assert np.isnan([line.f1, line.calibration_error, line.average_precision]).all()
    assert np.isfinite([score.value for score in judged.scores.values()]).all()
