"""The commands as a user runs them: train, predict, evaluate, compare, datasets."""

import csv
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skops.io

from labelcover import LabelCoverClassifier, cli
from labelcover._files import locked
from labelcover.datasets import DataError, read_csv
from labelcover.experiments.named_methods import MEMBERS, METHODS, named_method
from labelcover.experiments.results import COLUMNS
from labelcover.models import FORMAT, fit_model, is_trusted, load_model, save_model

COMMAND = Path(sys.executable).with_name("labelcover")
HEADER = "@relation 'toy: -C 1'\n@attribute l {0,1}\n@attribute a numeric\n@attribute b numeric\n"


def run(*words):
    """Run the command in a process of its own."""
    words = [COMMAND, *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV file with three labels that follow from the features."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5))
    noise = random.normal(size=(120, 3)) * 0.3
    Y = (X[:, :3] + X[:, 1:4] * 0.5 + noise > 0.2).astype(int)
    path = tmp_path_factory.mktemp("table") / "songs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*"abcde", "mood:calm", "mood:sad, or blue", "mood:loud"])
        writer.writerows([*x, *y] for x, y in zip(X.tolist(), Y.tolist(), strict=True))
    return path


@pytest.fixture(scope="module")
def model_file(table):
    dataset = read_csv(table, label_prefix="mood:")
    model = fit_model(LabelCoverClassifier(k=2, random_state=0), dataset)
    path = table.with_name("ready.skops")
    save_model(model, path)
    return path


def test_saved_model_predicts_exactly_as_the_one_in_memory(table, tmp_path, command):
    """Training from a CSV and predicting in a new process gives the very same probabilities."""
    model, out = tmp_path / "model.skops", tmp_path / "out.csv"
    words = ["train", table, "--label-prefix", "mood:", "-k", "2", "-o", model, "--json"]
    code, printed, errors = command(*words)
    assert code == 0, errors
    assert json.loads(printed)["labels"] == 3
    predicted = run("predict", model, table, "-o", out)
    assert predicted.returncode == 0, predicted.stderr
    dataset = read_csv(table, label_prefix="mood:")
    here = LabelCoverClassifier(k=2, random_state=0).fit(dataset.X, dataset.Y)
    with out.open(newline="") as file:
        rows = list(csv.reader(file))
    names = dataset.label_names
    assert rows[0] == ["row", *names, *(f"probability of {name}" for name in names)]
    written = np.array(rows[1:], dtype=float)
    np.testing.assert_array_equal(written[:, 0], 1 + np.arange(len(dataset.Y)))
    np.testing.assert_array_equal(written[:, 4:], here.predict_proba(dataset.X))
    np.testing.assert_array_equal(written[:, 1:4], here.predict(dataset.X))


def test_columns_of_a_new_file_are_found_by_name(table, model_file, tmp_path, command):
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    shuffled = tmp_path / "shuffled.csv"
    with shuffled.open("w", newline="") as file:
        order = [4, 2, 0, 1, 3]
        csv.writer(file).writerows(
            [f"note {i}", *(row[j] for j in order)] for i, row in enumerate(rows)
        )
    out, expected = tmp_path / "out.csv", tmp_path / "expected.csv"
    assert command("predict", model_file, shuffled, "-o", out)[0] == 0
    assert command("predict", model_file, table, "-o", expected)[0] == 0
    assert out.read_bytes() == expected.read_bytes()


def test_evaluate_measures_the_saved_model(table, model_file, command):
    code, printed, _ = command("evaluate", model_file, table, "--json")
    assert code == 0
    scores = json.loads(printed)
    assert scores["micro_f1"] > 0.7
    assert set(scores["label_f1"]) == {"mood:calm", "mood:sad, or blue", "mood:loud"}
    code, printed, _ = command("evaluate", model_file, table)
    assert code == 0
    assert "micro_f1" in printed


def test_datasets_are_listed(command):
    code, printed, _ = command("datasets", "--json")
    assert code == 0
    lines = {line["name"]: line for line in json.loads(printed)}
    assert lines["debtags"]["here"] is True
    assert lines["delicious"]["labels"] == 983
    assert "debtags-words" in command("datasets")[1]


def test_compare_writes_results_and_a_report_and_resumes(table, tmp_path, command):
    out = tmp_path / "comparison"
    words = ["compare", table, "--label-prefix", "mood:", "-k", "2", "--n-folds", "3", "-o", out]
    code, printed, errors = command(*words, "--methods", "RAKEL,LabelCover")
    assert code == 0, errors
    assert "micro-F1" in printed
    assert "LabelCover" in printed
    before = (out / "results.csv").read_bytes()
    assert before.decode().splitlines()[0] == ",".join(COLUMNS)
    assert len(before.splitlines()) == 7
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "songs" in page
    assert "mood:sad, or blue" in page
    code, printed, _ = command(*words, "--methods", "RAKEL,LabelCover", "--json")
    assert code == 0
    assert (out / "results.csv").read_bytes() == before
    outcome = json.loads(printed)
    assert {line["method"] for line in outcome["summary"]} == {"RAKEL", "LabelCover"}
    assert set(outcome["ranking"]["ranks"]) == {"RAKEL", "LabelCover"}


def test_compare_takes_in_another_results_file(table, tmp_path, command):
    words = ["compare", table, "--label-prefix", "mood:", "-k", "2", "--n-folds", "2"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert command(*words, "--methods", "RAKEL", "-o", first)[0] == 0
    joined = [*words, "--methods", "LabelCover", "-o", second, "--join", first / "results.csv"]
    code, printed, _ = command(*joined, "--json")
    assert code == 0
    assert {line["method"] for line in json.loads(printed)["summary"]} == {"RAKEL", "LabelCover"}


def test_several_k_and_a_given_size_are_compared_in_one_run_against_a_control(
    table, tmp_path, command
):
    out = tmp_path / "comparison"
    words = ["compare", table, "--label-prefix", "mood:", "-k", "1,2", "--size", "3", "-o", out]
    words += ["--methods", "BALCO,INLAC,BR", "--n-folds", "3", "--control", "BALCO k=1"]
    code, printed, errors = command(*words, "--json")
    assert code == 0, errors
    outcome = json.loads(printed)
    names = ["BALCO k=1", "BALCO k=2", "INLAC k=1", "INLAC k=2", "BR"]
    assert [line["method"] for line in outcome["summary"]] == names
    sizes = [line["mean_size"] for line in outcome["summary"]]
    assert sizes == [3, 3, 3, 3, 3]
    assert outcome["ranking"]["control"] == "BALCO k=1"
    assert set(outcome["ranking"]["bonferroni_dunn_p"]) == set(names) - {"BALCO k=1"}
    printed = command(*words)[1]
    assert "Against BALCO k=1 (Bonferroni–Dunn test at the 5 % level)" in printed
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Against BALCO k=1 (Bonferroni–Dunn test at the 5 % level)" in page


def test_another_drop_is_compared_anew_and_said_so(table, tmp_path, command, command_that_warns):
    """The data set has the same name and the methods the same parameters, but X is another."""
    words = ["compare", table, "--label-prefix", "mood:", "-k", "2", "--n-folds", "3", "--json"]
    words += ["--methods", "LabelCover"]
    old, new = tmp_path / "old", tmp_path / "new"
    before = json.loads(command(*words, "-o", old)[1])["summary"]
    expected = json.loads(command(*words, "-o", new, "--drop", "b,c")[1])["summary"]
    code, printed, errors = command_that_warns(*words, "-o", old, "--drop", "b,c")
    assert code == 0
    (line,) = json.loads(printed)["summary"]
    assert line["mean_micro_f1"] == expected[0]["mean_micro_f1"] < before[0]["mean_micro_f1"]
    message = f"labelcover: warning: {old / 'results.csv'}: data set 'songs' changed"
    assert errors.startswith(message)
    assert errors.count("\n") == 1
    assert len((old / "results-outdated.csv").read_text().splitlines()) == 1 + 3


def test_a_second_comparison_in_a_folder_is_refused_with_its_name(table, tmp_path, command):
    out = tmp_path / "comparison"
    out.mkdir()
    words = ["compare", table, "--label-prefix", "mood:", "-k", "2", "--methods", "RAKEL"]
    with locked(out / "results.csv"):
        done = run(*words, "-o", out)
    assert done.returncode == 2
    assert done.stderr.startswith(f"labelcover: {out}: another process is writing results.csv")
    assert done.stderr.count("\n") == 1
    assert command(*words, "-o", out)[0] == 0


@pytest.mark.parametrize(
    ("name", "member"), [*((name, MEMBERS[0]) for name in METHODS), *(("BR", m) for m in MEMBERS)]
)
def test_every_method_and_member_that_is_offered_exists(table, name, member):
    dataset = read_csv(table, label_prefix="mood:")
    model = named_method(name, k=2, member=member)(dataset).set_params(random_state=0)
    assert model.fit(dataset.X, dataset.Y).predict(dataset.X).shape == (120, 3)


def test_the_help_lists_the_methods_that_exist(command):
    for words in (["train", "--help"], ["compare", "--help"]):
        shown = "".join(command(*words)[1].split()).replace("│", "")
        assert ",".join(METHODS) in shown


def test_more_labels_in_a_labelset_than_there_are_is_a_warning(table, tmp_path, command_that_warns):
    dataset = read_csv(table, label_prefix="mood:")
    message = r"k=5 is larger than the number of labels of data set 'songs', which is 3; k=3 and r"
    with pytest.warns(UserWarning, match=message):
        model = named_method("BALANCOR", k=5, r=4)(dataset)
    assert (model.k, model.r) == (3, 3)
    words = ["train", table, "--label-prefix", "mood:", "-k", "5", "-o", tmp_path / "m.skops"]
    code, _, errors = command_that_warns(*words)
    assert code == 0
    assert errors.startswith("labelcover: warning: k=5 is larger than the number of labels")
    assert errors.count("warning") == 1


# What is wrong, and the line that the user gets. A file "x.xml" lies beside the ARFF file.
BAD_FILES = {
    "truncated ARFF": ("x.arff", HEADER + "@data\n1,2,3\n0,4\n", r"x.arff:7: 2 values, expected 3"),
    "sparse index out of range": (
        "x.arff",
        HEADER + "@data\n{0 1}\n{1 2,7 1}\n",
        "x.arff:7: index 7 is out of range, expected 0 to 2",
    ),
    "label missing": (
        "x.xml",
        '<labels>\n<label name="nowhere"></label>\n</labels>',
        "x.xml:2: label 'nowhere' is not in x.arff, expected an attribute of that name",
    ),
    "XML entity bomb": (
        "x.xml",
        '<!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><labels><label name="&b;"/></labels>',
        "x.xml: declares an XML entity",
    ),
    "duplicate column": ("x.csv", "a,a,l\n1,2,0\n", "x.csv:1: column 'a' is there twice, expected"),
    "binary file": ("x.csv", "\x00\x01\x02", "x.csv:1: not a text file, expected CSV"),
    "a label that is neither 0 nor 1": (
        "x.csv",
        "a,b,l\n1,2,0\n1,3,maybe\n",
        "x.csv:3: label 'l' is maybe, expected 0 or 1",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_one_clear_line_and_touches_nothing(tmp_path, monkeypatch, command, case):
    name, text, message = BAD_FILES[case]
    (tmp_path / "x.arff").write_text(HEADER + "@data\n1,2,3\n0,4,5\n")
    (tmp_path / name).write_text(text)
    (tmp_path / "model.skops").write_text("precious")
    data = "x.csv" if name == "x.csv" else "x.arff"
    labels = ["--labels", "l"] if name == "x.csv" else []
    labels = ["--labels", "x.xml"] if name == "x.xml" else labels
    monkeypatch.chdir(tmp_path)
    code, printed, errors = command("train", data, *labels, "-o", "model.skops")
    assert code == 2
    assert printed == ""
    assert errors.count("\n") == 1
    assert errors.startswith(f"labelcover: {message}")
    assert (tmp_path / "model.skops").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"x.arff", name, "model.skops"}


class Evil:
    """What a hostile file would like to have called."""

    def __reduce__(self):
        return print, ("owned",)


def test_a_model_from_elsewhere_is_refused_unread(tmp_path, monkeypatch, command, table):
    (tmp_path / "pickle.skops").write_bytes(pickle.dumps(Evil()))
    (tmp_path / "out.csv").write_text("precious")
    monkeypatch.chdir(tmp_path)
    code, printed, errors = command("predict", "pickle.skops", table, "-o", "out.csv")
    assert code == 2
    assert printed == ""
    assert errors == (
        "labelcover: pickle.skops: not a model, expected a file written by labelcover train.\n"
    )
    assert (tmp_path / "out.csv").read_text() == "precious"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"format": FORMAT, "estimator": np.sum},
            "of the type numpy.sum, which is n",
        ),
        ({"estimator": cli.main}, "of the type labelcover.cli.main, which is not trusted"),
        ({"estimator": 1}, "not a labelcover model, expected the format"),
        ([1, 2], "not a labelcover model, expected the format"),
    ],
)
def test_an_archive_with_other_things_is_refused(tmp_path, content, message):
    skops.io.dump(content, tmp_path / "other.skops")
    with pytest.raises(DataError, match=f"other.skops: .*{message}"):
        load_model(tmp_path / "other.skops")


