"""Wide text: the default beside scikit-learn's logistic regressions; covers and second stages.

``python -m benchmarks.bench_text [--packages FILE] [--threads 2] [--parts a,b]`` prints tables and
writes ``docs/results/text.csv``. The text is that of Debian packages: name, short description,
dependencies and section; the labels are their tags. It is read from a CSV file with the columns
``name``, ``text`` and ``tags`` (separated by ``;``), named by ``--packages`` or by the variable
``LABELCOVER_PACKAGES``; without one, from the machine's own package index (``apt-cache
dumpavail``). Nothing is downloaded: on a machine whose index is empty, run ``apt-get update``.

``--parts svm`` compares the default with tuned linear SVMs on words of known sets, three folds, and
writes ``docs/results/text-svm.csv``; it needs the data folder (``LABELCOVER_DATA``).
"""

import argparse
import csv
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.quality_scores import clipped, expected_f1_cut
from labelcover import LabelCoverClassifier
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.ensemble import OutOfFoldScores
from labelcover.experiments._folds import make_folds
from labelcover.learners import LabelForest, LogisticClassifier
from labelcover.metrics import micro_f1, subset_accuracy

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "text.csv"
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]
TEST_ROWS = 3_000
COLUMNS = [
    "part", "method", "train rows", "words", "labels", "micro-F1", "micro-F1 at one cut",
    "average precision", "precision at 1", "log-loss", "fit s", "fit CPU s", "predict s", "peak GB",
]  # fmt: skip


def one_vs_rest() -> BaseEstimator:
    return OneVsRestClassifier(LogisticRegression(C=5, max_iter=300))


def in_two_stages(make_second: Callable[[], BaseEstimator]) -> BaseEstimator:
    return make_pipeline(OutOfFoldScores(one_vs_rest(), random_state=0), make_second())


def ours(estimator="auto", **options) -> BaseEstimator:
    return LabelCoverClassifier(estimator, random_state=0, **options)


# What makes the model, by part and by the name of the method.
METHODS: dict[str, dict[str, Callable[[], BaseEstimator]]] = {
    "packages": {
        "labelcover": ours,
        "logistic one-vs-rest (C = 5)": one_vs_rest,
        "LogisticClassifier, single labels": lambda: ours(LogisticClassifier(), k=1, r=1),
        "LabelForest": lambda: ours(LabelForest()),
        "one-vs-rest, then labelcover on its scores": partial(in_two_stages, ours),
    },
    "all packages": {
        "labelcover": ours,
        "logistic one-vs-rest (C = 5)": one_vs_rest,
    },
    "cover": {
        "LogisticClassifier, single labels": lambda: ours(LogisticClassifier(), k=1, r=1),
        "LogisticClassifier, labelsets of 3": lambda: ours(LogisticClassifier(), k=3),
        "LogisticRegression(C = 10) one by one, single labels": lambda: ours(
            LogisticRegression(C=10, max_iter=300), k=1, r=1, threshold=0.5
        ),
        "LogisticRegression(C = 10) one by one, labelsets of 3": lambda: ours(
            LogisticRegression(C=10, max_iter=300), k=3, threshold=0.5
        ),
    },
}
# Training rows (None for all but the test rows) and labels (None for those with 60 rows).
SIZES = {"packages": (12_000, 60), "all packages": (None, None), "cover": (6_000, 30)}
# Sets of words that are there or not, and what a linear SVM is tuned among, for each measure.
SVM, SVM_SETS = "svm", ("enron", "slashdot", "ohsumed")
COSTS, CUTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), np.linspace(-1.0, 0.4, 15)
NEVER = -10.0
SVM_COLUMNS = [
    "set", "fold", "method", "micro-F1", "average precision", "macro average precision",
    "subset accuracy", "CPU s",
]  # fmt: skip


@dataclass(frozen=True)
class Text:
    """Training and test rows of a part."""

    X: object
    Y: np.ndarray
    X_test: object
    Y_test: np.ndarray


