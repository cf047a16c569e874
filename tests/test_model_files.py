"""Model files that are not what `save_model` wrote: a sentence, before they take memory."""

import io
import json
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from packaging.requirements import Requirement

from labelcover.datasets import DataError
from labelcover.learners import LogisticClassifier
from labelcover.models import FORMAT, load_model


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ({}, "estimator"),
        ({"estimator": 3}, "estimator"),
        ({"estimator": LogisticClassifier()}, "feature_names"),
        ({"estimator": LogisticClassifier(), "feature_names": "abc"}, "feature_names"),
    ],
)
def test_a_model_without_a_part_is_refused_by_its_name(tmp_path, content, missing):
    path = tmp_path / "part.skops"
    skops.io.dump({"format": FORMAT, **content}, path)
    with pytest.raises(DataError, match=f"part.skops: damaged: holds no {missing}, expected"):
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
