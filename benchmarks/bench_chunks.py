"""Rows from disk: time and memory of a fit in chunks, and how far it is from the fit in memory.

``python -m benchmarks.bench_chunks [--rows 2e5] [--features 200] [--labels 50] [--kernel auto]
[--curved] [--in-memory] [--folder DIR]`` writes a simulated table of numbers to a
folder (a temporary one, which is deleted, unless it is given), fits the default on its chunks in a
process of its own, and fits it on the first rows in chunks and in memory. With ``--rows 5e6`` the
files take 8 GB. Labels are noisy linear functions of ten features each, or with ``--curved``
functions of their squares, which no linear kernel fits. ``--in-memory`` fits the table in memory
instead of from disk.
"""

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy as np

from labelcover import LabelCoverClassifier
from labelcover.chunks import open_chunks
from labelcover.ensemble import Pool
from labelcover.learners import LeastSquaresClassifier

BLOCK_ROWS = 100_000
FEATURES_OF_A_LABEL = 10
PART_ROWS = 20_000


def write(folder: Path, options) -> None:
    """Write X.npy and Y.npy block by block, if they are not there."""
    if (folder / "Y.npy").exists():
        return
    random = np.random.default_rng(0)
    n, d, m = int(options.rows), options.features, options.labels
    weights = np.zeros((d, m))
    for j in range(m):
        weights[random.permutation(d)[:FEATURES_OF_A_LABEL], j] = random.normal(
            size=min(d, FEATURES_OF_A_LABEL)
        )
    kinds = {"X": (np.float64, d), "Y": (np.uint8, m)}
    files = {
        name: np.lib.format.open_memmap(folder / f"new-{name}.npy", "w+", dtype, (n, width))
        for name, (dtype, width) in kinds.items()
    }
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n))
        X = random.normal(size=(rows.stop - start, d))
        odds = (X**2 - 1 if options.curved else X) @ weights - 3
        files["X"][rows] = X
        files["Y"][rows] = random.logistic(size=odds.shape) < odds
    del files
    for name in kinds:
        (folder / f"new-{name}.npy").rename(folder / f"{name}.npy")


def model(kernel: str) -> LabelCoverClassifier:
    return LabelCoverClassifier(Pool(LeastSquaresClassifier(kernel=kernel)), random_state=0)


def fit_from_disk(folder: Path, kernel: str) -> None:
    """Fit on the files and print what it took; runs in a process of its own."""
    rows = open_chunks(folder / "X.npy", folder / "Y.npy")
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = model(kernel).fit(rows)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    chosen = fitted.view_.views[0].members.kernel
    print(
        f"fit from disk: {wall:.0f} s, {cpu:.0f} CPU s, peak {peak_gb():.2f} GB; "
        f"{'linear' if chosen.is_linear else 'Gaussian'} kernel, {len(fitted.cover_)} labelsets, "
        f"trees on {fitted.n_forest_rows_:,} rows",
        flush=True,
    )


def fit_in_memory(folder: Path, kernel: str) -> None:
    """Fit the table in memory and print by how much that raises the peak of the process."""
    X, Y = (np.load(folder / f"{name}.npy") for name in "XY")
    model(kernel).fit(X[:500], Y[:500])
    Path("/proc/self/clear_refs").write_text("5")  # forgets the greatest memory so far
    before, cpu = peak_gb(), time.process_time()
    model(kernel).fit(X, Y)
    print(
        f"fit in memory: {time.process_time() - cpu:.0f} CPU s, "
        f"{1024 * (peak_gb() - before):.0f} MB beyond the table of {X.nbytes / 2**20:.0f} MB",
        flush=True,
    )


def peak_gb() -> float:
    """Return the greatest memory of this process (Linux)."""
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
    return peak / 2**20


def compare_in_memory(folder: Path, kernel: str) -> None:
    """Print how far the fit in chunks of the first rows is from their fit in memory."""
    X, Y = (np.load(folder / f"{name}.npy", mmap_mode="r")[:PART_ROWS] for name in "XY")
    X, Y = np.array(X), np.array(Y)
    in_memory = model(kernel).fit(X, Y).predict_proba(X[:2_000])
    in_chunks = model(kernel).fit(open_chunks(X, Y, chunk_rows=3_000)).predict_proba(X[:2_000])
    furthest = np.abs(in_memory - in_chunks).max()
    print(f"{len(X):,} rows in chunks and in memory: confidences differ by {furthest:.1e} at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=2e5)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--kernel", default="auto", choices=("auto", "linear", "rbf"))
    parser.add_argument("--curved", action="store_true")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, options)
        spawn = multiprocessing.get_context("spawn")
        fit = fit_in_memory if options.in_memory else fit_from_disk
        process = spawn.Process(target=fit, args=(folder, options.kernel))
        process.start()
        process.join()
        compare_in_memory(folder, options.kernel)


if __name__ == "__main__":
    main()
