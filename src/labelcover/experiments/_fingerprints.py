"""Fingerprints: short texts that are equal if data, folds or parameters are, in any process.

A results file is reused only for what its lines are about. Names do not tell: a file of the same
name may have changed, and two covers of the same shape have one ``repr``. A fingerprint is a hash
of the content.
"""

import copyreg
import functools
import hashlib
import inspect
import types
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._table_numbers import canonical_rows
from labelcover.covers import Cover
from labelcover.datasets import Dataset
from labelcover.experiments._folds import Fold

#: Length of a fingerprint in bytes; it is written in hexadecimal digits, twice as many.
LENGTH = 8
# Parameters that are younger than results files; None changes nothing.
YOUNGER = ("columns",)
# Where classes were when results files began: moving one does not change what it is.
FORMER = {
    **dict.fromkeys(["RakelClassifier", "RakelPlusPlusClassifier"], "labelcover.ensemble.rakel"),
    **dict.fromkeys(
        ["InlacClassifier", "BalcoClassifier", "BalancorClassifier", "DDBalancorClassifier"],
        "labelcover.ensemble.covering_methods",
    ),
    **dict.fromkeys(
        ["PrunedSetsClassifier", "EnsembleOfPrunedSetsClassifier"], "labelcover.methods.pruned_sets"
    ),
}


def data_fingerprint(dataset: Dataset) -> str:
    """Return the fingerprint of the features, the labels and their names.

    The name of the data set, its description and its own split are not part of it.
    """
    return _digest(
        (
            dataset.X,
            dataset.Y,
            dataset.feature_names,
            dataset.label_names,
            dataset.categorical,
            dataset.categories,
            *(() if dataset.table is None else ("encoded in each fold",)),
        )
    )


def fold_fingerprint(fold: Fold) -> str:
    """Return the fingerprint of the rows to train on and the rows to test on."""
    return _digest((fold.train, fold.test))


def method_fingerprint(estimator: Any) -> str:
    """Return the fingerprint of an estimator: its class and all parameters, by their content.

    The estimator's own ``random_state`` is not part of it, as `run` sets it to each seed.
    Estimators inside it count with their class and parameters, functions with their name, code,
    defaults and closure. What a function calls by name is not looked into.

    Raises
    ------
    ValueError
        If a parameter holds an object whose content cannot be seen, such as an open file.
    """
    if not hasattr(estimator, "get_params"):
        return _digest(estimator)
    parameters = _parameters(estimator)
    parameters.pop("random_state", None)
    return _digest((type(estimator), parameters))


def _digest(value: Any) -> str:
    digest = hashlib.blake2b(digest_size=LENGTH)
    for piece in _pieces(value, ()):
        # Lengths keep neighbours apart: ("ab", "c") is not ("a", "bc").
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()


def _pieces(value: Any, above: tuple[int, ...]) -> Iterator[bytes | memoryview]:
    """Yield the content of a value as bytes; `above` are the ids of what it is inside of."""
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
        # np.int64(3) and 3 are the same parameter.
        value = value.item() if isinstance(value, np.generic) else value
        yield f"{type(value).__name__} {value!r}".encode(errors="surrogatepass")
    elif isinstance(value, bytes | bytearray):
        yield from (b"bytes", bytes(value))
    elif isinstance(value, np.ndarray):
        yield from _array(value, above)
    elif id(value) in above:
        # A function may refer to itself in its closure.
        yield f"inside {len(above) - above.index(id(value))}".encode()
    else:
        kind, parts = _parts(value)
        yield kind.encode()
        for part in parts:
            yield from _pieces(part, (*above, id(value)))
        yield b"end"


def _array(array: np.ndarray, above: tuple[int, ...]) -> Iterator[bytes | memoryview]:
    """Yield kind, shape and cells; the width of integers and the byte order are the platform's."""
    yield f"array {array.dtype.kind} {array.shape}".encode()
    if array.dtype.kind in "OSUV":
        for cell in array.ravel().tolist():
            yield from _pieces(cell, above)
        return
    if array.dtype.kind == "f":
        # Every zero and every NaN counts as the same one.
        array = array.astype("<f8") + 0.0
        array[np.isnan(array)] = np.nan
    elif array.dtype.kind in "iu" and array.dtype.itemsize > 1:
        array = array.astype(f"<{array.dtype.kind}8")
    elif array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _parts(value: Any) -> tuple[str, Iterator[Any]]:
    """Return what kind of thing a value is, and what it consists of."""
    if sparse.issparse(value):
        rows = canonical_rows(value)
        return "sparse", iter((rows.shape, rows.indptr, rows.indices, rows.data))
    if isinstance(value, Cover):
        return "cover", iter((value.n_labels, value.labelsets))
    if isinstance(value, Mapping):
        items = sorted(value.items(), key=lambda item: _digest(item[0]))
        return f"mapping {_name(type(value))}", iter(items)
    if isinstance(value, Set):
        return "set", iter(sorted(_digest(item) for item in value))
    if isinstance(value, list | tuple):
        return f"sequence {_name(type(value))}", iter(value)
    if isinstance(value, type):
        return f"class {_name(value)}", iter(())
    if hasattr(value, "get_params"):
        parameters = sorted(_parameters(value).items())
        return f"estimator {_name(type(value))}", iter(parameters)
    if isinstance(value, types.CodeType):
        return "code", iter((value.co_code, value.co_consts, value.co_names, value.co_varnames))
    if isinstance(value, functools.partial):
        return "partial", iter((value.func, value.args, value.keywords))
    if inspect.ismethod(value):
        return "method", iter((value.__func__, value.__self__))
    # Compiled functions of numba keep the one they were made of.
    value = getattr(value, "py_func", value)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        content = (value.__code__, value.__defaults__, value.__kwdefaults__, cells)
        return f"function {_name(value)}", iter(content)
    if callable(value) and hasattr(value, "__name__"):
        return f"function {_name(value)}", iter(())
    called = (type(value).__call__,) if callable(value) else ()
    return f"object {_name(type(value))}", iter((*called, *_state(value)))


def _parameters(estimator: Any) -> dict[str, Any]:
    found = estimator.get_params(deep=False)
    return {
        name: value for name, value in found.items() if name not in YOUNGER or value is not None
    }


def _state(value: Any) -> tuple[Any, ...]:
    """Return what pickle would write of an object: any object that can be sent to a process."""
    reduce = copyreg.dispatch_table.get(type(value))
    try:
        made = value.__reduce_ex__(4) if reduce is None else reduce(value)
    except TypeError:
        raise ValueError(
            f"a parameter of a method holds an object of the type {_name(type(value))}, which "
            "cannot be told from another; expected numbers, texts, arrays, covers, functions, "
            "estimators, or objects that can be pickled."
        ) from None
    if isinstance(made, str):
        return (made,)
    constructor, arguments, *rest = made
    # These only say how an object is made again; the class is part of the arguments.
    named = () if constructor.__module__ == copyreg.__name__ else (constructor,)
    return (
        *named,
        *arguments,
        *(list(part) if isinstance(part, Iterator) else part for part in rest),
    )


def _name(thing: Any) -> str:
    module = str(getattr(thing, "__module__", None))
    name = getattr(thing, "__qualname__", None) or thing.__name__
    if module.startswith("labelcover."):
        # Whether a module is private does not change what is in it.
        module = FORMER.get(name, module.replace("._", "."))
    return f"{module}.{name}"
