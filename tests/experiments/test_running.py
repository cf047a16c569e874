"""Runs are written row by row, resumed after a kill, and survive methods that fail."""

import csv
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelcover import RakelClassifier, __version__
from labelcover.covers import Cover
from labelcover.datasets import DataError, Dataset, load, read_table
from labelcover.experiments._folds import make_folds
from labelcover.experiments._running import cover_file, run
from labelcover.experiments.results import (
    COLUMNS,
    MEASURED,
    ResultsFile,
    read_results,
)

# The random labelsets of these small runs leave labels out, which estimators warn of.
pytestmark = pytest.mark.filterwarnings("ignore:cover leaves out")

# A real run in a process of its own: 2 methods × 12 folds on a part of debtags.
SCRIPT = """
import time
from dataclasses import replace
from sklearn.tree import DecisionTreeClassifier
from labelcover import RakelClassifier
from labelcover.datasets import load
from labelcover.experiments._running import run
full = load("debtags-words")
part = replace(full, X=full.X[:400], Y=full.Y[:400])
tree = DecisionTreeClassifier(max_depth=5, random_state=0)
class Rakel(RakelClassifier):
    if SLOW:
        def fit(self, X, Y):
            time.sleep(600)
methods = {"small": Rakel(tree, size=6), "large": Rakel(tree, size=12)}
run(methods, [part], PATH, n_folds=12)
"""


@pytest.fixture(scope="module")
def part():
    full = load("debtags-words")
    return Dataset(
        "part",
        full.X[:120],
        full.Y[:120, :5],
        full.feature_names,
        full.label_names[:5],
        full.categorical,
        np.arange(80),
        np.arange(80, 120),
    )


def rakel(**parameters):
    return RakelClassifier(DecisionTreeClassifier(max_depth=3), **parameters)


class Broken(BaseEstimator):
    """A method that cannot do its job."""

    def fit(self, X, Y):
        raise RuntimeError("out of luck\nand more")


def start(path, *, slow=False, **streams):
    """Start the script in another process; if it is slow, its first fit takes ten minutes."""
    text = f"PATH, SLOW = {str(path)!r}, {slow}\n{SCRIPT}"
    return subprocess.Popen([sys.executable, "-c", text], **streams)


def wait_for_lines(process, path, count):
    """Wait until a run has written so many lines."""
    deadline = time.monotonic() + 240
    while not path.exists() or len(path.read_bytes().splitlines()) < count:
        assert time.monotonic() < deadline, "the run wrote nothing"
        assert process.poll() is None, "the run ended too early"
        time.sleep(0.005)


def repeatable(path):
    return read_results(path).drop(columns=list(MEASURED))


def test_a_run_killed_in_the_middle_resumes_to_the_same_results(tmp_path):
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    exec(SCRIPT, {"PATH": whole, "SLOW": False, "__name__": "__main__"})
    process = start(killed)
    wait_for_lines(process, killed, 4)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(timeout=30) == -signal.SIGKILL
    before = len(killed.read_bytes().splitlines())
    assert 4 <= before < 25
    exec(SCRIPT, {"PATH": killed, "SLOW": False, "__name__": "__main__"})
    assert repeatable(killed).equals(repeatable(whole))
    assert len(repeatable(whole)) == 24


def test_a_line_cut_in_two_is_done_again(tmp_path, part):
    path = tmp_path / "r.csv"
    run({"a": rakel(size=3)}, [part], path, n_folds=3)
    before = repeatable(path)
    path.write_bytes(path.read_bytes()[:-40])
    run({"a": rakel(size=3)}, [part], path, n_folds=3)
    assert repeatable(path).equals(before)


def test_a_finished_run_does_nothing_and_more_methods_add_only_theirs(tmp_path, part):
    path = tmp_path / "r.csv"
    run({"a": rakel(size=3)}, [part], path, n_folds=3)
    before = path.read_bytes()
    run({"a": rakel(size=3)}, [part], path, n_folds=3)
    assert path.read_bytes() == before
    run({"a": rakel(size=3), "b": rakel(size=4)}, [part], path, n_folds=3, seeds=[0, 1])
    assert path.read_bytes().startswith(before)
    counts = read_results(path).groupby(["method", "seed"]).size()
    assert counts.to_dict() == {("a", 0): 3, ("a", 1): 3, ("b", 0): 3, ("b", 1): 3}


