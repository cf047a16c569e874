"""All fits of a comparison: methods × data sets × folds × seeds, resumable."""

import hashlib
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

from labelcover._arguments import check_random_state, is_auto
from labelcover._progress import progress_bar
from labelcover._table_numbers import rows_of
from labelcover.chunks import is_on_cluster, sent_once
from labelcover.covers import Cover, strategies_by_name
from labelcover.datasets import Dataset, load
from labelcover.ensemble import MOST_SEED, LabelEnsemble, LabelModel, default_cover
from labelcover.experiments._cuts import fit_method, fit_untuned
from labelcover.experiments._fingerprints import (
    data_fingerprint,
    fold_fingerprint,
    method_fingerprint,
)
from labelcover.experiments._folds import Fold, make_folds
from labelcover.experiments.results import ResultsFile, Task
from labelcover.metrics import MEASURES, label_f1
from labelcover.tables import TableEncoder

# On a cluster so many fits for each worker are handed out at a time.
FITS_OF_WORKER = 4
# Characters of the names of data set and method in the name of the file of a cover.
READABLE = 60
# Where Linux tells and resets the peak memory of a process.
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# Strategies that only a given size stops early; estimators have a size of their own for these.
UNSIZED = ("random", "balco")

Method = Any | Callable[[Dataset], Any]
Fit = tuple[Task, Any, Dataset, Fold]
# The columns of a results file that a fit fills, and its cover if it went well and has one.
Outcome = tuple[dict[str, Any], Cover | None]


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
    methods, datasets, folds, n_folds, seeds, n_jobs, verbose
        As in `labelcover.experiments.comparing.compare`; data sets may be names for
        `labelcover.datasets.load`.
    results : path-like or ResultsFile
        The results file; see `labelcover.experiments.results`.
    covers : path-like, optional
        A folder for the cover of each method's first fit on each data set.
    """
    loaded = [load(name) if isinstance(name, str) else name for name in datasets]
    fits = [fit for each in loaded for fit in fits_of(methods, each, folds, n_folds, seeds)]
    opened = nullcontext(results) if isinstance(results, ResultsFile) else ResultsFile(results)
    with opened as file:
        file.set_outdated_aside((task for task, *_ in fits), with_cuts=True)
        groups = [[fit] for fit in fits]
        perform_missing(groups, file, _at_both_cuts, covers=covers, n_jobs=n_jobs, verbose=verbose)


def perform_missing(
    groups: Iterable[Sequence[Fit]],
    file: ResultsFile,
    perform_group: Callable[..., list[Outcome]],
    *,
    covers: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: bool = True,
) -> None:
    """Perform the fits that a file has not, those of a group in one process, and write them.

    All fits of a group are on one data set and fold.
    """
    undone = ([fit for fit in group if fit[0] not in file.done] for group in groups)
    missing = [group for group in undone if group]
    outcomes = _outcomes(
        perform_group, [([fit[1] for fit in group], *group[0][2:]) for group in missing], n_jobs
    )
    shown = [f"{task.dataset}, fold {task.fold + 1}: {task.method}" for (task, *_), *_ in missing]
    with progress_bar("; ".join(shown[:1]), len(missing), show=verbose) as bar:
        for group, found, then in zip(missing, outcomes, [*shown, "done"][1:], strict=True):
            for (task, *_), (result, cover) in zip(group, found, strict=True):
                if covers is not None and cover is not None and task.fold == 0:
                    path = cover_file(covers, task.dataset, task.method)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    cover.save(path)
                file.add(task, result)
            bar.advance()
            bar.describe(then)


def _outcomes(perform_group, groups, n_jobs):
    """Yield the outcomes of groups of fits in their order, whichever is done first."""
    if not is_on_cluster():
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(perform_group)(*group) for group in groups
        )
        return
    # joblib's Dask backend returns lists only: few fits at a time, so that a run that is
    # interrupted loses few.
    datasets = {id(dataset): dataset for _, dataset, _ in groups}
    step = FITS_OF_WORKER * effective_n_jobs(n_jobs)
    with sent_once(list(datasets.values())):
        for start in range(0, len(groups), step):
            batch = groups[start : start + step]
            yield from Parallel(n_jobs=n_jobs)(
                delayed(_perform_alone)(perform_group, *group) for group in batch
            )


def _perform_alone(perform_group, *group):
    """Perform fits in one worker of a cluster, which the other workers' fits keep busy."""
    with parallel_config(backend="sequential"):
        return perform_group(*group)


def _at_both_cuts(estimators, dataset, fold):
    return [perform(estimator, dataset, fold, both_cuts=True) for estimator in estimators]


def cover_file(folder: str | os.PathLike[str], dataset: str, method: str) -> Path:
    """Return where `run` keeps the cover that `method` had on `dataset`.

    A part of both names is there to be read; a hash of the whole keeps apart what is alike there.
    """
    names = f"{dataset} {method}"
    readable = re.sub(r"[^\w+.-]", "_", names)[:READABLE]
    digest = hashlib.blake2b(repr((dataset, method)).encode(), digest_size=4).hexdigest()
    return Path(folder) / f"{readable}-{digest}.json"


