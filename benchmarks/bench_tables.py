"""Tables straight through the command: text against scikit-learn, and reading against pandas.

``python -m benchmarks.bench_tables [packages.csv] [--results tables.csv]
[--only reading|text|mixed|frame] [--skrub PYTHON]``.
The file has the columns ``text`` and ``tags`` (separated by semicolons); without it that part is
left out. The second text is made here: descriptions in docstrings of installed packages, tagged
with their package, their kind and the sections that follow. All tags count, however rare. All of
scikit-learn's parts get the same TF-IDF, their C by cross-validation; the cut of the logistic
regression is tuned on out-of-fold predictions. Seconds are CPU seconds. The text part takes hours;
with ``--results`` every fold is written to that file, and the same command resumes.

The mixed part (``--only mixed --results mixed.csv``) has ten tables with text beside numbers and
categories (`benchmarks.mixed_tables`): log-loss of left-out and of held-out rows, and average
precision, of the default on all columns, on each block of columns alone, and of scikit-learn's
HistGradientBoosting on numbers and categories. It ends with 1 if all columns are more than 0.5 %
worse than the better block, by the log-loss of left-out rows.

The frame part has a simulated table of 100,000 rows with two columns of text, a date, three
categories and two numbers, one with gaps, in one frame: 80,000 rows are fitted, 20,000 predicted.
``--skrub`` names the Python of an environment with skrub, whose ``tabular_pipeline`` with logistic
regression, one for each label, is measured on the same file.
"""

import argparse
import ast
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pandas.api.types import is_numeric_dtype
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from benchmarks.mixed_tables import TABLES
from labelcover import LabelCoverClassifier
from labelcover.metrics import micro_f1

ALL, NUMBERS, BOOSTING = "all", "numbers and categories", "HistGradientBoosting"
ROWS, FOLDS = 5000, 5
REPEATS = 5
DOCUMENTED = ("numpy", "scipy", "sklearn", "pandas", "matplotlib", "networkx", "joblib")
SECTION = re.compile(r"^\s*([A-Z][A-Za-z ]+)\n\s*-{3,}\s*$", re.M)
COMMAND = [sys.executable, "-c", "from labelcover.cli import main; main()"]
TITLES = {
    "by_command": "labelcover train --tags --text",
    "logistic": "TF-IDF, one-vs-rest logistic, cut",
    "linear_svm": "TF-IDF, one-vs-rest linear SVM",
}
READERS = {
    "pandas": "import pandas as pd; made = pd.read_csv(path)",
    "labelcover": "from labelcover.datasets import read_table; "
    "made = read_table(path, label_prefix='is:')",
}
MEASURED = """
import re, sys, time
from pathlib import Path
import numpy, pandas, pyarrow.csv, scipy.sparse, labelcover.datasets
path = sys.argv[1]
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1000
before = peak()
start = time.process_time()
{read}
print(time.process_time() - start, peak() - before)
"""