def apt_packages() -> Iterator[tuple[str, str, str]]:
    """Yield name, text and tags of the packages in the machine's own index."""
    dump = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    for block in dump.stdout.split("\n\n"):
        fields: dict[str, str] = {}
        for key, value in re.findall(r"^([\w-]+):(.*(?:\n .*)*)", block, re.MULTILINE):
            fields[key] = value.replace("\n", "")
        plain = re.sub(r"\{[^}]*\}", "", fields.get("Tag", ""))
        tags = {t for t in re.split(r"[,\s]+", plain) if "::" in t and not t.endswith("::")}
        if tags and "Description" in fields:
            needs = re.sub(r"[^a-z ]", " ", fields.get("Depends", "").lower())
            parts = fields["Package"], fields["Description"], needs, fields.get("Section", "")
            yield (
                fields["Package"].strip(),
                " ".join(" ".join(parts).split()),
                ";".join(sorted(tags)),
            )


def write_packages(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "text", "tags"])
        writer.writerows(apt_packages())


def read_text(path: str, part: str) -> Text:
    n_train, n_labels = SIZES[part]
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    counts = Counter(tag for row in rows for tag in row["tags"].split(";"))
    tags = sorted(counts, key=lambda tag: (-counts[tag], tag))
    tags = tags[:n_labels] if n_labels else [tag for tag in tags if counts[tag] >= 60]
    number = {tag: j for j, tag in enumerate(tags)}
    Y = np.zeros((len(rows), len(tags)), dtype=np.uint8)
    for i, row in enumerate(rows):
        Y[i, [number[tag] for tag in row["tags"].split(";") if tag in number]] = 1
    order = np.random.default_rng(0).permutation(len(rows))
    n_train = n_train or len(rows) - TEST_ROWS
    train, test = order[:n_train], order[n_train : n_train + TEST_ROWS]
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return Text(
        words.fit_transform([rows[i]["text"] for i in train]),
        Y[train],
        words.transform([rows[i]["text"] for i in test]),
        Y[test],
    )