def test_a_data_set_named_like_a_formula_is_guarded_and_found_again(tmp_path, part):
    path, named = tmp_path / "r.csv", replace(part, name="=1+1")
    run({"a": rakel(size=3)}, [named], path, n_folds=2)
    written = path.read_text()
    assert "\n'=1+1," in written
    assert set(read_results(path)["dataset"]) == {"=1+1"}
    run({"a": rakel(size=3)}, [named], path, n_folds=2)
    assert path.read_text() == written


def test_other_parameters_are_computed_again_and_the_old_lines_set_aside(tmp_path, part):
    path = tmp_path / "r.csv"
    run({"a": rakel(size=3), "b": rakel(size=5)}, [part], path, n_folds=2)
    with pytest.warns(UserWarning, match=r"r\.csv: method 'a' on 'part' changed .*2 outdated"):
        run({"a": rakel(size=4)}, [part], path, n_folds=2, seeds=[1])
    assert read_results(path)[["method", "seed", "size"]].to_numpy().tolist() == [
        ["b", 0, 5],
        ["b", 0, 5],
        ["a", 1, 4],
        ["a", 1, 4],
    ]
    assert read_results(tmp_path / "r-outdated.csv")["size"].tolist() == [3, 3]


def test_another_cover_of_the_same_shape_is_computed_again(tmp_path, part):
    """Both covers have the same repr, as has every cover of their shape."""
    one = Cover([[0, 1], [2, 3], [3, 4]], n_labels=5)
    other = Cover([[0, 2], [1, 4], [3, 4]], n_labels=5)
    path = tmp_path / "r.csv"
    run({"a": rakel(cover=one)}, [part], path, n_folds=2)
    with pytest.warns(UserWarning, match="method 'a' on 'part' changed"):
        run({"a": rakel(cover=other)}, [part], path, n_folds=2)
    fresh = tmp_path / "fresh.csv"
    run({"a": rakel(cover=other)}, [part], fresh, n_folds=2)
    assert repeatable(path).equals(repeatable(fresh))


def test_changed_data_of_the_same_name_are_computed_again(tmp_path, part):
    path, fresh = tmp_path / "r.csv", tmp_path / "fresh.csv"
    changed = replace(part, Y=np.roll(part.Y, 1, axis=0))
    run({"a": rakel(size=3), "b": rakel(size=4)}, [part], path, n_folds=2)
    with pytest.warns(UserWarning, match=r"r\.csv: data set 'part' changed .*4 outdated lines"):
        run({"a": rakel(size=3)}, [changed], path, n_folds=2)
    run({"a": rakel(size=3)}, [changed], fresh, n_folds=2)
    assert repeatable(path).equals(repeatable(fresh)), "b, on the old data, is no longer compared"


def test_a_changed_file_of_folds_is_computed_again(tmp_path, part):
    path, folds = tmp_path / "r.csv", tmp_path / "folds.csv"
    for shift in (0, 1):
        folds.write_text("".join(f"{(row + shift) // 60 % 2},{row}\n" for row in range(120)))
        if shift == 0:
            run({"a": rakel(size=3)}, [part], path, folds=str(folds))
        else:
            with pytest.warns(UserWarning, match=r"fold 0 of 'folds\.csv' on 'part'"):
                run({"a": rakel(size=3)}, [part], path, folds=str(folds))
    assert len(read_results(path)) == 2


def test_results_of_different_data_are_not_joined(tmp_path, part):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    run({"x": rakel(size=3)}, [part], a, n_folds=2)
    run({"y": rakel(size=3)}, [replace(part, X=part.X + 1)], b, n_folds=2)
    with pytest.raises(DataError, match=r"b\.csv: data set 'part' has the fingerprint"):
        read_results(a, b)


