"""The single-label problems that WEKA answered, read once per session."""

import json
from functools import cache
from types import SimpleNamespace

import arff
import numpy as np
import pandas as pd
import pytest

FILES = {"scene": ("scene-train", "scene-test")}
VALUE_NAMES = {  # of the problems whose features come as value numbers
    "weather": {"outlook": ["sunny", "overcast", "rainy"], "windy": ["TRUE", "FALSE"]},
    "flags_k3_012": {
        "landmass": list("123456"),
        "zone": list("1234"),
        "language": [str(i) for i in range(1, 11)],
        "religion": list("01234567"),
    },
}


@pytest.fixture(scope="session")
def problem(golden, shared_data):
    """Return a reader of problems: a frame X of declared dtypes, y, rows, and WEKA's answers."""

    @cache
    def table(name):
        parts = [_read_arff(shared_data / name / f"{f}.arff") for f in FILES.get(name, (name,))]
        return pd.concat(parts, ignore_index=True)

    @cache
    def read(name):
        answers = json.loads((golden / f"{name}.json").read_text())
        if (golden / f"{name}.X.csv").exists():
            frame = _read_numbers(golden / f"{name}.X.csv", answers["attributes"], name)
        else:
            frame = table(name.split("_")[0])[[a for a, _ in answers["attributes"]]]
        y = np.array(answers["classes"])[answers["y"]]
        return SimpleNamespace(X=frame, **(answers | {"y": y}))

    return read


def _read_numbers(path, attributes, name):
    frame = pd.read_csv(path, names=[a for a, _ in attributes], na_values="?")
    for attribute, n_values in attributes:
        if n_values:
            names = VALUE_NAMES[name].get(attribute, [str(v) for v in range(n_values)])
            frame[attribute] = pd.Categorical.from_codes(frame[attribute], names)
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
