"""The results file: a CSV line for every fit, written when it is done, so nothing is lost."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover import __version__
from labelcover._files import replacing
from labelcover.datasets import DataError
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

# What a computer measures is different every time; everything else repeats exactly.
MEASURED = ("fit_seconds", "predict_seconds", "peak_mb")
# The version of labelcover that a line is by.
VERSION = "version"


@dataclass(frozen=True)
class Task:
    """One fit: what identifies a line of the results file."""

    dataset: str
    method: str
    parameters: str
    folds: str
    fold: int
    seed: int


@dataclass(frozen=True)
class Result:
    """The outcome of a task; an empty `error` means that it went well.

    Attributes
    ----------
    size : int
        Number of labelsets σ of the fitted cover, where there is one.
    fit_seconds, predict_seconds : float
        Time by the clock.
    peak_mb : float
        Most memory that the process held while fitting and predicting, in MB (10⁶ bytes).
    scores : dict of str to float
        Every measure of `labelcover.metrics.MEASURES` that applies.
    label_f1 : list of float
        F1 of each label.
    """

    error: str = ""
    n_train: int = 0
    n_test: int = 0
    size: int | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    peak_mb: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    label_f1: list[float] = field(default_factory=list)


KEY = tuple(f.name for f in fields(Task))
COLUMNS = (
    *KEY,
    VERSION,
    *(f.name for f in fields(Result) if f.name not in ("scores", "label_f1")),
    *MEASURES,
    "label_f1",
)


class ResultsFile:
    """A results file that is added to line by line.

    A file that a killed process left behind is taken up where it stopped: a last line that was
    not finished is removed, finished tasks are known. If they are another version's, there is a
    warning.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and self.path.stat().st_size:
            _drop_unfinished_line(self.path)
        if not self.path.exists() or not self.path.stat().st_size:
            with replacing(self.path) as temporary:
                temporary.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
        rows = list(_rows(self.path))
        self.done = {_task(row) for row in rows}
        others = sorted({row[VERSION] for row in rows} - {__version__})
        if others:
            warnings.warn(
                f"{self.path} has results of labelcover {', '.join(others)}, which are kept; what "
                f"is added is by {__version__}. For results of one version, begin a new file.",
                UserWarning,
                stacklevel=3,
            )

    def add(self, task: Task, result: Result) -> None:
        """Write the line of a task and see it safely on disk."""
        cells = asdict(task) | {VERSION: __version__} | asdict(result) | result.scores
        cells["label_f1"] = " ".join(f"{value:.4f}" for value in result.label_f1)
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([_text(cells.get(c)) for c in COLUMNS])
            file.flush()
            os.fsync(file.fileno())
        self.done.add(task)


def read_results(*paths: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the lines of one or more results files as a frame; a task in several counts once.

    Raises
    ------
    DataError
        If a file is no results file, or two files disagree about a task.
    """
    import pandas as pd

    seen: dict[Task, dict[str, str]] = {}
    for path in paths:
        for row in _rows(path):
            known = seen.setdefault(_task(row), row)
            if any(known[c] != row[c] for c in COLUMNS if c not in (*MEASURED, VERSION)):
                raise DataError(path, f"differs from another file about {_task(row)}.")
    frame = pd.DataFrame(list(seen.values()), columns=list(COLUMNS))
    text = {"dataset", "method", "parameters", "folds", VERSION, "error", "label_f1"}
    for column in set(COLUMNS) - text:
        frame[column] = pd.to_numeric(frame[column])
    return frame


def join_results(paths: Iterable[str | os.PathLike[str]], target: str | os.PathLike[str]) -> None:
    """Write the lines of several results files to one, each task once."""
    frame = read_results(*paths)
    with replacing(target) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")


def _rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        try:
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise DataError(path, "not a results file, expected the columns of one.", 1)
            yield from reader
        except UnicodeDecodeError:
            raise DataError(path, "not a text file, expected a results file.") from None


def _task(row):
    return Task(
        row["dataset"],
        row["method"],
        row["parameters"],
        row["folds"],
        int(row["fold"]),
        int(row["seed"]),
    )


def _drop_unfinished_line(path: Path) -> None:
    """Cut off what follows the last end of line: no cell ever holds one."""
    raw = path.read_bytes()
    end = raw.rfind(b"\n") + 1
    if end < len(raw):
        with replacing(path) as temporary:
            temporary.write_bytes(raw[:end])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())
