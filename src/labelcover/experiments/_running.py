"""All fits of a comparison: methods × data sets × folds × seeds, resumable."""

import hashlib
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from labelcover._progress import progress_bar
from labelcover._table_numbers import rows_of
from labelcover.chunks import is_on_cluster, sent_once
from labelcover.covers import Cover
from labelcover.datasets import Dataset, load
from labelcover.ensemble import LabelModel
from labelcover.experiments._cover_designs import design_seconds
from labelcover.experiments._cuts import FittedMethod, confidences, fit_method
from labelcover.experiments._fingerprints import (
    data_fingerprint,
    fold_fingerprint,
    method_fingerprint,
)
from labelcover.experiments._folds import Fold, make_folds
from labelcover.experiments.results import Result, ResultsFile, Task
from labelcover.metrics import MEASURES, label_f1
from labelcover.tables import TableEncoder

# On a cluster so many fits for each worker are handed out at a time.
FITS_OF_WORKER = 4
# Characters of the names of data set and method in the name of the file of a cover.
READABLE = 60
# Where Linux tells and resets the peak memory of a process.
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")

Method = Any | Callable[[Dataset], Any]


def run(
    methods: Mapping[str, Method],
    datasets: Sequence[Dataset | str],
    results: str | os.PathLike[str] | ResultsFile,
    *,
    folds: str = "kfold",
    n_folds: int = 10,
    seeds: Sequence[int] = (0,),
    covers: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: bool = True,
) -> None:
    """Fit and test every method on every fold of every data set; write the outcomes to a file.

    Each finished fit is written to the file at once. Running the same again resumes an
    interrupted run; with more methods, data sets or seeds, only what is missing is computed. A
    method that fails is recorded with its error, and the others continue.

    Lines of the file are reused only if data, folds and parameters are the same as now, by their
    fingerprints. Where they are not, the lines are set aside with a warning and computed again.

    Parameters
    ----------
    methods : mapping of str to estimator, or to a function of a `Dataset` that returns one
        Methods by name. Each is cloned for every fit and gets the seed as ``random_state``.
    datasets : list of Dataset or str
        Data sets, or names for `labelcover.datasets.load`.
    results : path-like or ResultsFile
        The results file; see `labelcover.experiments.results`.
    folds, n_folds
        As in `make_folds`. The folds are the same for every method and seed.
    seeds : list of int
        Every method is run once for each.
    covers : path-like, optional
        A folder for the cover of each method's first fit on each data set.
    n_jobs : int, optional
        Number of fits in parallel, each in a process of its own. Results are the same but for
        the times, which are longer when fits compete. In a context of
        `labelcover.chunks.cluster`, fits go to the workers of a Dask cluster instead.
    verbose : bool
        Show a progress bar.

    Raises
    ------
    BlockingIOError
        If another process is writing the results file.
    """
    loaded = [load(name) if isinstance(name, str) else name for name in datasets]
    fits = [
        (task, estimator, dataset, fold)
        for dataset in loaded
        for task, estimator, fold in tasks_of(methods, dataset, folds, n_folds, seeds)
    ]
    opened = nullcontext(results) if isinstance(results, ResultsFile) else ResultsFile(results)
    with opened as file:
        file.set_outdated_aside((task for task, *_ in fits), with_cuts=True)
        missing = [fit for fit in fits if fit[0] not in file.done]
        if missing:
            _perform_all(missing, file, covers, n_jobs, verbose)


def _perform_all(fits, file, covers, n_jobs, verbose):
    outcomes = _outcomes([fit[1:] for fit in fits], n_jobs)
    with progress_bar("comparing", len(fits), show=verbose) as bar:
        bar.describe(_shown(fits[0][0]))
        following = [_shown(task) for task, *_ in fits[1:]] + ["done"]
        for (task, *_), (result, cover), then in zip(fits, outcomes, following, strict=True):
            if covers is not None and cover is not None and task.fold == 0:
                path = cover_file(covers, task.dataset, task.method)
                path.parent.mkdir(parents=True, exist_ok=True)
                cover.save(path)
            file.add(task, result)
            bar.advance()
            bar.describe(then)


