"""The command under a limit on virtual memory."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")


@pytest.mark.parametrize("megabytes", [350, 450, 900])
def test_too_little_virtual_memory_is_said_in_a_sentence(tmp_path, megabytes):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6,) * 2)

    words = ["train", tmp_path / "t.csv", "--tags", "tags", "-o", tmp_path / "m.skops"]
    run = "from labelcover.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", run, *words], preexec_fn=limited, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"virtual memory is limited to {megabytes / 1000:.2f} GB (ulimit -v)" in done.stderr
    assert done.stderr.count("\n") == 1
