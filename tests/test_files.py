"""Files are written whole or not at all; what a kill left is removed; errors name the file."""

import errno
import os
import resource
import subprocess
import sys
import textwrap

import pytest

from labelcover import _files
from labelcover._files import naming, replacing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks and limits of POSIX")


def killed_writer(target):
    """Kill a process while it writes `target`."""
    script = f"""
        import os, signal
        from labelcover._files import replacing
        with replacing({str(target)!r}) as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -9


def test_what_a_kill_left_is_removed_by_the_next_run(tmp_path):
    target = tmp_path / "model [1].skops"
    target.write_text("old")
    killed_writer(target)
    assert len(list(tmp_path.iterdir())) == 2
    assert target.read_text() == "old"
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["model [1].skops"]
    assert target.read_text() == "new"


def test_a_file_that_is_being_written_is_left_alone(tmp_path):
    target = tmp_path / "model.skops"
    with replacing(target) as first:
        first.write_text("first")
        with replacing(target) as second:
            second.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    """A limit on the size of files fails in the same way, in the middle of a write."""
    target = tmp_path / "model.skops"
    target.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught, replacing(target) as file:
            file.write_bytes(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_cannot_be_written_to_names_the_file(tmp_path, monkeypatch):
    def refuse(prefix, suffix, dir):
        name = f"{dir}/{prefix}abc{suffix}"
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    monkeypatch.setattr(_files.tempfile, "mkstemp", refuse)
    with pytest.raises(PermissionError) as caught, replacing(tmp_path / "model.skops"):
        pass
    assert caught.value.filename == str(tmp_path / "model.skops")


def test_other_errors_keep_the_file_they_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, naming(tmp_path / "model.skops"):
        (tmp_path / "input.csv").read_bytes()
    assert caught.value.filename == str(tmp_path / "input.csv")


def test_a_pipe_or_device_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not an ordinary file"), replacing(pipe):
        pass
    assert pipe.is_fifo()
