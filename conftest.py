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


@pytest.fixture(scope="session")
def make_numba_cache():
    """Return the function that makes the cache of the files below a folder in another one."""
    return made_cache
