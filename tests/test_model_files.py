"""Model files that are not what `save_model` wrote: a sentence, before they take memory."""

import io
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from packaging.requirements import Requirement
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import labelcover
from labelcover import LabelCoverClassifier, save_model
from labelcover.datasets import DataError
from labelcover.learners import LogisticClassifier
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.models import FORMAT, is_trusted, load_model


@pytest.mark.parametrize("content", [{}, 3, LogisticClassifier()])
def test_what_is_no_fitted_estimator_of_labels_is_refused(tmp_path, content):
    path = tmp_path / "part.skops"
    skops.io.dump(content, path)
    with pytest.raises(DataError, match=r"part.skops: not a labelcover model, expected"):
        load_model(path)


def test_a_model_that_unpacks_to_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / "large.skops"
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(20_000_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("a.npy", zeros.getvalue())
    with pytest.raises(DataError, match=r"what the archive unpacks to would take 160 MB"):
        load_model(path)
    packed = path.read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npz", packed)
        archive.writestr("schema.json", '[{"file": "a.npz"}, {"file": "a.npz"}]')
    with pytest.raises(DataError, match=r"what the objects of it hold would take 32. MB"):
        load_model(path)


def test_no_version_of_skops_is_allowed_that_runs_code_from_a_model_file():
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    named = [Requirement(each) for group in groups for each in group]
    bounds = [each.specifier for each in named if each.name == "skops"]
    assert bounds
    assert all("0.12" in bound and "0.11.99" not in bound for bound in bounds)


def test_a_model_of_an_earlier_format_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "earlier.skops"
    skops.io.dump({"format": "labelcover-model-2"}, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("versions.json", json.dumps({"format": "labelcover-model-2"}))
    said = rf"earlier.skops: written in the format 'labelcover-model-2', now '{FORMAT}': train it"
    with pytest.raises(DataError, match=said):
        load_model(path)


def run_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_help_imports_neither_scikit_learn_nor_numba():
    code = (
        "import sys\n"
        "sys.argv = ['labelcover', '--help']\n"
        "from labelcover.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print({'sklearn', 'numba', 'skops'}.intersection(sys.modules) or 'neither')"
    )
    assert run_python(code).endswith("neither\n")


def test_the_command_audits_a_model_without_all_of_scikit_learn(tmp_path):
    model = BinaryRelevanceClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    save_model(model.fit(X, X > 0), tmp_path / "m.skops")
    code = (
        "import sys\n"
        "from labelcover import load_model\n"
        "from labelcover._arguments import naming_options\n"
        f"with naming_options():\n    model = load_model({str(tmp_path / 'm.skops')!r})\n"
        "print(model, 'sklearn.gaussian_process' in sys.modules)"
    )
    said = run_python(code)
    assert "LogisticRegression()" in said
    assert said.endswith("False\n")


def test_the_public_list_is_what_skops_asks_for(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    rows = [
        {"text": f"word{i % 3} and word{i % 5} {i}", "x": float(x)} for i, x in enumerate(X[:, 0])
    ]
    for given in (X, rows):
        save_model(
            LabelCoverClassifier(random_state=0).fit(given, (X > 0).astype(int)), tmp_path / "m"
        )
        asked = skops.io.get_untrusted_types(file=tmp_path / "m")
        assert set(asked) <= set(labelcover.trusted_types)
        model = skops.io.load(tmp_path / "m", trusted=labelcover.trusted_types)
        assert model.predict(given).shape == (60, 3)


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("sklearn.linear_model._logistic.LogisticRegression", True),
        ("sklearn.linear_model._logistic._logistic_regression_path", False),
        ("sklearn.utils.discovery.all_estimators", False),
        ("sklearn.externals.joblib.Memory", False),
        ("labelcover.tables._table.Table", True),
        ("labelcover.tables._table.as_table", False),
    ],
)
def test_only_public_estimators_of_scikit_learn_are_trusted(name, trusted):
    assert is_trusted(name) is trusted
