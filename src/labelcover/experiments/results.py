"""The results file: a CSV line for every fit, written when it is done, so nothing is lost.

A line is identified by its place (data set, method, folds, fold, seed) and by the fingerprints of
what was fitted there. A file holds one version of every data set, fold and method: lines of
another version are moved to a second file beside it, which is never read.

An empty ``error`` means that the fit went well. ``design_seconds`` is the time to make the
labelsets, before anything of the data is looked at, where a method does that; ``fit_seconds`` is
the whole fit, so that training alone, the permutation of DD-BALANCOR included, took the difference.
It is empty where several methods shared a fit (`labelcover.experiments._paper`). ``cut`` says how
the predictions behind the measures are cut; ``tuning`` on what the ``threshold`` of the measures
that begin with ``tuned_`` was tuned, or why it was not.
"""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from labelcover import __version__
from labelcover._files import locked, naming, replacing
from labelcover._safe_text import unguarded, write_rows
from labelcover.datasets import DataError, check_ordinary
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

# Times in seconds of the clock, and the peak memory of the process in MB (10⁶ bytes), are different
# every time; everything else repeats exactly.
MEASURED = ("design_seconds", "fit_seconds", "predict_seconds", "peak_mb")
# The version of labelcover that a line is by.
VERSION = "version"


@dataclass(frozen=True)
class Task:
    """One fit: what identifies a line of the results file.

    Attributes
    ----------
    dataset, method, folds : str
        The names of the data set, of the method and of the kind of folds.
    fold, seed : int
        Number of the fold, from 0, and seed of the method.
    data_fingerprint, fold_fingerprint, method_fingerprint : str
        See `labelcover.experiments._fingerprints`.
    parameters : str
        The estimator, for people to read; `method_fingerprint` identifies it.
    """

    dataset: str
    method: str
    folds: str
    fold: int
    seed: int
    data_fingerprint: str
    fold_fingerprint: str
    method_fingerprint: str
    parameters: str = field(default="", compare=False)

    def versions(self) -> dict[str, str]:
        """Return what must be one and the same in a results file, each with its fingerprint."""
        return {
            f"data set {self.dataset!r}": self.data_fingerprint,
            f"fold {self.fold} of {self.folds!r} on {self.dataset!r}": self.fold_fingerprint,
            f"method {self.method!r} on {self.dataset!r}": self.method_fingerprint,
        }


#: Columns of the measures at a tuned threshold, with the measure of each.
TUNED = {f"tuned_{name}": name for name, each in MEASURES.items() if each.of_predictions}
CUTS = ("cut", "tuning", "threshold", *TUNED, "tuned_label_f1")
KEY = tuple(f.name for f in fields(Task))
COLUMNS = (
    *KEY,
    VERSION,
    *("error", "n_train", "n_test", "size", *MEASURED),
    *MEASURES,
    "label_f1",
    *CUTS,
)
# Columns that every version of the file has had.
ALWAYS = {"dataset", "method", "folds", "fold", "seed", "error"}
# Columns that files had not before; they are empty where they are not.
LATER = {"design_seconds", *CUTS}