def test_only_classes_of_labelcover_are_trusted():
    assert is_trusted("labelcover.covers._cover.Cover")
    assert is_trusted("labelcover.ensemble._label_cover.LabelCoverClassifier")
    assert not is_trusted("labelcover.cli.main")
    assert not is_trusted("labelcover.models.Path")
    assert not is_trusted("labelcover.nowhere.Thing")
    assert not is_trusted("builtins.eval")
    assert not is_trusted("labelcovers.evil.Thing")


def test_a_damaged_model_is_refused(model_file, tmp_path):
    whole = model_file.read_bytes()
    damaged = tmp_path / "damaged.skops"
    damaged.write_bytes(whole[: len(whole) // 2] + b"\0" * 200 + whole[len(whole) // 2 + 200 :])
    with pytest.raises(ValueError, match=r"damaged.skops: (damaged|not a model)"):
        load_model(damaged)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "nothing.csv", "--labels", "l", "-o", "m"], "nothing.csv: No such file"),
        (["train", "debtags", "-o", "no/where/m.skops"], "--output must lie in a folder"),
        (
            ["train", "debtags", "--method", "MAGIC", "-o", "m"],
            "method must be one of 'RAKEL', 'RAKEL++'",
        ),
        (
            ["train", "debtags", "--member", "oak", "-o", "m"],
            "member must be one of 'auto', 'least-squares'",
        ),
        (["compare", "debtags", "--methods", "RAKEL,X", "-o", "c"], "method must be one of"),
        (
            ["compare", "debtags", "--methods", "RAKEL", "--seeds", "a", "-o", "c"],
            "--seeds must be comma-separated integers",
        ),
        (
            ["compare", "debtags", "--methods", "RAKEL", "--folds", "own", "-o", "c"],
            "'debtags' has no split of its own",
        ),
        (["predict", "nothing.skops", "x.csv", "-o", "o"], "nothing.skops: No such file"),
        (
            ["train", "debtags", "-k", "2", "-r", "3", "-o", "m"],
            "r must be at most k, got r=3 and k=2",
        ),
        (["train", "debtags", "-k", "1", "-r", "2", "-o", "m"], "got r=2 and k=1"),
        (
            ["compare", "debtags", "-k", "3", "-r", "4", "-o", "c"],
            "r must be at most k, got r=4 and k=3",
        ),
        (
            ["compare", "debtags", "-k", "three", "-o", "c"],
            "-k must be comma-separated integers, got 'three'",
        ),
        (
            ["compare", "debtags", "--size", "all", "-o", "c"],
            "--size must be an integer or 'paper', got 'all'",
        ),
        (["compare", "debtags", "--size", "0", "-o", "c"], "size must be an integer of at least 1"),
        (
            ["compare", "debtags", "--threshold", "loo", "-o", "c"],
            "threshold must be one of 'auto', 'cv', got 'loo'",
        ),
        (
            ["compare", "debtags", "--methods", "BR,BALCO", "--control", "RAKEL", "-o", "c"],
            "control must be one of 'BR', 'BALCO', got 'RAKEL'",
        ),
        (["paper", "table5", "-o", "p"], "part must be one of 'table6', 'table7', 'table8'"),
        (["paper", "table7", "--datasets", "debtags", "-o", "p"], "datasets must be one of"),
        (["paper", "table7", "--folds", "1", "-o", "p"], "n_folds must be an integer of at least"),
    ],
)
def test_a_wrong_command_line_is_one_clear_line(tmp_path, monkeypatch, command, words, message):
    monkeypatch.chdir(tmp_path)
    code, printed, errors = command(*words)
    assert code == 2
    assert printed == ""
    assert errors.count("\n") == 1
    assert message in errors
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_the_paper_is_printed_and_written(shared_data, tmp_path, command):
    words = ["paper", "table6", "--datasets", "emotions,genbase", "-o", tmp_path / "paper"]
    code, printed, errors = command(*words)
    assert code == 0, errors
    assert "genbase" in printed
    assert "1186" in printed
    assert {path.name for path in (tmp_path / "paper").iterdir()} == {"table6.md", "table6.html"}


@pytest.mark.parametrize("name", ["train", "predict", "evaluate", "compare", "paper", "datasets"])
def test_help_has_an_example(command, name):
    code, printed, _ = command(name, "--help")
    assert code == 0
    assert f"Example: labelcover {name}" in " ".join(printed.split())


def test_a_file_with_other_nominal_values_than_in_training_is_refused(tmp_path, command):
    text = "@relation 'r: -C 1'\n@attribute l {0,1}\n@attribute c {red,green}\n@attribute x real\n"
    rows = "@data\n" + "1,red,3\n0,green,4\n" * 10
    (tmp_path / "a.arff").write_text(text + rows)
    (tmp_path / "b.arff").write_text(text.replace("red,green", "green,red") + rows)
    model = tmp_path / "m.skops"
    assert (
        command("train", tmp_path / "a.arff", "-k", "1", "--method", "RAKEL", "-o", model)[0] == 0
    )
    code, _, errors = command("predict", model, tmp_path / "b.arff", "-o", tmp_path / "o.csv")
    assert code == 2
    assert "attribute 'c' is declared differently than in training, expected {red,green}" in errors
    assert command("predict", model, tmp_path / "a.arff", "-o", tmp_path / "o.csv")[0] == 0