MIXED = """
import re, sys, time
from pathlib import Path
import numpy as np, pandas as pd
frame = pd.read_parquet(sys.argv[1])
names = [name for name in frame if name.startswith("is:")]
X, Y = frame.drop(columns=names), frame[names].to_numpy()
n = len(X) * 4 // 5
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1e6
{make}
before, start = peak(), time.process_time()
model.fit(X[:n], Y[:n])
fitted = time.process_time()
P = np.clip(np.asarray(model.predict_proba(X[n:])), 1e-9, 1 - 1e-9)
done, T = time.process_time(), Y[n:]
loss = -(T * np.log(P) + (1 - T) * np.log(1 - P)).mean()
Q = np.asarray(model.predict(X[n:]))
f1 = 2 * (Q & T).sum() / (Q.sum() + T.sum())
print(fitted - start, done - fitted, peak() - before, f1, loss)
"""
MAKERS = {
    "labelcover": "from labelcover import LabelCoverClassifier\n"
    "model = LabelCoverClassifier(random_state=0, n_jobs=1)",
    "skrub": "from skrub import tabular_pipeline\n"
    "from sklearn.linear_model import LogisticRegression\n"
    "from sklearn.multiclass import OneVsRestClassifier\n"
    "model = tabular_pipeline(OneVsRestClassifier(LogisticRegression(max_iter=1000)))",
}
MIXED_ROWS, MIXED_LABELS = 100_000, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--only", choices=["reading", "text", "mixed", "frame"])
    parser.add_argument("--skrub", help="Python of an environment with skrub")
    parser.add_argument("--rows", type=int, default=MIXED_ROWS)
    options = parser.parse_args()
    if options.only in (None, "reading"):
        reading()
    if options.only in (None, "frame"):
        frame_of_all_kinds(options.skrub, options.rows)
    if options.only == "mixed":
        raise SystemExit(mixed(MixedResults(options.results)))
    if options.only in ("reading", "frame"):
        return
    results = Results(options.results)
    warnings.filterwarnings("ignore", "Label not", UserWarning)  # tags that a fold does not have
    for path in options.paths:
        with open(path, encoding="utf-8", newline="") as file:
            rows = [(row["text"], row["tags"].split(";")) for row in csv.DictReader(file)]
        text_quality(Path(path).stem, rows, results)
    text_quality("docstrings", list(docstrings()), results)
    results.print()


class Results:
    """A line for each text, method and fold, kept in a file if there is one."""

    columns = ("text", "rows", "tags", "method", "fold", "micro_f1", "cpu_seconds")
    key = ("text", "method", "fold")

    def __init__(self, path: Path | None) -> None:
        self.path, self.lines = path, []
        if path is not None and path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                self.lines = list(csv.DictReader(file))

    def has(self, *key: object) -> bool:
        """Tell whether a line is there already."""
        wanted = tuple(map(str, key))
        return any(tuple(line[name] for name in self.key) == wanted for line in self.lines)

    def add(self, *values: object) -> None:
        """Add a line, and write the file again."""
        self.lines.append(dict(zip(self.columns, map(str, values), strict=True)))
        if self.path is None:
            return
        with self.path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.lines)

    def print(self) -> None:
        """Print the means over folds."""
        print(f"\n{'text':12}{'rows':>6}{'tags':>6}{'method':>36}{'micro-F1':>10}{'CPU s':>8}")
        for text, method in dict.fromkeys((line["text"], line["method"]) for line in self.lines):
            own = [e for e in self.lines if (e["text"], e["method"]) == (text, method)]
            score, spent = (np.mean([float(e[c]) for e in own]) for c in self.columns[-2:])
            rows, tags = own[0]["rows"], own[0]["tags"]
            print(f"{text:12}{rows:>6}{tags:>6}{TITLES[method]:>36}{score:10.4f}{spent:8.1f}")


class MixedResults(Results):
    """A line for each table and what of it was fitted."""

    columns = (
        *("table", "rows", "labels", "columns", "left_out_log_loss", "log_loss"),
        *("average_precision", "cpu_seconds"),
    )
    key = ("table", "columns")

    def print(self) -> None:
        """Print all lines."""
        print(f"{'table':22}{'columns':24}{'left-out':>10}{'held-out':>10}{'AP':>8}{'CPU s':>8}")
        for line in self.lines:
            name, columns, *values = (line[each] for each in (*self.key, *self.columns[4:]))
            shown = "".join(f"{each:>{w}}" for each, w in zip(values, (10, 10, 8, 8), strict=True))
            print(f"{name:22}{columns:24}{shown}")


