"""Run every benchmark in its own process: ``python -m benchmarks [name …]``."""

import subprocess
import sys
from pathlib import Path


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; return the number that failed."""
    files = sorted(Path(__file__).parent.glob("bench_*.py"))
    every = [path.stem.removeprefix("bench_").replace("_", "-") for path in files]
    failed = 0
    for name in names or every:
        print(f"\n## {name}", flush=True)
        module = f"benchmarks.bench_{name.replace('-', '_')}"
        failed += subprocess.run([sys.executable, "-m", module]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