def test_results_without_fingerprints_are_refused_and_kept(tmp_path, part):
    path = tmp_path / "r.csv"
    run({"a": rakel(size=3)}, [part], path, n_folds=2)
    frame = read_results(path).drop(columns=[c for c in COLUMNS if c.endswith("_fingerprint")])
    frame.to_csv(path, index=False)
    before = path.read_bytes()
    message = r"r\.csv:1: results of another version of labelcover, without data_fingerprint, "
    with pytest.raises(DataError, match=message):
        run({"a": rakel(size=3)}, [part], path, n_folds=2)
    assert path.read_bytes() == before


def test_two_processes_do_not_write_one_file(tmp_path, part):
    path = tmp_path / "r.csv"
    first = start(path, slow=True)
    try:
        wait_for_lines(first, path, 1)
        with pytest.raises(BlockingIOError, match=r"another process is writing r\.csv") as caught:
            run({"a": rakel(size=3)}, [part], path)
        assert caught.value.filename == str(tmp_path)
        second = start(path, stderr=subprocess.PIPE)
        assert b"another process is writing r.csv" in second.communicate(timeout=240)[1]
        assert second.returncode == 1
        assert first.poll() is None, "the first run goes on"
    finally:
        first.kill()
        first.wait(timeout=30)
    run({"a": rakel(size=3)}, [part], path, n_folds=2)
    assert "a" in set(read_results(path)["method"]), "a killed process leaves no lock behind"


def test_a_method_that_fails_is_recorded_and_the_rest_goes_on(tmp_path, part):
    path = tmp_path / "r.csv"

    def impossible(dataset):
        raise ValueError(f"{dataset.name} is too small")

    methods = {"broken": Broken(), "impossible": impossible, "good": rakel(size=3)}
    run(methods, [part], path, n_folds=2)
    frame = read_results(path)
    errors = frame.groupby("method")["error"].first()
    assert errors["broken"] == "RuntimeError: out of luck"
    assert errors["impossible"] == "ValueError: part is too small"
    assert errors["good"] == ""
    good = frame[frame["method"] == "good"]
    assert good["micro_f1"].between(0, 1).all()
    assert (good["fit_seconds"] > 0).all()
    assert (good["peak_mb"].dropna() > 1).all()
    assert frame[frame["method"] == "broken"]["micro_f1"].isna().all()


def test_methods_of_scikit_learn_are_measured_with_or_without_probabilities(tmp_path, part):
    methods = {
        "neighbours": KNeighborsClassifier(),
        "hinge": MultiOutputClassifier(LinearSVC(random_state=0)),
    }
    run(methods, [part], tmp_path / "r.csv", n_folds=2)
    frame = read_results(tmp_path / "r.csv").set_index("method")
    assert (frame["error"] == "").all()
    assert frame.loc["neighbours", "average_precision"].between(0.3, 1).all()
    assert frame.loc["hinge", "average_precision"].isna().all()
    assert frame.loc["hinge", "micro_f1"].between(0.3, 1).all()


def test_two_runs_are_joined_and_disagreement_is_noticed(tmp_path, part):
    a, b, both = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "both.csv"
    run({"x": rakel(size=3)}, [part], a, n_folds=2)
    run({"x": rakel(size=3), "y": rakel(size=4)}, [part], b, n_folds=2)
    with ResultsFile(both) as joined:
        joined.join([a, b])
    assert repeatable(both)["method"].tolist() == ["x", "x", "y", "y"]
    run({"x": rakel(size=3), "y": rakel(size=4)}, [part], both, n_folds=2)
    assert len(read_results(both)) == 4, "a joined file can be resumed"
    b.write_text(b.read_text().replace(",80,", ",81,").replace(",60,60,", ",61,59,"))
    with pytest.raises(DataError, match="differs from another file"):
        read_results(a, b)


def test_fits_at_the_same_time_give_the_same_file(tmp_path, part):
    methods = {"a": rakel(size=3), "b": rakel(size=5), "broken": Broken()}
    run(methods, [part], tmp_path / "one.csv", n_folds=3)
    run(methods, [part], tmp_path / "two.csv", n_folds=3, n_jobs=2, covers=tmp_path / "covers")
    assert repeatable(tmp_path / "two.csv").equals(repeatable(tmp_path / "one.csv"))
    assert len(Cover.load(cover_file(tmp_path / "covers", "part", "b"))) == 5
    run(methods, [part], tmp_path / "two.csv", n_folds=3, n_jobs=2)