def mixed(results: MixedResults) -> int:
    """Measure all columns beside blocks of them; return 1 if a block alone is better."""
    for name, make in TABLES.items():
        table = make()
        texts = list(table.texts)
        blocks = {ALL: [], NUMBERS: texts, BOOSTING: texts}
        blocks |= {text: [each for each in table.frame if each != text] for text in texts}
        for columns, left in blocks.items():
            if not results.has(name, columns):
                fit = by_boosting if columns == BOOSTING else by_default
                found = fit(table.frame.drop(columns=left), table.Y, set(texts) - set(left))
                results.add(name, *table.Y.shape, columns, *found)
    results.print()
    worse = 0
    for name in TABLES:
        own = {
            line["columns"]: line["left_out_log_loss"]
            for line in results.lines
            if line["table"] == name and line["columns"] != BOOSTING
        }
        whole, best = float(own.pop(ALL)), min(map(float, own.values()))
        worse += whole > 1.005 * best
        print(f"{name:22}{100 * (whole / best - 1):+8.1f} % beside the better block")
    return int(worse > 0)


def split_rows(n: int):
    """Return training and test rows, the same for all columns of a table."""
    order = np.random.default_rng(0).permutation(n)
    return order[: n * 3 // 4], order[n * 3 // 4 :]


def by_default(frame, Y, texts):
    """Return losses, average precision and CPU seconds of the default."""
    train, test = split_rows(len(Y))
    start = time.process_time()
    model = LabelCoverClassifier(random_state=0, columns=dict.fromkeys(texts, "text"))
    model.fit(frame.iloc[train], Y[train])
    P = model.predict_proba(frame.iloc[test])
    spent = time.process_time() - start
    left_out = model.left_out_predictions_
    return (
        f"{log_loss(left_out.Y, left_out.confidence):.4f}",
        f"{log_loss(Y[test], P):.4f}",
        f"{average_precision(Y[test], P):.4f}",
        f"{spent:.1f}",
    )


def by_boosting(frame, Y, texts):
    """Return the same of HistGradientBoosting for each label, on numbers and categories."""
    train, test = split_rows(len(Y))
    table = frame.copy()
    for name in frame:
        if not is_numeric_dtype(frame[name]):
            often = frame[name].value_counts().index[:250]  # it takes no more than 255
            table[name] = frame[name].where(frame[name].isin(often), "(rare)").astype("category")
    start = time.process_time()
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    P = np.empty(Y[test].shape)
    for j in range(Y.shape[1]):
        own = Y[train, j]
        P[:, j] = own.mean()
        if 0 < own.sum() < len(own):
            fitted = clone(model).fit(table.iloc[train], own)
            P[:, j] = fitted.predict_proba(table.iloc[test])[:, 1]
    spent = time.process_time() - start
    losses = f"{log_loss(Y[test], P):.4f}", f"{average_precision(Y[test], P):.4f}"
    return "", *losses, f"{spent:.1f}"


def log_loss(Y, P) -> float:
    P = np.clip(P, 1e-6, 1 - 1e-6)
    return -float((Y * np.log(P) + (1 - Y) * np.log(1 - P)).mean())


def average_precision(Y, P) -> float:
    """Return the mean over labels that occur."""
    there = Y.any(axis=0)
    return float(average_precision_score(Y[:, there], P[:, there], average="macro"))


def frame_of_all_kinds(skrub: str | None, n: int) -> None:
    """Print time, memory and quality on one table with text, a date, categories and numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.parquet"
        mixed_table(n).to_parquet(path)
        print(
            f"{'':12}{'fit CPU s':>11}{'predict':>9}{'peak GB':>9}{'micro-F1':>10}{'log-loss':>10}"
        )
        for name, python in {"labelcover": sys.executable, "skrub": skrub}.items():
            if python is not None:
                code = MIXED.replace("{make}", MAKERS[name])
                command = [python, "-W", "ignore", "-c", code, str(path)]
                run = subprocess.run(command, capture_output=True, text=True, check=True)
                fit, predict, peak, f1, loss = map(float, run.stdout.split()[-5:])
                print(f"{name:12}{fit:11.1f}{predict:9.1f}{peak:9.2f}{f1:10.4f}{loss:10.4f}")


def mixed_table(n: int):
    """Return a frame whose labels follow from words, categories, a date and a number."""
    import pandas as pd

    random = np.random.default_rng(0)
    words = np.array([f"word{j}" for j in range(5000)])
    shares = 1 / np.arange(5, 5005)
    chosen = [random.choice(5000, (n, width), p=shares / shares.sum()) for width in (5, 20)]
    codes = [random.integers(size, size=n) for size in (10, 50, 500)]
    days = random.integers(0, 1500, n)
    hours = random.exponential(8, n)
    scores = np.zeros((n, MIXED_LABELS))
    for cells in chosen:
        scores += random.normal(0, 0.8, (5000, MIXED_LABELS))[cells].sum(axis=1) / 2
    for cells in codes:
        scores += random.normal(0, 1, (500, MIXED_LABELS))[cells]
    scores += np.sin(days[:, None] / 365 * 2 * np.pi + np.arange(MIXED_LABELS))
    scores += (hours > 12)[:, None] * random.normal(0, 1, MIXED_LABELS)
    Y = scores + random.logistic(size=scores.shape) > np.quantile(scores, 0.75, axis=0)
    frame = {
        "title": [" ".join(row) for row in words[chosen[0]]],
        "body": [" ".join(row) for row in words[chosen[1]]],
        "opened": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
        **{f"kind{c}": [f"value {j}" for j in codes[c]] for c in range(3)},
        "hours": np.where(random.random(n) < 0.1, np.nan, hours),
        "noise": random.normal(size=n),
    }
    return pd.DataFrame(frame | {f"is:{j}": Y[:, j].astype(int) for j in range(MIXED_LABELS)})


def reading() -> None:
    """Print how long reading a CSV file of 100,000 × 110 takes, and training on it; memory too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        random = np.random.default_rng(0)
        numbers = random.normal(size=(100_000, 100))
        bits = (numbers[:, :10] > 0.5).astype(int)
        names = [*(f"f{j}" for j in range(100)), *(f"is:{j}" for j in range(10))]
        with path.open("w") as file:
            file.write(",".join(names) + "\n")
            for row, labels in zip(numbers.tolist(), bits.tolist(), strict=True):
                file.write(",".join([f"{x:.6f}" for x in row] + [str(bit) for bit in labels]))
                file.write("\n")
        table = 8 * 110 * 100_000 / 1e6
        print(f"CSV of {path.stat().st_size / 1e6:.0f} MB, a table of {table:.0f} MB")
        print(f"{'reader':12}{'CPU s, median (least)':>22}{'peak MB':>10}{'/ table':>9}")
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in READERS}
        for name in list(READERS) * REPEATS:  # in turn, so that a busy minute is everybody's
            script = [sys.executable, "-c", MEASURED.format(read=READERS[name]), str(path)]
            done = subprocess.run(script, check=True, capture_output=True, text=True)
            seconds, peak = map(float, done.stdout.split())
            runs[name].append((seconds, peak))
        for name, own in runs.items():
            spent, peaks = zip(*own, strict=True)
            cpu = f"{np.median(spent):.2f} ({min(spent):.2f})"
            print(f"{name:12}{cpu:>22}{max(peaks):10.0f}{max(peaks) / table:9.2f}", flush=True)
        words = ["train", path, "--label-prefix", "is:", "-o", Path(folder) / "m.skops"]
        training = subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(training.pid, 0)
        if status:
            raise SystemExit("labelcover train failed on the table.")
        cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6
        print(f"labelcover train: {cpu:.0f} CPU s, {peak:.2f} GB at its peak (ru_maxrss)")


