"""What needs an extra that is not installed names it."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pandas", "pyarrow", "matplotlib", "skops", "jinja2"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
from labelcover import RakelClassifier
from labelcover.covers import Cover
from labelcover.datasets import load, read_table
from labelcover.models import load_model

def plot():
    Cover([[0, 1]], 2).plot()

def report():
    from labelcover.experiments import write_model_page

data = load("debtags")
model = RakelClassifier(k=2, size=3, random_state=0).fit(data.X[:60], data.Y[:60, :3])
model.predict_tags(data.X[:2])
actions = [
    lambda: data.labels,
    lambda: model.set_output(predict="pandas").predict(data.X[:2]),
    lambda: read_table(sys.argv[1], tags="tags"),
    lambda: load_model("model.skops"),
    plot,
    report,
]
for action in actions:
    try:
        action()
    except ModuleNotFoundError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    songs = tmp_path_factory.mktemp("bare") / "songs.csv"
    songs.write_text("x,tags\n1,a;b\n2,a\n3,b\n4,a\n5,b\n6,a\n")
    script = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(songs)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_python_names_the_extra_that_is_missing(sentences):
    expected = ["pandas", "pandas", "pyarrow", "skops", "matplotlib"]
    assert [line.split(" is missing: pip install 'labelcover[")[0] for line in sentences[:5]] == (
        expected
    )
    assert len(sentences) == 6
    assert all(line.endswith("]'") for line in sentences)
