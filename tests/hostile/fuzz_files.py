"""Read hostile files, as long as one likes: `make fuzz`.

Every file that fails is kept in ``tests/hostile/failed``, which the tests replay.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from hostile_files import hostile_file
from reading import Reader

FAILED = Path(__file__).parent / "failed"
LARGEST = 100_000  # bytes of a file that is kept


def fuzz(seeds: range, seconds: float) -> Counter:
    """Read the files of some seeds until the time is up; return how many ended in which way."""
    counts: Counter = Counter()
    reader, began = Reader(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            if time.monotonic() - began > seconds:
                break
            suffix, content = hostile_file(seed)
            path = Path(folder) / f"{seed}{suffix}"
            path.write_bytes(content)
            ending = reader.ending(path)
            counts[ending.split(":")[0]] += 1
            if ending.startswith("failed"):
                print(f"\nhostile_file({seed}), {suffix}, {len(content)} bytes: {ending}")
                if len(content) <= LARGEST:
                    FAILED.mkdir(exist_ok=True)
                    (FAILED / path.name).write_bytes(content)
            path.unlink()
    reader.close()
    return counts


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=None, help="seed; by default the time")
    given = parser.parse_args()
    first = int(time.time()) * 1000 if given.first is None else given.first
    counts = fuzz(range(first, first + 10**9), given.seconds)
    print(
        f"{sum(counts.values()):,} hostile files from seed {first}: {counts['read']:,} read, "
        f"{counts['refused']:,} refused with a sentence, {counts['failed']:,} failed."
    )
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
