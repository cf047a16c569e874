"""The single-label problems that WEKA answered, read once per session.

Those of ``tests/golden`` are always there (``tools/make_goldens.py`` made them); the others lie
outside the project, as does the data they are about.
"""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import arff
import numpy as np
import pandas as pd
import pytest

COMMITTED = Path(__file__).resolve().parents[1] / "golden"
FILES = {"scene": ("scene-train", "scene-test")}
WEATHER = {"outlook": ["sunny", "overcast", "rainy"], "windy": ["TRUE", "FALSE"]}
VALUE_NAMES = {  # of the problems whose features come as value numbers
    "weather": WEATHER,
    "weather_mixed": WEATHER,
    "flags_k3_012": {
        "landmass": list("123456"),
        "zone": list("1234"),
        "language": [str(i) for i in range(1, 11)],
        "religion": list("01234567"),
    },
}


@pytest.fixture(scope="session")
def problem(request):
    """Return a reader of problems: a frame X of declared dtypes, y, rows, and WEKA's answers."""

    @cache
    def table(name):
        folder = request.getfixturevalue("shared_data") / name
        parts = [_read_arff(folder / f"{f}.arff") for f in FILES.get(name, (name,))]
        return pd.concat(parts, ignore_index=True)

    @cache
    def read(name):
        is_committed = (COMMITTED / f"{name}.json").exists()
        # Asked for only here, so that problems of the project do not need the other folder.
        folder = COMMITTED if is_committed else request.getfixturevalue("golden")
        answers = json.loads((folder / f"{name}.json").read_text())
        if (folder / f"{name}.X.csv").exists():
            frame = _read_numbers(folder / f"{name}.X.csv", answers["attributes"], name)
        else:
            frame = table(name.split("_")[0])[[a for a, _ in answers["attributes"]]]
        y = np.array(answers["classes"])[answers["y"]]
        return SimpleNamespace(X=frame, **(answers | {"y": y}))

    return read


def _read_numbers(path, attributes, name):
    frame = pd.read_csv(path, names=[a for a, _ in attributes], na_values="?")
    for attribute, n_values in attributes:
        if n_values:
            names = VALUE_NAMES.get(name, {}).get(attribute, [str(v) for v in range(n_values)])
            codes = frame[attribute].fillna(-1).astype(int)  # -1 is a missing category
            frame[attribute] = pd.Categorical.from_codes(codes, names)
    return frame


def _read_arff(path):
    text = path.read_text(encoding="utf-8")
    is_sparse = "\n{" in text.replace("\r", "")
    read = arff.loads(text, return_type=arff.LOD if is_sparse else arff.DENSE)
    columns = {}
    for i, (name, kind) in enumerate(read["attributes"]):
        if isinstance(kind, list):
            values = [row.get(i, kind[0]) if is_sparse else row[i] for row in read["data"]]
            columns[name] = pd.Categorical(values, kind)
        else:
            values = [row.get(i, 0.0) if is_sparse else row[i] for row in read["data"]]
            columns[name] = np.array(values, dtype=float)
    return pd.DataFrame(columns)
