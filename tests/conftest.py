"""Where the tests find the data that is not part of the project; the command, run in a test.

The data is looked for in ``LABELCOVER_DATA`` (a folder with a folder per data set), else in
``../shared/data`` beside the project. Reference answers lie beside that folder.
Without it the tests that need it are skipped and say so; in CI its absence is an error.
"""

import gc
import importlib.util
import os
import sys
import warnings

# One of scikit-learn's checks of estimators runs only so; it is read when SciPy is imported.
os.environ["SCIPY_ARRAY_API"] = "1"

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The first call of a compiled kernel takes seconds, so examples have no deadline.
settings.register_profile("labelcover", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("labelcover")

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("LABELCOVER_DATA", ROOT.parent / "shared" / "data"))


def pytest_collection_modifyitems(items):
    """Put the tests of chunks last.

    The two processes of `make test` begin at the first test and in the middle, and first of all
    compile. Those in the middle need most of what the tests of chunks need, so that these would
    compile the same at the same time.
    """
    items.sort(key=lambda item: "chunks" in item.path.parts)
    for item in items:
        if item.get_closest_marker("xfail"):
            # A traceback nobody reads takes pytest a second: it parses the long files on its way.
            item.repr_failure = lambda failure: failure.exconly()


def pytest_collection_finish():
    """Spare the garbage collector what lives as long as the tests: modules, and the tests."""
    gc.collect()
    gc.freeze()


def _need(folder: Path) -> Path:
    if folder.is_dir():
        return folder
    reason = f"no folder {folder.name!r} beside the project: set LABELCOVER_DATA to the data folder"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with a folder per data set."""
    return _need(DATA)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of what WEKA and MULAN answered."""
    return _need(DATA.parent / "golden")


@pytest.fixture(scope="session")
def paper_tables() -> Path:
    """The folder with the paper's tables as CSV."""
    return _need(DATA.parent / "paper")


def _matrix(text: str) -> np.ndarray:
    return np.array([[int(bit) for bit in row] for row in text.split()], dtype=np.uint8)


@pytest.fixture(scope="session")
def table_2() -> np.ndarray:
    """The Hadamard matrix of Table 2 of the paper; its first row is constant."""
    return _matrix("00000000 11101000 10110100 10011010 10001101 11000110 10100011 11010001")


@pytest.fixture(scope="session")
def table_3() -> np.ndarray:
    """The constant-weight code A(19, 10, 8) of Table 3 of the paper."""
    return _matrix("""
        1000110100011000101 1000110010000111010 1001001001000110101 1001001000111001010
        0101010011010001100 0100101011001000011 0101010100100100011 0100101100100011100
        0010011101001101000 0011100010101100100 0011100101010010010
    """)


@pytest.fixture
def load_tool(monkeypatch):
    """Return the function that imports a script of tools/ by its name."""

    def load(name: str):
        spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)  # dataclasses look there
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(autouse=True)
def _data_folder(monkeypatch):
    """Let `labelcover.datasets.load` find the same folder as the tests."""
    monkeypatch.setenv("LABELCOVER_DATA", str(DATA))


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command in this process: its exit code, and what it prints."""
    from labelcover import cli  # not for every test: the command needs an extra

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["labelcover", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        printed = capsys.readouterr()
        return stopped.value.code, printed.out, printed.err

    return call


@pytest.fixture
def command_that_warns(command):
    """The same with warnings printed in lines, as for a user; else they are errors in tests."""
    from labelcover._progress import COMPILING_ONCE

    def call(*words):
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            code, printed, errors = command(*words)
        return code, printed, errors.replace(f"{COMPILING_ONCE}\n", "")  # the first time only

    return call


@pytest.fixture
def asked_left_out(monkeypatch):
    """Return a function that lists the left-out confidences that views of a class are asked for."""

    def spy(view_class):
        asked, ask = [], view_class.left_out

        def left_out(self, rows):
            asked.append(ask(self, rows))
            return asked[-1]

        monkeypatch.setattr(view_class, "left_out", left_out)
        return asked

    return spy
