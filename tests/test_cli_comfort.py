"""The command's manners: nothing read is overwritten, and every failure is one line that helps."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from labelcover import RakelClassifier, cli, judgement, models
from labelcover.cli import _outputs as outputs
from labelcover.cli._outputs import message_and_code
from labelcover.datasets import read_csv
from labelcover.models import fit_model, load_model, save_model

COMMAND = Path(sys.executable).with_name("labelcover")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{i * i % 7},{i % 2},{i % 3 // 2}\n" for i in range(30))
    path.write_text("a,b,is:x,is:y\n" + rows)
    return path


@pytest.fixture
def model(table):
    dataset = read_csv(table, label_prefix="is:")
    path = table.with_name("m.skops")
    save_model(fit_model(RakelClassifier(k=2, random_state=0), dataset), path)
    return path


def test_an_input_is_never_overwritten(command, table, model):
    before = table.read_bytes(), model.read_bytes()
    link = table.with_name("link.csv")
    link.symlink_to(table)
    for words in (
        ["train", table, "--label-prefix", "is:", "-o", table],
        ["predict", model, table, "-o", table],
        ["predict", model, table, "-o", model],
        ["predict", model, table, "-o", link],
        ["predict", model, table, "-o", f"{table.parent}/../{table.parent.name}/t.csv"],
    ):
        code, printed, errors = command(*words)
        assert code == 2
        assert errors.startswith("labelcover: --output must be another file than what is read, got")
        assert errors.count("\n") == 1
        assert printed == ""
    assert (table.read_bytes(), model.read_bytes()) == before


def test_how_a_file_is_written_is_for_models_of_tables(command, table, model):
    """The model was trained on numbers read by `read_csv`, without what was decided on columns."""
    words = ["predict", model, table, "-o", table.with_name("p.csv"), "--delimiter", ";"]
    code, _, errors = command(*words)
    assert code == 2
    assert "delimiter is for models that were trained on a table" in errors


def test_a_folder_as_output_is_refused(command, table):
    code, _, errors = command("train", table, "--label-prefix", "is:", "-o", table.parent)
    assert code == 2
    assert "--output must be a file, got the folder" in errors


def test_a_folder_that_cannot_be_written_to_is_named_before_the_work(command, table, monkeypatch):
    def refuse(dir):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{dir}/tmpabc")

    monkeypatch.setattr(outputs.tempfile, "TemporaryFile", refuse)
    out = table.with_name("m.skops")
    code, _, errors = command("train", table, "--label-prefix", "is:", "-o", out)
    assert code == 2
    assert errors == (
        f"labelcover: --output must lie in a folder that can be written to, got {out} "
        "(Permission denied).\n"
    )


def test_the_version_is_printed(command):
    code, printed, _ = command("--version")
    assert code == 0
    assert printed.split(", ")[0].split() == ["labelcover", models.versions_here()["labelcover"]]
    assert "scikit-learn" in printed


def test_completion_is_offered_and_completes_commands_and_options():
    def completed(line):
        words = {"_LABELCOVER_COMPLETE": "complete_bash", "COMP_WORDS": line}
        env = {**os.environ, **words, "COMP_CWORD": str(len(line.split()) - 1)}
        done = subprocess.run([COMMAND], env=env, capture_output=True, text=True, check=False)
        return done.stdout.split()

    assert {"predict", "paper"} <= set(completed("labelcover p"))
    assert "--separator" in completed("labelcover train --se")


def test_a_traceback_is_shown_only_on_request(command, monkeypatch, table, model):
    def fail(*_, **__):
        raise RuntimeError("deep inside")

    monkeypatch.setattr(judgement, "judged_on", fail)
    code, _, errors = command("evaluate", model, table)
    assert code == 1
    assert errors == ("labelcover: unexpected RuntimeError: deep inside (--debug shows where)\n")
    monkeypatch.setattr(sys, "argv", ["labelcover", "evaluate", str(model), str(table), "--debug"])
    with pytest.raises(RuntimeError, match="deep inside"):
        cli.main()


def test_a_missing_library_is_named_with_what_installs_it(command, monkeypatch, table):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, errors = command("train", table, "--label-prefix", "is:", "-o", table.with_name("m"))
    assert code == 2
    assert errors == "labelcover: pyarrow is missing: pip install 'labelcover[cli]'\n"


def with_versions(path, **other):
    """Write a copy of a model that other versions made."""
    old = path.with_name("old.skops")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == models.VERSIONS:
                content = json.dumps({**json.loads(content), **other}).encode()
            elif name == "schema.json" and other.get("labelcover") == "9.9.9":
                content = content.replace(b"Rakel", b"Rattle")
            target.writestr(name, content)
    return old


def test_another_version_is_one_line_and_the_model_still_works(command, table, model):
    old = with_versions(model, **{"scikit-learn": "0.1.2"})
    with pytest.warns(UserWarning, match=r"written with scikit-learn 0.1.2, and this is scikit-l"):
        trained = load_model(old)
    X = np.array([[1.0, 2.0]])
    expected = load_model(model).predict_proba(X)
    np.testing.assert_array_equal(trained.predict_proba(X), expected)


def test_a_model_that_another_version_cannot_read_is_one_line(command, table, model):
    old = with_versions(model, labelcover="9.9.9")
    code, _, errors = command("evaluate", old, table)
    assert code == 2
    assert "written with labelcover 9.9.9, and this is labelcover" in errors
    assert errors.count("\n") == 1


def test_an_interrupted_comparison_says_what_was_kept(tmp_path):
    out = tmp_path / "c"
    words = [COMMAND, "compare", "debtags", "--methods", "BR,LP,EPS", "--n-folds", "10", "-o", out]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    results = out / "results.csv"
    for _ in range(3000):
        if results.exists() and results.read_text().count("\n") > 1:
            break
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    try:
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    # Where nothing is compiled yet, a notice of that stands before it.
    assert [line for line in errors.splitlines() if not line.startswith("compiling for")] == [
        f"labelcover: stopped; fits that were finished are in {results}, and the same command "
        "resumes"
    ]


def test_an_interrupted_command_says_that_nothing_was_written(command, monkeypatch, table, model):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(judgement, "judged_on", interrupt)
    code, _, errors = command("evaluate", model, table)
    assert code == 130
    assert errors == "labelcover: stopped; nothing was written\n"


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of POSIX")
def test_a_device_as_output_is_refused(command, table, model):
    pipe = table.with_name("pipe")
    os.mkfifo(pipe)
    code, _, errors = command("predict", model, table, "-o", pipe)
    assert code == 2
    assert "--output must be an ordinary file, got the device or pipe" in errors
    assert pipe.is_fifo()


def test_what_writes_the_outcome_is_looked_for_before_the_work(command, monkeypatch, table):
    def fit(*_):
        raise AssertionError("the work was done first")

    monkeypatch.setattr(models, "fit_model", fit)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.delitem(sys.modules, "skops.io", raising=False)
    code, _, errors = command("train", table, "--label-prefix", "is:", "-o", table.with_name("m"))
    assert code == 2
    assert errors == "labelcover: skops is missing: pip install 'labelcover[cli]'\n"


def test_a_cache_that_cannot_be_written_is_one_line():
    error = RuntimeError("cannot cache function 'f': no locator available for file 'g.py'")
    said, code = message_and_code(error)
    assert code == 2
    assert said.startswith("NUMBA_CACHE_DIR must name a folder that can be written to")


def test_an_unknown_kind_of_file_is_named_before_its_options(command, tmp_path):
    path = tmp_path / "t.ods"
    path.write_bytes(b"PK")
    code, _, errors = command("train", path, "--tags", "tags", "-o", tmp_path / "m.skops")
    assert code == 2
    assert "t.ods: unknown kind of file, expected one of" in errors


def test_long_names_of_columns_are_printed_whole(command, tmp_path):
    name, path = "n" * 85, tmp_path / "t.csv"
    rows = "".join(f"{i * 7 % 5},{i % 2},{i % 3 // 2}\n" for i in range(30))
    path.write_text(f"{name},is:x,is:y\n{rows}")
    words = ["--label-prefix", "is:", "--method", "BR", "-o", tmp_path / "m.skops"]
    code, printed, errors = command("train", path, *words)
    assert code == 0, errors
    assert printed.splitlines()[2].split() == [name, "number"]


def test_brackets_and_colons_in_names_are_printed_as_they_are(command, table, tmp_path):
    model, folder = tmp_path / "m[final]:smile:.skops", tmp_path / "c[bold]"
    words = ["--label-prefix", "is:"]
    code, printed, errors = command("train", table, *words, "--method", "BR", "-o", model)
    assert code == 0, errors
    assert "m[final]:smile:.skops" in printed
    words += ["--methods", "BR", "--n-folds", "2", "-o", folder]
    code, printed, errors = command("compare", table, *words)
    assert code == 0, errors
    assert "c[bold]/report.html" in printed


def test_names_of_labels_may_have_blanks_around_them(command, table, tmp_path):
    words = ["--labels", "is:x, is:y", "--method", "BR", "-o", tmp_path / "m.skops"]
    code, _, errors = command("train", table, *words)
    assert code == 0, errors


def test_a_wrong_method_is_noticed_before_the_file_is_read(command, tmp_path):
    words = ["--tags", "t", "-o", tmp_path / "m.skops"]
    for wrong in (["--method", "Bar"], ["--member", "tree"]):
        code, _, errors = command("train", tmp_path / "not-there.csv", *words, *wrong)
        assert code == 2
        assert "must be one of" in errors


def test_what_a_comparison_cannot_do_is_noticed_before_anything_is_written(command, table):
    folder, other = table.with_name("comparison"), table.parent / "other"
    other.mkdir()
    (other / table.name).write_bytes(table.read_bytes())
    basic = ["compare", table, "--label-prefix", "is:", "--methods", "BR", "--n-folds", "2"]
    for words, message in (
        (["--seeds", "-1"], "seeds must be an integer between 0 and"),
        (["--jobs", "0"], "n_jobs must be None or an integer other than 0"),
        ([other / table.name], "datasets must have different names, got 't' twice"),
    ):
        code, _, errors = command(*basic, *words, "-o", folder)
        assert code == 2
        assert message in errors
        assert not folder.exists()
    code, _, errors = command(*basic, "-o", table)
    assert code == 2
    assert f"got the file {table}" in errors


def test_a_wrong_k_of_a_plan_is_called_so(command):
    assert "k must be an integer of at least 1" in command("plan", "debtags", "-k", 0)[2]


def test_missing_values_of_a_file_are_named(command, tmp_path):
    path = tmp_path / "t.arff"
    header = "@relation 't: -C 2'\n@attribute x {0,1}\n@attribute y {0,1}\n@attribute a numeric\n"
    rows = "".join(f"{i % 2},{i % 3 // 2},{i if i % 5 else '?'}\n" for i in range(20))
    path.write_text(f"{header}@data\n{rows}")
    words = ["train", path, "-o", tmp_path / "m.skops", "--method", "BR"]
    code, _, errors = command(*words)
    assert code == 2
    assert "t: feature 'a' has missing values, which BinaryRelevanceClassifier" in errors
    assert command(*words, "--member", "c45")[0] == 0