def text_quality(name: str, rows: list[tuple[str, list[str]]], results: Results) -> None:
    """Add the micro-F1 of five folds, of the command and of scikit-learn's."""
    random = np.random.default_rng(0)
    chosen = [rows[i] for i in random.permutation(len(rows))[:ROWS]]
    binarizer = MultiLabelBinarizer()
    Y = binarizer.fit_transform([tags for _, tags in chosen])
    texts = np.array([text for text, _ in chosen], dtype=object)
    folds = KFold(FOLDS, shuffle=True, random_state=0).split(texts)
    for fold, (train, test) in enumerate(folds):
        for method in (by_command, logistic, linear_svm):
            if results.has(name, method.__name__, fold):
                continue
            predicted, spent = method(texts[train], Y[train], texts[test], binarizer.classes_)
            score = f"{micro_f1(Y[test], predicted):.4f}"
            results.add(name, *Y.shape, method.__name__, fold, score, f"{spent:.1f}")
            print(name, fold, method.__name__, score, file=sys.stderr, flush=True)


def by_command(texts, Y, new_texts, names):
    """Return the predictions of `labelcover train` and `labelcover predict` on CSV files."""
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.csv", Path(folder) / "test.csv"
        for path, some, table in ((train, texts, Y), (test, new_texts, None)):
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "tags"])
                for i, text in enumerate(some):
                    tags = [] if table is None else names[table[i] > 0]
                    writer.writerow([text, ";".join(tags)])
        model, out = Path(folder) / "m.skops", Path(folder) / "out.csv"
        start = children_seconds()
        words = ["train", train, "--tags", "tags", "--text", "text", "-o", model]
        run(words)
        run(["predict", model, test, "-o", out])
        spent = children_seconds() - start
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    return np.array([[int(row.get(name, 0)) for name in names] for row in rows]), spent


