"""Ask WEKA's J48 and SMO about small problems and keep their answers in tests/golden.

    python tools/make_goldens.py path/to/weka.jar

needs Java 17 or newer; the answers kept here are those of WEKA 3.9.7. Its jar is part of the
package python-weka-wrapper3 on PyPI and of Debian's package weka. The problems are slices of the
embedded set debtags, whose classes are the patterns of three labels, and the weather table.

For each problem two files are written:

`<problem>.X.csv`
    The features of every row: numbers in full, nominal values by their index, `?` if missing.
`<problem>.json`
    `classes` in WEKA's order; `attributes`, [name, number of nominal values, 0 if numeric];
    `y`, class index of every row; `train` and `test`, the rows in the order given to WEKA;
    `j48`, `j48_unpruned` (-U), `j48_noraise` (-S) and `j48_laplace` (-A): `leaves`, `tree`
    (recursive; a `split` of null is nominal), `test_dist`, and for the first two `text`;
    `smo`: `pairs` of classes with weights, threshold and outputs on the test rows (six digits,
    above 0 votes for the second), and `test_dist`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._files import replacing
from labelcover.datasets import Dataset, load

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
ASK_WEKA = Path(__file__).with_name("WekaAnswers.java")
SIZES = ["log2_installed_size", "log2_download_size"]
COUNTS = ["n_depends", "n_recommends", "n_suggests", "name_length"]


@dataclass
class Problem:
    """A single-label problem; nominal features hold value indices, NaN is missing."""

    name: str
    feature_names: list[str]
    value_names: list[list[str] | None]  # None for a numeric feature
    X: NDArray[np.float64]
    classes: list[str]
    y: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]


def main() -> None:
    """Ask about every problem and write the answers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jar", type=Path, help="WEKA's jar")
    jar = parser.parse_args().jar
    if not jar.is_file():
        parser.error(f"jar must be the path of WEKA's jar file, got {str(jar)!r}.")
    FOLDER.mkdir(exist_ok=True)
    for problem in (weather(), numeric_slice(), nominal_slice(), slice_with_missing_values()):
        write(problem, ask(problem, jar))
        print(problem.name)


def weather() -> Problem:
    """Return Quinlan's table of 14 days, with numeric temperature and humidity."""
    outlook, windy, play = ["sunny", "overcast", "rainy"], ["TRUE", "FALSE"], ["yes", "no"]
    days = """sunny 85 85 FALSE no, sunny 80 90 TRUE no, overcast 83 86 FALSE yes,
        rainy 70 96 FALSE yes, rainy 68 80 FALSE yes, rainy 65 70 TRUE no,
        overcast 64 65 TRUE yes, sunny 72 95 FALSE no, sunny 69 70 FALSE yes,
        rainy 75 80 FALSE yes, sunny 75 70 TRUE yes, overcast 72 90 TRUE yes,
        overcast 81 75 FALSE yes, rainy 71 91 TRUE no"""
    rows = [day.split() for day in days.split(",")]
    every = np.arange(len(rows))
    return Problem(
        name="weather_mixed",
        feature_names=["outlook", "temperature", "humidity", "windy"],
        value_names=[outlook, None, None, windy],
        X=np.array(
            [[outlook.index(o), float(t), float(h), windy.index(w)] for o, t, h, w, _ in rows]
        ),
        classes=play,
        y=np.array([play.index(row[-1]) for row in rows]),
        train=every,
        test=every,
    )


def numeric_slice() -> Problem:
    """Return a slice with all features numeric, one of them with fractions."""
    data = load("debtags")
    rows = np.arange(0, len(data.X), 7)
    names = SIZES + COUNTS + frequent_facts(data, rows, 24)
    X = columns(data, names)[rows]
    per_letter = X[:, names.index("n_depends")] / X[:, names.index("name_length")]
    return labelled(
        "debtags_numeric",
        data,
        rows,
        ["implemented-in::c", "interface::commandline", "interface::x11"],
        [*names, "depends_per_letter"],
        np.column_stack([X, per_letter]),
    )


def nominal_slice() -> Problem:
    """Return a slice of words as nominal features of two values.

    Two sizes of 16 and 17 values are among them, for branches that no training row takes.
    """
    words, packages = load("debtags-words"), load("debtags")
    rows = np.arange(3, len(words.X), 7)
    names = frequent_facts(words, rows, 30)
    sizes = columns(packages, SIZES)
    sizes -= sizes.min(axis=0)  # the smallest becomes the first value
    n_sizes = [int(most) + 1 for most in sizes.max(axis=0)]
    return labelled(
        "debtags_nominal",
        words,
        rows,
        ["interface::x11", "use::gameplaying", "use::editing"],
        [*SIZES, *names],
        np.column_stack([sizes, columns(words, names)])[rows],
        n_values=n_sizes + [2] * len(names),
    )


