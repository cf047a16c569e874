"""Reads files in a process of its own, one after another, with bounds on memory and time."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

SECONDS = 20
BYTES = 1_000_000_000
# Until the libraries are imported and the first file can be read.
START_SECONDS = 120


class Reader:
    """A process that reads files; after one that ends it, the next file starts another."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def ending(self, path: Path) -> str:
        """Return how a file ended: ``read``, ``refused`` or ``failed: …``."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, __file__]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            self._answer(START_SECONDS)
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        answer = self._answer(SECONDS)
        if answer is None:
            self.process.kill()
            code = self.process.wait()
            return f"failed: no answer in {SECONDS} s, or the process ended (code {code})"
        return answer

    def _answer(self, seconds: float) -> str | None:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line else None

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


def read_file(path: Path) -> str:
    """Read a file as its suffix says; return how that ended."""
    from labelcover.cli.failures import message_and_code
    from labelcover.datasets import is_table, read, read_table
    from labelcover.models import load_model

    try:
        if path.suffix == ".skops":
            load_model(path)
        elif is_table(path):
            read_table(path, tags="tags")
        else:
            read(path)
    except Exception as error:
        message, code = message_and_code(error)
        if code == 2 and message.strip():
            return "refused"
        return "failed: " + "".join(traceback.format_exception(error)[-3:])
    return "read"


def main() -> None:
    """Read the files that are named on standard input."""
    import resource

    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet
    import sklearn.feature_extraction.text

    import labelcover.models

    del pyarrow, sklearn, labelcover
    warnings.simplefilter("ignore")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    bound = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(read_file(Path(line.rstrip("\n")))), flush=True)


if __name__ == "__main__":
    main()