def run(words) -> None:
    subprocess.run([*COMMAND, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def children_seconds() -> float:
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def vectorized(texts, new_texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    return vectorizer.fit_transform(texts), vectorizer.transform(new_texts)


def logistic(texts, Y, new_texts, names):
    """Return one-vs-rest logistic regression, C by cross-validation, one cut by out-of-fold."""
    start = time.process_time()
    X, new = vectorized(texts, new_texts)
    best = (-1.0, None, 0.5)
    for C in (3.0, 10.0, 30.0):
        model = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
        proba = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
        for cut in np.arange(0.1, 0.6, 0.02):
            best = max(best, (micro_f1(Y, proba > cut), C, cut))
    model = OneVsRestClassifier(LogisticRegression(C=best[1], solver="liblinear")).fit(X, Y)
    return (model.predict_proba(new) > best[2]).astype(int), time.process_time() - start


def linear_svm(texts, Y, new_texts, names):
    """Return one-vs-rest linear support vector machines, C by cross-validation."""
    start = time.process_time()
    X, new = vectorized(texts, new_texts)
    found = {}
    # The sign is taken here: OneVsRestClassifier cuts at 0.5 where its first label is constant.
    for C in (0.3, 1.0, 3.0):
        model = OneVsRestClassifier(LinearSVC(C=C))
        found[C] = micro_f1(Y, cross_val_predict(model, X, Y, cv=3, method="decision_function") > 0)
    model = OneVsRestClassifier(LinearSVC(C=max(found, key=found.get))).fit(X, Y)
    return (model.decision_function(new) > 0).astype(int), time.process_time() - start


def docstrings(*, modules=False):
    """Yield descriptions of functions and classes of installed packages, and their tags.

    With `modules`, their module within the package is a tag too: most of these are rare.
    """
    seen = set()
    for package in DOCUMENTED:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for path in sorted(Path(spec.origin).parent.rglob("*.py")):
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError):
                continue
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                    continue
                text = ast.get_docstring(node) or ""
                first = SECTION.search(text)
                description = text[: first.start()] if first else text
                if len(description.split()) < 5 or description in seen:
                    continue
                seen.add(description)
                kind = "class" if isinstance(node, ast.ClassDef) else "function"
                where = path.relative_to(Path(spec.origin).parent).with_suffix("").parts[:2]
                more = ["/".join((package, *where[:i])) for i in (1, 2)] if modules else []
                own = [package, kind, *more, *SECTION.findall(text)]
                yield description, list(dict.fromkeys(own))


if __name__ == "__main__":
    main()
