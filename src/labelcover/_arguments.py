"""Checks of arguments, with errors that name the parameter, its value and what is accepted."""

import math
import numbers
import operator
import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np


def check_integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an ``int`` if it is a whole number in ``[low, high]``.

    A ``ValueError`` refuses booleans and floats too.
    """
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if is_whole and (low is None or value >= low) and (high is None or value <= high):
        return int(value)
    if low is not None and high is not None:
        span = f" between {low} and {high}"
    else:
        span = f" of at least {low}" if low is not None else ""
        span += f" of at most {high}" if high is not None else ""
    raise ValueError(f"{name} must be an integer{span}, got {int(value) if is_whole else value!r}.")


def check_real(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a ``float`` if it is a number in ``[low, high]`` and in ``(above, below)``.

    A ``ValueError`` refuses booleans and NaN too.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    number: Any = value if is_number else math.nan
    bounds = (
        ("above", above, operator.gt),
        ("at least", low, operator.ge),
        ("at most", high, operator.le),
        ("below", below, operator.lt),
    )
    asked = [(word, bound, holds) for word, bound, holds in bounds if bound is not None]
    if math.isnan(number) or not all(holds(number, bound) for _, bound, holds in asked):
        span = " and ".join(f"{word} {bound}" for word, bound, _ in asked)
        raise ValueError(f"{name} must be a number{span and ' ' + span}, got {value!r}.")
    return float(number)


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a ``float`` if it is a finite number above 0."""
    if value == math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")
    return check_real(name, value, above=0)


def check_choice(name: str, value: Any, choices: Collection[Any]) -> Any:
    """Return `value` if it is one of `choices`, else raise a ``ValueError`` listing them."""
    if isinstance(value, str) and value in choices:
        return value
    accepted = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be one of {accepted}, got {value!r}.")


def is_auto(value: Any) -> bool:
    """Tell whether a parameter is left to the library."""
    return isinstance(value, str) and value == "auto"


def check_seed(random_state: Any) -> Any:
    """Return `random_state` if it is a seed, None or a ``RandomState``."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return random_state
    return check_integer("random_state", random_state, low=0, high=2**32 - 1)


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return a ``RandomState`` for a seed, for ``None`` (a fresh one) or for one that is given."""
    seed = check_seed(random_state)
    return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)


def check_jobs(n_jobs: Any) -> None:
    """Raise a ``ValueError`` unless `n_jobs` is None or an integer other than 0."""
    if n_jobs is not None and check_integer("n_jobs", n_jobs) == 0:
        raise ValueError("n_jobs must be None or an integer other than 0, got 0.")


# Whether a command is running: its options are then named, not the parameters of Python.
_IN_COMMAND: ContextVar[bool] = ContextVar("in a command", default=False)


@contextmanager
def naming_options() -> Iterator[None]:
    """Let `parameter` name the options of the command."""
    before = _IN_COMMAND.set(True)
    try:
        yield
    finally:
        _IN_COMMAND.reset(before)


def in_command() -> bool:
    """Return whether a command is running, and no program of somebody else."""
    return _IN_COMMAND.get()


def parameter(name: str, value: Any = None) -> str:
    """Return how a message names a parameter, with a value: as Python or the command has it.

    The command repeats an option for each value of a list, takes ``none`` for an empty one, and
    has ``--no-header`` for ``header=False``.

    Examples
    --------
    >>> from labelcover._arguments import naming_options, parameter
    >>> parameter("label_prefix"), parameter("empty", "skip")
    ('label_prefix', "empty='skip'")
    >>> with naming_options():
    ...     parameter("label_prefix"), parameter("empty", "skip")
    ('--label-prefix', '--empty skip')
    """
    if not _IN_COMMAND.get():
        return name if value is None else f"{name}={value!r}"
    option = "--" + name.replace("_", "-")
    if value is None:
        return option
    if value is False:
        return option.replace("--", "--no-", 1)
    values = (value or ["none"]) if isinstance(value, list) else [value]
    return " ".join(f"{option} {shlex.quote(str(each))}" for each in values)