def test_own_split_is_one_fold(tmp_path, part):
    run({"x": rakel(size=3)}, [part], tmp_path / "r.csv", folds="own")
    frame = read_results(tmp_path / "r.csv")
    assert frame[["n_train", "n_test", "folds"]].to_numpy().tolist() == [[80, 40, "own"]]


def test_results_of_another_version_are_kept_with_a_warning(tmp_path, part):
    path = tmp_path / "r.csv"
    run({"a": rakel(size=3)}, [part], path, n_folds=2)
    path.write_text(path.read_text().replace(f",{__version__},", ",0.0.9,"))
    with pytest.warns(UserWarning, match=r"r\.csv has results of labelcover 0\.0\.9"):
        run({"a": rakel(size=3), "b": rakel(size=4)}, [part], path, n_folds=2)
    versions = read_results(path).groupby("method")["version"].unique()
    assert versions.to_dict() == {"a": ["0.0.9"], "b": [__version__]}


def test_a_file_that_is_no_results_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"r.csv:1: not a results file"), ResultsFile(path):
        pass
    assert path.read_text() == "a,b\n1,2\n"


def test_a_file_from_before_the_time_of_design_is_read_and_goes_on(tmp_path, part):
    path, old = tmp_path / "r.csv", tmp_path / "old.csv"
    run({"a": rakel(size=3)}, [part], path, n_folds=2)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with old.open("w", newline="") as file:
        columns = [c for c in COLUMNS if c != "design_seconds"]
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    assert read_results(old)["design_seconds"].isna().all()
    assert repeatable(old).equals(repeatable(path))
    run({"a": rakel(size=3), "b": rakel(size=4)}, [part], old, n_folds=2)
    frame = read_results(old)
    assert frame["method"].tolist() == ["a", "a", "b", "b"]
    assert frame["design_seconds"].isna().tolist() == [True, True, False, False]
    assert (frame["fit_seconds"] > 0).all()


class Recorder(BaseEstimator):
    """Keeps the tables that it is given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, Y):
        Recorder.seen.append(X)
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        Recorder.seen.append(X)
        return np.zeros((X.shape[0], self.n_labels_), dtype=int)


class RecordingRakel(RakelClassifier):
    encoders: list = []  # noqa: RUF012

    def fit(self, X, Y):
        super().fit(X, Y)
        self.encoders.append(self._coding)
        return self


def test_a_table_is_encoded_in_each_fold_by_its_training_rows(tmp_path):
    """Words were counted, medians taken and categories found in all rows before folds were made."""
    lines = [f"printer of room{i // 2};{i},5;a" for i in range(12)]
    lines += [f"password of user{i // 2};{i * i};b,c" for i in range(12)]
    (tmp_path / "tickets.csv").write_text("subject;hours;tags\n" + "\n".join(lines))
    data = read_table(tmp_path / "tickets.csv", tags="tags", separator=",", text=["subject"])
    methods = {"own": Recorder(), "rakel": RecordingRakel(size=2, k=2)}
    Recorder.seen.clear()
    RecordingRakel.encoders.clear()
    run(methods, [data], tmp_path / "r.csv", n_folds=3, verbose=False)
    assert read_results(tmp_path / "r.csv")["error"].tolist() == [""] * 6
    folds = make_folds(data, n_folds=3)
    vocabularies = []
    # Each fit is followed by one on a part of the rows, on which the threshold is tuned.
    for encoder, fold in zip(RecordingRakel.encoders[::2], folds, strict=True):
        (text,) = (made for made in encoder.encoders if made.name == "subject")
        rows = [f" {lines[i].split(';')[0]} " for i in fold.train]
        assert all(sum(term in row for row in rows) >= 2 for term in text.terms)
        vocabularies.append(len(encoder.feature_names))
    assert max(vocabularies) < data.X.shape[1]
    widths = [table.shape[1] for table in Recorder.seen]
    assert widths == [width for width in vocabularies for _ in range(len(widths) // 3)]