def _outcomes(fits, n_jobs):
    """Yield the outcomes of fits in their order, whichever is done first."""
    if not is_on_cluster():
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(perform)(*fit, both_cuts=True) for fit in fits
        )
        return
    # joblib's Dask backend returns lists only: few fits at a time, so that a run that is
    # interrupted loses few.
    datasets = {id(dataset): dataset for _, dataset, _ in fits}
    step = FITS_OF_WORKER * effective_n_jobs(n_jobs)
    with sent_once(list(datasets.values())):
        for start in range(0, len(fits), step):
            batch = fits[start : start + step]
            yield from Parallel(n_jobs=n_jobs)(delayed(_perform_alone)(*fit) for fit in batch)


def _perform_alone(estimator, dataset, fold):
    """Perform a fit in one worker of a cluster, which the other workers' fits keep busy."""
    with parallel_config(backend="sequential"):
        return perform(estimator, dataset, fold, both_cuts=True)


def cover_file(folder: str | os.PathLike[str], dataset: str, method: str) -> Path:
    """Return where `run` keeps the cover that `method` had on `dataset`.

    A part of both names is there to be read; a hash of the whole keeps apart what is alike there.
    """
    names = f"{dataset} {method}"
    readable = re.sub(r"[^\w+.-]", "_", names)[:READABLE]
    digest = hashlib.blake2b(repr((dataset, method)).encode(), digest_size=4).hexdigest()
    return Path(folder) / f"{readable}-{digest}.json"


def _shown(task: Task) -> str:
    return f"{task.dataset}, fold {task.fold + 1}: {task.method}"


def tasks_of(
    methods: Mapping[str, Method], dataset: Dataset, folds: str, n_folds: int, seeds: Sequence[int]
) -> Iterator[tuple[Task, Any, Fold]]:
    """Yield every fit of some methods on a data set: its task, the seeded estimator and the fold.

    A method that cannot be made for the data set comes as the exception that making it raised.
    """
    made = make_folds(dataset, folds, n_folds=n_folds)
    kind = f"{folds}-{n_folds}" if folds in ("kfold", "stratified") else os.path.basename(folds)
    data, rows = data_fingerprint(dataset), [fold_fingerprint(fold) for fold in made]
    prepared = {name: _prepare(method, dataset) for name, method in methods.items()}
    identities = {name: method_fingerprint(estimator) for name, estimator in prepared.items()}
    for seed in seeds:
        for number, fold in enumerate(made):
            for name, estimator in prepared.items():
                seeded = _seeded(estimator, seed)
                prints = (data, rows[number], identities[name])
                task = Task(
                    dataset.name, name, kind, number, seed, *prints, parameters=_one_line(seeded)
                )
                yield task, seeded, fold


def _prepare(method: Method, dataset: Dataset) -> Any:
    """Return the estimator of a method for a data set, or the error that making it raised."""
    try:
        return method if hasattr(method, "fit") else method(dataset)
    except Exception as error:
        return error


def _seeded(estimator: Any, seed: int) -> Any:
    if isinstance(estimator, Exception):
        return estimator
    seeded = clone(estimator)
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=seed)
    return seeded


def _one_line(estimator: Any) -> str:
    """Return what an estimator is with all its parameters, however many."""
    if isinstance(estimator, Exception):
        return repr(estimator)
    return " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())


