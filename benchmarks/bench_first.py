"""What waits for a user: the import, the first fit of a fresh process, and single rows.

``python -m benchmarks.bench_first [--repeats 3]``. Fresh processes import the estimators and fit
emotions, with compiled loops in the cache; then single rows of yeast are predicted by the default,
from arrays and from frames. Needs the data folder (``LABELCOVER_DATA``).
"""

import argparse
import subprocess
import sys
import time

import numpy as np

FRESH = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{first}
middle = time.perf_counter(), time.process_time()
{second}
end = time.perf_counter(), time.process_time()
print(middle[0] - wall, middle[1] - cpu, end[0] - middle[0], end[1] - middle[1])
"""
IMPORT = "from labelcover import LabelCoverClassifier"
LIBRARIES = "import numba, sklearn.linear_model"
LOAD = "from labelcover.datasets import load; data = load('emotions')"
FIT = "LabelCoverClassifier(random_state=0).fit(data.X, data.Y)"


def fresh(first: str, second: str, repeats: int) -> np.ndarray:
    """Return the medians of what two pieces of code take in fresh processes."""
    code = FRESH.format(first=first, second=second)
    command = [sys.executable, "-W", "ignore", "-c", code]
    lines = [subprocess.check_output(command, text=True) for _ in range(repeats + 1)]
    return np.median([[float(x) for x in line.split()] for line in lines[1:]], axis=0)


def single_rows() -> None:
    """Print the milliseconds of one row."""
    import pandas as pd

    from labelcover import LabelCoverClassifier
    from labelcover.datasets import load

    data = load("yeast")
    frame = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])])
    for kind, X, calls in (("array", data.X, 1_000), ("frame", frame, 300)):
        model = LabelCoverClassifier(random_state=0).fit(X, data.Y)
        for name in ("predict", "predict_proba"):
            took = []
            for i in range(calls + 20):
                row = X[i : i + 1]
                began = time.perf_counter()
                getattr(model, name)(row)
                took.append(1000 * (time.perf_counter() - began))
            middle, low, high = np.percentile(took[20:], [50, 10, 90])
            print(f"| {name}, {kind} of one row | {middle:.2f} | {low:.2f} to {high:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print("| in a fresh process | wall s | CPU s |\n|---|---|---|")
    libraries = fresh(LIBRARIES, "", repeats)
    print(f"| import of scikit-learn and Numba | {libraries[0]:.2f} | {libraries[1]:.2f} |")
    ours = fresh(IMPORT, "", repeats)
    print(f"| import of the estimators | {ours[0]:.2f} | {ours[1]:.2f} |")
    first = fresh(f"{IMPORT}\n{LOAD}", FIT, repeats)
    print(f"| first fit, emotions | {first[2]:.2f} | {first[3]:.2f} |", flush=True)
    print("\n| yeast | median ms | middle 80 % |\n|---|---|---|")
    single_rows()


if __name__ == "__main__":
    main()
