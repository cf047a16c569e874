"""Try estimators on random problems, as long as one likes: `make fuzz`.

Every problem that fails is kept as a file in ``tests/fuzz/failed``, which the tests replay.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections import Counter
from pathlib import Path

from checking import check_problem
from random_problems import random_problem

FAILED = Path(__file__).parent / "failed"
# So many problems are tried between two looks at the clock and the results on disk.
BATCH = 50


def fuzz(first: int, last: int, seconds: float, results: Path | None) -> Counter:
    """Try the problems of some seeds until the time is up; return how many ended in which way.

    With `results`, what was tried before is not tried again, and the numbers are of all runs.
    """
    counts: Counter = Counter()
    if results is not None and results.exists():
        stored = json.loads(results.read_text())
        counts, first = Counter(stored["counts"]), max(first, stored["next"])
    began = time.monotonic()
    while first < last and time.monotonic() - began < seconds:
        stop = min(first + BATCH, last)
        for seed in range(first, stop):
            counts[tried(seed)] += 1
        first = stop
        if results is not None:
            results.parent.mkdir(parents=True, exist_ok=True)
            results.write_text(json.dumps({"next": first, "counts": counts}))
        print(f"\r{told(counts)}", end="", flush=True)
    print()
    return counts


def tried(seed: int) -> str:
    """Try the problem of a seed; return how it ended, and keep it if it failed."""
    problem = random_problem(seed)
    try:
        return "refused" if check_problem(problem) else "answered"
    except Exception:
        FAILED.mkdir(exist_ok=True)
        name = f"{problem.estimator.name}-{seed}".lower()
        (FAILED / f"{name}.json").write_text(problem.to_json() + "\n")
        print(f"\n{name}: {traceback.format_exc(limit=-2)}")
        return "failed"


def told(counts: Counter) -> str:
    """Return the numbers in a line."""
    return (
        f"{sum(counts.values()):,} random problems tried: {counts['answered']:,} answered, "
        f"{counts['refused']:,} refused with a sentence, {counts['failed']:,} failed."
    )


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--first", type=int, default=0, help="seed of the first problem")
    parser.add_argument("--results", type=Path, help="file from which an interrupted run goes on")
    given = parser.parse_args()
    last = given.first + given.problems
    counts = fuzz(given.first, last, given.seconds, given.results)
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