def perform(
    estimator: Any, dataset: Dataset, fold: Fold, *, both_cuts: bool = False
) -> tuple[Result, Cover | None]:
    """Return the outcome of a fit and, if it went well and has one, its cover.

    With `both_cuts`, predictions are those by the method's own cut, and those at a tuned threshold
    are measured too (`labelcover.experiments._cuts`); else they are those of ``predict``.
    """
    try:
        if isinstance(estimator, Exception):
            raise estimator
        X_train, X = _rows_of(estimator, dataset, fold)
        Y_train, Y = dataset.Y[fold.train], dataset.Y[fold.test]
        reset_peak()
        start = time.perf_counter()
        method = fit_method(estimator, X_train, Y_train) if both_cuts else None
        model = estimator.fit(X_train, Y_train) if method is None else method.model
        fitted = time.perf_counter()
        predicted = np.asarray(model.predict(X))
        done = time.perf_counter()
        peak = peak_mb()
        cover = getattr(model, "cover_", None)
        measured = _at_cuts(method, X, Y) if method else _measured(Y, predicted, model, X)
        result = Result(
            n_train=len(fold.train),
            n_test=len(fold.test),
            size=None if cover is None else len(cover),
            design_seconds=design_seconds(estimator, Y.shape[1]),
            fit_seconds=round(fitted - start, 4),
            predict_seconds=round(done - fitted, 4),
            peak_mb=None if peak is None else round(peak, 1),
            **measured,
        )
        return result, cover
    except Exception as error:
        return failed(error, fold), None


def _rows_of(estimator: Any, dataset: Dataset, fold: Fold) -> tuple[Any, Any]:
    """Return training and test rows as an estimator takes them: a table, or else numbers.

    A table is encoded by its training rows alone.
    """
    if dataset.table is None:
        X = dataset.rows if get_tags(estimator).input_tags.categorical else dataset.X
        return rows_of(X, fold.train), rows_of(X, fold.test)
    if getattr(estimator, "columns", None) is not None:  # its own encoding
        return dataset.table[fold.train], dataset.table[fold.test]
    tables = _encoded(dataset, fold.train.tobytes(), fold.test.tobytes())
    takes_tables = isinstance(estimator, LabelModel)
    return tables if takes_tables else tuple(table.known[1] for table in tables)


@lru_cache(maxsize=1)
def _encoded(dataset: Dataset, *rows: bytes) -> tuple[Any, Any]:
    """Return training and test rows of a table, encoded; the methods of a fold share them."""
    table: Any = dataset.table
    train, test = (table[np.frombuffer(own, np.intp)] for own in rows)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # What is unusual was said of the whole table.
        Y = dataset.Y[np.frombuffer(rows[0], np.intp)]
        encoder, X = TableEncoder.fitted(train, Y, train.choices)
        new = encoder.encode(test)
    return replace(train, known=(encoder, X)), replace(test, known=(encoder, new))


def _measured(Y: NDArray[Any], predicted: NDArray[Any], model: Any, X: Any) -> dict[str, Any]:
    scores = scores_of(Y, predicted, confidences(model, X))
    return {"scores": scores, "label_f1": label_f1(Y, predicted).tolist()}


def _at_cuts(method: FittedMethod, X: Any, Y: NDArray[Any]) -> dict[str, Any]:
    """Return what a result holds of the predictions by both cuts."""
    own, tuned, confidence = method.predictions(X)
    found = {
        "scores": scores_of(Y, own, confidence),
        "label_f1": label_f1(Y, own).tolist(),
        "cut": method.cut,
        "tuning": method.tuning,
        "threshold": method.threshold,
    }
    if tuned is not None:
        found["tuned_scores"] = scores_of(Y, tuned, None)
        found["tuned_label_f1"] = label_f1(Y, tuned).tolist()
    return found


def failed(error: Exception, fold: Fold) -> Result:
    """Return the outcome of a fit that raised an error."""
    text = f"{type(error).__name__}: {error}".split("\n")[0]
    return Result(error=text, n_train=len(fold.train), n_test=len(fold.test))


def scores_of(
    Y: NDArray[Any], predicted: NDArray[Any], confidence: NDArray[Any] | None
) -> dict[str, float]:
    """Return every measure of predictions and, where there are confidences, of these."""
    found = {}
    for name, measure in MEASURES.items():
        if measure.of_predictions:
            found[name] = measure.function(Y, predicted)
        elif confidence is not None:
            found[name] = measure.function(Y, confidence)
    return found


def reset_peak() -> None:
    """Reset the peak, where the system supports it (Linux)."""
    with suppress(OSError):
        RESET.write_text("5")


def peak_mb() -> float | None:
    """Return the peak resident memory since `reset_peak` in MB (10⁶ bytes), if known."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None