def fits_of(
    methods: Mapping[str, Method], dataset: Dataset, folds: str, n_folds: int, seeds: Sequence[int]
) -> Iterator[Fit]:
    """Yield every fit of some methods on a data set, with the seeded estimator.

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
                seeded, told = _seeded(estimator, seed)
                prints = (data, rows[number], identities[name])
                task = Task(dataset.name, name, kind, number, seed, *prints, parameters=told)
                yield task, seeded, dataset, fold


def _prepare(method: Method, dataset: Dataset) -> Any:
    """Return the estimator of a method for a data set, or the error that making it raised."""
    try:
        return method if hasattr(method, "fit") else method(dataset)
    except Exception as error:
        return error


def _seeded(estimator: Any, seed: int) -> tuple[Any, str]:
    """Return an estimator with a seed, and what it is with all its parameters, in one line."""
    if isinstance(estimator, Exception):
        return estimator, repr(estimator)
    seeded = clone(estimator)
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=seed)
    return seeded, " ".join(seeded.__repr__(N_CHAR_MAX=10**6).split())


def perform(estimator: Any, dataset: Dataset, fold: Fold, *, both_cuts: bool = False) -> Outcome:
    """Return the outcome of a fit.

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
        method = (fit_method if both_cuts else fit_untuned)(estimator, X_train, Y_train)
        model = method.model
        fitted = time.perf_counter()
        model.predict(X)
        done = time.perf_counter()
        peak = peak_mb()
        cover = getattr(model, "cover_", None)
        own, tuned, confidence = method.predictions(X)
        result = {
            "n_train": len(fold.train),
            "n_test": len(fold.test),
            "size": None if cover is None else len(cover),
            "design_seconds": design_seconds(estimator, Y.shape[1]),
            "fit_seconds": round(fitted - start, 4),
            "predict_seconds": round(done - fitted, 4),
            "peak_mb": None if peak is None else round(peak, 1),
            "cut": method.cut,
            "tuning": method.tuning,
            "threshold": method.threshold,
            "label_f1": label_f1(Y, own).tolist(),
            **scores_of(Y, own, confidence),
        }
        if tuned is not None:
            scores = scores_of(Y, tuned, None) | {"label_f1": label_f1(Y, tuned).tolist()}
            result |= {f"tuned_{name}": score for name, score in scores.items()}
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


def failed(error: Exception, fold: Fold) -> dict[str, Any]:
    """Return the outcome of a fit that raised an error."""
    text = f"{type(error).__name__}: {error}".split("\n")[0]
    return {"error": text, "n_train": len(fold.train), "n_test": len(fold.test)}


def scores_of(Y: NDArray[Any], predicted: NDArray[Any], confidence: Any) -> dict[str, float]:
    """Return every measure of predictions and, where there are confidences, of these."""
    return {
        name: measure.function(Y, predicted if measure.of_predictions else confidence)
        for name, measure in MEASURES.items()
        if measure.of_predictions or confidence is not None
    }


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


def fit_seeds(estimator: Any) -> NDArray[np.int64]:
    """Return the seeds that a fit of an ensemble draws: of its view, members and threshold."""
    return check_random_state(estimator.random_state).randint(MOST_SEED, size=3)


def design_seconds(estimator: Any, n_labels: int) -> float | None:
    """Return how long an estimator's strategy takes to make the labelsets.

    An estimator designs its cover inside ``fit``. A comparison wants the time of that apart from
    the time of training (Table 9), so the strategy is called once more for this: once in a process
    for each strategy, shape and seed. The permutation of DD-BALANCOR is not part of it.

    Returns
    -------
    float or None
        None for a method that makes no labelsets, is given them, chooses k by the data, or has
        random or BALCO labelsets without a given size.
    """
    strategy = getattr(estimator, "cover", getattr(estimator, "_strategy", None))
    if not isinstance(estimator, LabelEnsemble) or not isinstance(strategy, str):
        return None
    # The cover that links labels follows from these: it has no design of its own.
    linking = is_auto(strategy) and estimator.estimator in (None, "auto")
    unsized = estimator.size is None and strategy in UNSIZED
    r = getattr(estimator, "r", 1)
    if linking or unsized or is_auto(estimator.k) or is_auto(r):
        return None
    k, seed = min(int(estimator.k), n_labels), int(fit_seeds(estimator)[0])
    return _seconds(strategy, n_labels, k, min(int(r), k), estimator.size, seed)


@lru_cache(maxsize=1024)
def _seconds(strategy: str, n_labels: int, k: int, r: int, size: int | None, seed: int) -> float:
    make = default_cover if is_auto(strategy) else strategies_by_name()[strategy]
    start = time.perf_counter()
    make(n_labels, k, r, size=size, random_state=seed)
    return round(time.perf_counter() - start, 6)
