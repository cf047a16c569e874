"""Give the tests, and the examples in docstrings, a cache of compiled code of their own.

Numba compiles a cached function anew when its own file has changed, and not when a function that
it calls from another file has. So the cache of the tests lies in a folder named by the content of
all files with compiled functions. This must happen before Numba is imported.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ROOT = Path(__file__).parent
CACHES = ROOT / ".pytest_cache" / "numba"
SECONDS_KEPT = 3600  # a cache that another run, started before an edit, may still use


def cache_folder(source: Path, caches: Path) -> Path:
    """Return the folder in `caches` for the compiled functions in the files below `source`."""
    digest = hashlib.sha256(version("numba").encode())
    for file in sorted(source.rglob("*.py")):
        content = file.read_bytes()
        if b"njit" in content:
            for part in (file.relative_to(source).as_posix().encode(), content):
                digest.update(hashlib.sha256(part).digest())
    return caches / digest.hexdigest()[:16]


def made_cache(source: Path, caches: Path) -> Path:
    """Make the folder of `cache_folder` and remove others long unused; a temporary one if need be.

    The temporary folder is for a project that cannot be written to, and goes when Python ends.
    """
    folder = cache_folder(source, caches)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="labelcover-numba-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    for other in caches.iterdir():
        if other != folder and other.stat().st_mtime < time.time() - SECONDS_KEPT:
            shutil.rmtree(other, ignore_errors=True)
    return folder


# Commands that tests run in new processes start sooner with bytecode at hand.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The processes of pytest-xdist inherit the folder from the one that starts them.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(made_cache(ROOT / "src", CACHES))


def pytest_configure(config):
    """Let the processes of pytest-xdist compile different functions, not the same ones twice.

    One that needs what another is compiling waits and takes it from the cache. The lock is taken
    inside Numba's own for all threads, and functions do not call each other in circles, so that no
    two processes wait for each other.
    """
    if not hasattr(config, "workerinput") or fcntl is None:
        return
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_or_load, held = Dispatcher.compile, set()

    def compile_in_turn(self, signature):
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}.lock"
        with global_compiler_lock:
            if name in held or self._cache.cache_path is None:
                return compile_or_load(self, signature)
            held.add(name)
            with (Path(os.environ["NUMBA_CACHE_DIR"]) / name).open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                try:
                    return compile_or_load(self, signature)
                finally:
                    fcntl.flock(file, fcntl.LOCK_UN)
                    held.remove(name)

    Dispatcher.compile = compile_in_turn


@pytest.fixture(scope="session")
def make_numba_cache():
    """Return the function that makes the cache of the files below a folder in another one."""
    return made_cache
