"""A fitted estimator in MLflow, without code of ours: logged, loaded and served."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import labelcover
from labelcover import LabelCoverClassifier

mlflow = pytest.importorskip("mlflow")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("default"),  # MLflow's own
]
SECONDS = 180  # until the server answers


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Return a model, its table, and where MLflow keeps it."""
    folder = tmp_path_factory.mktemp("mlflow")
    kinds = ["printer {} is on fire", "reset the password of desk {}"]
    frame = pd.DataFrame(
        {
            "subject": [kinds[i % 2].format(i) for i in range(60)],
            "hours": [float(i % 7) for i in range(60)],
            "colour": ["red", "green", "blue"] * 20,
        }
    )
    tags = [["hardware", "urgent"], ["account"]] * 30
    model = LabelCoverClassifier(random_state=0).fit(frame, tags)
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.sklearn.save_model(
        model,
        folder / "model",
        serialization_format="skops",
        skops_trusted_types=labelcover.trusted_types,
        signature=mlflow.models.infer_signature(frame, model.predict(frame)),
    )
    return model, frame, folder / "model"


def test_a_logged_model_is_loaded_again(logged):
    model, frame, path = logged
    again = mlflow.sklearn.load_model(str(path))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    generic = mlflow.pyfunc.load_model(str(path))
    np.testing.assert_array_equal(generic.predict(frame), model.predict(frame))


def test_a_server_answers_rows_in_json(logged):
    model, frame, path = logged
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(path)]
    command += ["--env-manager", "local", "--host", "127.0.0.1", "--port", str(port)]
    path_of_programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    server = subprocess.Popen(
        command, env={**os.environ, "PATH": path_of_programs}, start_new_session=True
    )
    try:
        records = {"dataframe_records": json.loads(frame[:3].to_json(orient="records"))}
        found = asked(server, f"http://127.0.0.1:{port}/invocations", records)
        assert found["predictions"] == model.predict(frame[:3]).tolist()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, 15)
        server.wait(60)


def asked(server, url, content):
    """Return what a server answers, once it does."""
    request = urllib.request.Request(
        url, json.dumps(content).encode(), {"Content-Type": "application/json"}
    )
    for _ in range(SECONDS):
        assert server.poll() is None, "the server has ended"
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        except OSError:
            time.sleep(1)
    raise AssertionError("the server does not answer")
