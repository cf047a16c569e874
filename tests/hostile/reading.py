"""Reads files, each in a process of its own, with bounds on memory and time.

Seconds are those of the processor, so that a busy machine makes no file fail; a file that only
waits, as for a pipe, has some more of the clock.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

SECONDS, WAITING_SECONDS = 20, 300
BYTES = 1_000_000_000


class Reader:
    """A process that has imported all libraries and reads each file in a copy of itself."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, __file__]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def ending(self, path: Path) -> str:
        """Return how a file ended: ``read``, ``refused`` or ``failed: …``."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def read_file(path: Path) -> str:
    """Read a file as its suffix says; return how that ended."""
    from labelcover.cli._outputs import message_and_code
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


def read_bounded(path: Path) -> None:
    """Read a file and print how that ended; the process ends where it takes too much."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    bound = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WAITING_SECONDS)
    print(json.dumps(read_file(path)), flush=True)


def main() -> None:
    """Read the files that are named on standard input."""
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet
    import sklearn.feature_extraction.text
    import skops.io

    import labelcover.cli._outputs
    import labelcover.models

    del pyarrow, skops, sklearn, labelcover
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        if os.fork() == 0:
            read_bounded(Path(line.rstrip("\n")))
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.wait()[1])
        if code:
            said = f"failed: the process ended with {code}; {SECONDS} s are allowed"
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
