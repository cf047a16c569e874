"""The tests run compiled code of the sources as they are now, never of an older state."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).resolve().parents[1]
ANSWER = "from numba import njit\n\n\n@njit(cache=True)\ndef answer():\n    return {}\n"
CALLER = (
    "from numba import njit\nfrom small.answer_kernels import answer\n\n\n"
    "@njit(cache=True)\ndef twice():\n    return 2 * answer()\n"
)


@pytest.fixture
def package(tmp_path):
    """A package of two compiled functions, one of which calls the other."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "answer_kernels.py").write_text(ANSWER.format(1))
    (folder / "caller_kernels.py").write_text(CALLER)
    (folder / "plain.py").write_text("answer = 1\n")
    return folder


def test_this_run_uses_the_cache_of_these_sources(make_numba_cache):
    used = Path(numba.config.CACHE_DIR)
    assert used == Path(os.environ["NUMBA_CACHE_DIR"])
    if used.parent.name == "numba":  # not where the project cannot be written to
        assert used == make_numba_cache(ROOT / "src", used.parent)


def test_an_edit_in_another_file_is_compiled(make_numba_cache, package, tmp_path):
    def twice():
        cache = make_numba_cache(package, tmp_path / "caches")
        done = subprocess.run(
            [sys.executable, "-c", "from small.caller_kernels import twice; print(twice())"],
            env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert twice() == 2
    (package / "answer_kernels.py").write_text(ANSWER.format(10))
    assert twice() == 20


def test_an_edited_kernel_of_the_package_gets_another_folder(make_numba_cache, tmp_path):
    source = tmp_path / "src"
    ignored = shutil.ignore_patterns("__pycache__", "*.npz", "*.jsonl")
    shutil.copytree(ROOT / "src", source, ignore=ignored)
    before = make_numba_cache(source, tmp_path / "caches")
    assert before == make_numba_cache(source, tmp_path / "caches")
    kernels = next(f for f in sorted(source.rglob("*.py")) if "njit" in f.read_text("utf-8"))
    kernels.write_text(kernels.read_text("utf-8") + "\n")
    assert make_numba_cache(source, tmp_path / "caches") != before


def test_other_files_do_not_change_the_folder(make_numba_cache, package, tmp_path):
    before = make_numba_cache(package, tmp_path / "caches")
    (package / "plain.py").write_text("answer = 2\n")
    assert make_numba_cache(package, tmp_path / "caches") == before


def test_a_renamed_kernel_file_changes_the_folder(make_numba_cache, package, tmp_path):
    before = make_numba_cache(package, tmp_path / "caches")
    (package / "caller_kernels.py").rename(package / "other_kernels.py")
    assert make_numba_cache(package, tmp_path / "caches") != before


def test_folders_that_were_not_used_for_long_are_removed(make_numba_cache, package, tmp_path):
    caches = tmp_path / "caches"
    old, recent = caches / "old", caches / "recent"
    for folder in (old, recent):
        (folder / "deep").mkdir(parents=True)
    os.utime(old, (0, 0))
    made = make_numba_cache(package, caches)
    assert sorted(caches.iterdir()) == sorted([made, recent])


def test_a_project_that_cannot_be_written_to_gets_a_temporary_folder(
    make_numba_cache, package, tmp_path
):
    (tmp_path / "caches").write_text("a file, in which no folder can be made")
    made = make_numba_cache(package, tmp_path / "caches")
    assert made.is_dir()
    assert tmp_path not in made.parents