class ResultsFile:
    """A results file that is added to line by line, by one process at a time.

    Used as a context manager: inside the block no other process can open the file. An interrupted
    run is resumed: a last line that was not finished is removed, and finished tasks are known.
    Results of another version of labelcover are kept, with a warning.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.done: set[Task] = set()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(locked(self.path))
            rows = list(_rows(self.path, whole_lines=True)) if self.path.exists() else []
            _write(self.path, rows)  # with all columns, and without a line that was cut
            self.done = {_task(row) for row in rows}
            others = sorted({row[VERSION] for row in rows} - {__version__})
            if others:
                warnings.warn(
                    f"{self.path} has results of labelcover {', '.join(others)}, which are kept; "
                    f"what is added is by {__version__}. For results of one version, begin a new "
                    "file.",
                    UserWarning,
                    stacklevel=3,
                )
            self._lock = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.close()

    def join(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Take the lines of other results files in, each task once."""
        rows = _consistent_rows([self.path, *paths])
        _write(self.path, rows)
        self.done = {_task(row) for row in rows}

    def set_outdated_aside(self, tasks: Iterable[Task], *, with_cuts: bool = False) -> None:
        """Move the lines of other data, folds or parameters than those of `tasks` to another file.

        They are added to ``…-outdated.csv`` beside the results. A warning says what has changed.
        Lines of the tasks without both cuts, as earlier versions wrote them, are outdated too
        `with_cuts`.
        """
        wanted = {what: own for task in tasks for what, own in task.versions().items()}
        kept: list[dict[str, str]] = []
        outdated: list[dict[str, str]] = []
        changed: dict[str, None] = {}
        for row in _rows(self.path):
            versions = _task(row).versions()
            other = [what for what, own in versions.items() if wanted.get(what, own) != own]
            uncut = with_cuts and not (row["tuning"] or row["error"])
            if uncut and versions.keys() <= wanted.keys():
                other.append(f"how method {row['method']!r} is cut")
            (outdated if other else kept).append(row)
            # Another version of a data set has other folds too: the first says it all.
            changed |= dict.fromkeys(other[:1])
        if not outdated:
            return
        aside = self.path.with_name(f"{self.path.stem}-outdated.csv")
        _write(aside, [*(_rows(aside) if aside.exists() else []), *outdated])
        _write(self.path, kept)
        self.done = {_task(row) for row in kept}
        warnings.warn(
            f"{self.path}: {listed(changed)} changed since these results were computed; "
            f"{len(outdated)} outdated lines were moved to {aside.name}, and what this run needs "
            "is computed again.",
            UserWarning,
            stacklevel=3,
        )

    def add(self, task: Task, result: dict[str, Any]) -> None:
        """Write the line of a task, whose outcome is by columns, and see it safely on disk."""
        cells = asdict(task) | {VERSION: __version__} | result
        with naming(self.path), open(self.path, "a", encoding="utf-8", newline="") as file:
            write_rows(file, [[_text(cells.get(column)) for column in COLUMNS]])
            file.flush()
            os.fsync(file.fileno())
        self.done.add(task)


def read_results(*paths: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the lines of one or more results files as a frame; a task in several counts once.

    Raises
    ------
    DataError
        If a file is no results file, or the files are about different data, folds or parameters
        under the same name, or disagree about a task.
    """
    import pandas as pd

    frame = pd.DataFrame(_consistent_rows(paths), columns=list(COLUMNS))
    text = {f.name for f in fields(Task)} - {"fold", "seed"}
    text |= {VERSION, "error", "label_f1", "cut", "tuning", "tuned_label_f1"}
    for column in set(COLUMNS) - text:
        frame[column] = pd.to_numeric(frame[column])
    return frame


def _consistent_rows(paths):
    seen: dict[Task, dict[str, str]] = {}
    versions: dict[str, str] = {}
    for path in paths:
        for row in _rows(path):
            task = _task(row)
            for what, fingerprint in task.versions().items():
                if versions.setdefault(what, fingerprint) != fingerprint:
                    raise DataError(
                        path,
                        f"{what} has the fingerprint {fingerprint} here and {versions[what]} "
                        "elsewhere, expected results of the same data and parameters.",
                    )
            known = seen.setdefault(task, row)
            if any(known[c] != row[c] for c in COLUMNS if c not in (*MEASURED, VERSION)):
                raise DataError(path, f"differs from another file about {task}.")
    return list(seen.values())


def _rows(path, *, whole_lines=False):
    """Yield the lines of a file; `whole_lines` leaves out one that was not finished."""
    check_ordinary(path)
    raw = Path(path).read_bytes()
    if whole_lines:  # no cell ever holds an end of line
        raw = raw[: raw.rfind(b"\n") + 1]
    try:
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8"), newline=""))
        if raw or not whole_lines:
            _check_columns(path, tuple(reader.fieldnames or ()))
        for row in reader:
            cells = {name: cell and unguarded(cell) for name, cell in row.items()}
            yield dict.fromkeys(LATER, "") | cells
    except (UnicodeDecodeError, csv.Error):
        raise DataError(path, "not a text file, expected a results file.") from None


def _check_columns(path, found):
    if found == tuple(c for c in COLUMNS if c in found or c not in LATER):
        return
    if not ALWAYS.issubset(found):
        raise DataError(path, "not a results file, expected the columns of one.", 1)
    lacking = ", ".join(c for c in COLUMNS if c not in found) or "the usual order of columns"
    raise DataError(
        path,
        f"results of another version of labelcover, without {lacking}, so that its lines cannot "
        "be matched with data and parameters; it is left as it is, expected another folder or "
        "the file moved away.",
        1,
    )


def _write(path, rows):
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, [COLUMNS, *([row.get(name) for name in COLUMNS] for row in rows)])
        file.flush()
        os.fsync(file.fileno())


def _task(row: dict[str, Any]) -> Task:
    return Task(**{name: row[name] for name in KEY} | {c: int(row[c]) for c in ("fold", "seed")})


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(f"{each:.4f}" for each in value)
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def listed(names: Iterable[str]) -> str:
    """Return names in words: with commas, and "and" before the last."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