def slice_with_missing_values() -> Problem:
    """Return a slice of numeric and nominal features in which every twelfth value is missing."""
    data = load("debtags")
    rows = np.arange(5, len(data.X), 7)
    numeric = SIZES + COUNTS
    names = numeric + frequent_facts(data, rows, 20)
    X = columns(data, names)[rows]
    X[np.random.default_rng(0).random(X.shape) < 1 / 12] = np.nan
    return labelled(
        "debtags_missing",
        data,
        rows,
        ["implemented-in::c++", "uitoolkit::gtk", "uitoolkit::qt"],
        names,
        X,
        n_values=[0] * len(numeric) + [2] * (len(names) - len(numeric)),
    )


def frequent_facts(data: Dataset, rows: NDArray[np.int64], n: int) -> list[str]:
    """Return the names of the `n` features of zeros and ones that vary most in these rows."""
    X = np.asarray(data.X)
    is_binary = np.isin(X, (0, 1)).all(axis=0)
    ones = np.where(is_binary, X[rows].mean(axis=0), 0.0)
    most = np.sort(np.argsort(np.abs(ones - 0.5), kind="stable")[:n])
    return [data.feature_names[f] for f in most]


def columns(data: Dataset, names: list[str]) -> NDArray[np.float64]:
    """Return the features of these names."""
    where = [list(data.feature_names).index(name) for name in names]
    return np.asarray(data.X, dtype=float)[:, where]


def labelled(
    name: str,
    data: Dataset,
    rows: NDArray[np.int64],
    labels: list[str],
    feature_names: list[str],
    X: NDArray[np.float64],
    n_values: list[int] | None = None,
) -> Problem:
    """Return the problem whose classes are all patterns of `labels`; each fourth row is tested."""
    bits = np.asarray(data.Y)[rows][:, [list(data.label_names).index(label) for label in labels]]
    values = n_values if n_values is not None else [0] * len(feature_names)
    every = np.arange(len(rows))
    return Problem(
        name=name,
        feature_names=feature_names,
        value_names=[[str(v) for v in range(n)] if n else None for n in values],
        X=X,
        classes=["".join(pattern) for pattern in product("01", repeat=len(labels))],
        y=bits.astype(int) @ (1 << np.arange(len(labels))[::-1]),
        train=every[every % 4 != 0],
        test=every[every % 4 == 0],
    )


def ask(problem: Problem, jar: Path) -> dict:
    """Return WEKA's answers, in an order and precision fit to be kept."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("train", "test"):
            (folder / f"{part}.arff").write_text(arff(problem, getattr(problem, part)))
        files = [str(folder / f) for f in ("train.arff", "test.arff", "answers.json")]
        # WEKA defines classes by reflection and makes a folder of its own in WEKA_HOME.
        java = ["java", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", str(jar)]
        environment = os.environ | {"WEKA_HOME": str(folder / "home")}
        subprocess.run([*java, str(ASK_WEKA), *files], check=True, env=environment)
        answers = json.loads((folder / "answers.json").read_text())
    for pair in answers["smo"]["pairs"]:
        pair["test_out"] = [float(f"{out:.6g}") for out in pair["test_out"]]
    return answers


def arff(problem: Problem, rows: NDArray[np.int64]) -> str:
    """Return these rows as ARFF, the class last."""

    def declared(name: str, values: list[str] | None) -> str:
        kind = "numeric" if values is None else "{" + ",".join(values) + "}"
        return f"@attribute '{name}' {kind}"

    features = zip(problem.feature_names, problem.value_names, strict=True)
    lines = [f"@relation {problem.name}", *(declared(*feature) for feature in features)]
    lines += [declared("class", problem.classes), "@data"]
    for row in rows:
        cells = [
            "?" if np.isnan(x) else repr(float(x)) if values is None else values[int(x)]
            for x, values in zip(problem.X[row], problem.value_names, strict=True)
        ]
        lines.append(",".join([*cells, problem.classes[problem.y[row]]]))
    return "\n".join(lines) + "\n"


def write(problem: Problem, answers: dict) -> None:
    """Write both files of the problem; in the JSON, every first-level field has its line."""
    n_values = [len(values) if values else 0 for values in problem.value_names]
    fields = {
        "classes": problem.classes,
        "attributes": [list(pair) for pair in zip(problem.feature_names, n_values, strict=True)],
        "y": problem.y.tolist(),
        "train": problem.train.tolist(),
        "test": problem.test.tolist(),
    } | answers
    lines = [f"{json.dumps(key)}:{compact(value)}" for key, value in fields.items()]
    with replacing(FOLDER / f"{problem.name}.json") as path:
        path.write_text("{" + ",\n".join(lines) + "}\n")
    with replacing(FOLDER / f"{problem.name}.X.csv") as path:
        path.write_text("".join(",".join(map(shortest, row)) + "\n" for row in problem.X))


def compact(value: object) -> str:
    """Return JSON without spaces, and whole numbers without a fraction."""
    return json.dumps(without_fractions(value), separators=(",", ":"))


def without_fractions(value: Any) -> Any:
    """Return the same value with its whole numbers as integers."""
    if isinstance(value, dict):
        return {key: without_fractions(v) for key, v in value.items()}
    if isinstance(value, list):
        return [without_fractions(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shortest(x: float) -> str:
    """Return the number in full, without a fraction if it has none."""
    return "?" if np.isnan(x) else repr(float(x)).removesuffix(".0")


if __name__ == "__main__":
    main()
