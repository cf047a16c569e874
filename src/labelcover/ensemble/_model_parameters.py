"""The parameters that estimators share, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any


@dataclass(eq=False, repr=False)
class ModelParameters:
    """Parameters of every estimator; those of a subclass are its own fields.

    A subclass is a dataclass too, ``@dataclass(eq=False, repr=False, kw_only=True)``, so that its
    ``__init__`` only keeps what it is given, as scikit-learn wants it.
    """

    estimator: Any = None
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdParameters(ModelParameters):
    """Parameters of every estimator whose confidences are cut at a threshold that may be tuned."""

    threshold: Any = 0.5
    threshold_measure: Any = "auto"
    threshold_search: str = "grid"
    threshold_per_label: bool = False
    threshold_max_std: float | None = None
    ties: str = "auto"