def measure(part: str, method: str, path: str) -> dict[str, object]:
    """Return a line of the results. Runs in a process of its own, whose peak memory is told."""
    text, make = read_text(path, part), METHODS[part][method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that do not occur in these rows
        make().fit(text.X[:300], text.Y[:300])  # compile
    began, cpu = time.perf_counter(), time.process_time()
    model = make().fit(text.X, text.Y)
    fitted, fitted_cpu = time.perf_counter() - began, time.process_time() - cpu
    began = time.perf_counter()
    raw = np.asarray(model.predict_proba(text.X_test))
    predicted = time.perf_counter() - began
    proba, Y = clipped(raw, len(text.Y)), text.Y_test
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    values = [
        part, method, *text.X.shape, Y.shape[1],
        f"{micro_f1(Y, np.asarray(model.predict(text.X_test))):.4f}",
        f"{micro_f1(Y, proba > expected_f1_cut(proba)):.4f}",
        f"{average_precision_score(Y.ravel(), proba.ravel()):.4f}",
        f"{Y[np.arange(len(Y)), proba.argmax(axis=1)].mean():.4f}",
        f"{-np.log(np.where(Y, proba, 1 - proba)).mean():.4f}",
        f"{fitted:.1f}", f"{fitted_cpu:.1f}", f"{predicted:.1f}", f"{peak:.2f}",
    ]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def macro_precision(Y: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean average precision of the labels that occur."""
    occur = Y.any(axis=0)
    return float(average_precision_score(Y[:, occur], scores[:, occur], average="macro"))


def svm_decisions(X, Y: np.ndarray, X_test, C: float) -> np.ndarray:
    """Return decision values of a linear SVM for each label; those that never occur are last."""
    model = OneVsRestClassifier(LinearSVC(C=C, random_state=0)).fit(X, Y)
    return np.where(Y.any(axis=0), model.decision_function(X_test), NEVER)


def svm_scores(X, Y: np.ndarray, X_test, Y_test: np.ndarray) -> list[float]:
    """Return the scores of linear SVMs on TF-IDF, each with its best C and cut in three folds."""
    words = TfidfTransformer().fit(X)
    X, X_test = words.transform(X), words.transform(X_test)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    own, tested = {}, {}
    for C in COSTS:
        own[C] = np.empty(Y.shape)
        for train, left_out in folds:
            own[C][left_out] = svm_decisions(X[train], Y[train], X[left_out], C)
        tested[C] = svm_decisions(X, Y, X_test, C)
    found = []
    for measure in (micro_f1, average_precision, macro_precision, subset_accuracy):
        cuts = CUTS if measure in (micro_f1, subset_accuracy) else [None]

        def score(Y, scores, cut, measure=measure) -> float:
            return measure(Y, scores if cut is None else scores > cut)

        _, C, cut = max((score(Y, own[C], cut), C, cut) for C in COSTS for cut in cuts)
        found.append(score(Y_test, tested[C], cut))
    return found


def average_precision(Y: np.ndarray, scores: np.ndarray) -> float:
    return float(average_precision_score(Y.ravel(), scores.ravel()))


def our_scores(X, Y: np.ndarray, X_test, Y_test: np.ndarray) -> list[float]:
    model = ours(n_jobs=1).fit(X, Y)
    proba = np.asarray(model.predict_proba(X_test))
    return [
        micro_f1(Y_test, model.predict(X_test)),
        average_precision(Y_test, proba),
        macro_precision(Y_test, proba),
        subset_accuracy(Y_test, model.predict(X_test, decide="subset_accuracy")),
    ]


def beside_svm() -> None:
    """Print and write the scores of the default and of linear SVMs, fold by fold."""
    lines = []
    for name in SVM_SETS:
        data = load(name)
        for fold, (train, test) in enumerate(make_folds(data, n_folds=3)):
            own = data.X[train], data.Y[train], data.X[test], data.Y[test]
            for method, scores_of in (("labelcover", our_scores), ("linear SVM", svm_scores)):
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of labels that do not occur in a fold
                    scores = scores_of(*own)
                seconds = f"{time.process_time() - began:.1f}"
                lines.append([name, fold, method, *(f"{each:.4f}" for each in scores), seconds])
                print(*lines[-1], flush=True)
            with RESULTS.with_name("text-svm.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([SVM_COLUMNS, *lines])


def kept(parts: list[str]) -> list[dict[str, object]]:
    """Return the lines of the results that are not measured again."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["part"] not in parts]


def write(lines: list[dict[str, object]]) -> None:
    with replacing(RESULTS) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def run(path: str, parts: list[str]) -> None:
    lines = kept(parts)
    context = multiprocessing.get_context("spawn")
    for part in parts:
        print(f"\n### {part}\n\n| {' | '.join(COLUMNS[1:])} |\n|{'---|' * (len(COLUMNS) - 1)}")
        for method in METHODS[part]:
            with ProcessPoolExecutor(1, mp_context=context) as process:
                line = process.submit(measure, part, method, path).result()
            print(f"| {' | '.join(str(line[name]) for name in COLUMNS[1:])} |", flush=True)
            lines.append(line)
            write(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", default=os.environ.get("LABELCOVER_PACKAGES"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(METHODS))
    options = parser.parse_args()
    if options.parts == [SVM]:
        beside_svm()
        return 0
    unknown = [part for part in options.parts if part not in METHODS]
    if unknown:
        parser.error(f"--parts: {unknown[0]!r} is not one of {', '.join(METHODS)}")
    # A new process reads the number of threads from its environment.
    os.environ.update(dict.fromkeys(THREADS, str(options.threads)))
    if options.packages:
        run(options.packages, options.parts)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packages.csv"
        try:
            write_packages(path)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"No package index on this machine ({error}): name a file with --packages.")
            return 1
        run(str(path), options.parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
