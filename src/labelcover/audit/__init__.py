"""Which labels of a table look wrong: cells that contradict what everything else says."""

from labelcover.audit._error_numbers import LabelErrors, WrongLabels, label_errors
from labelcover.audit._reasons import CellReasons, explain_suspects
from labelcover.audit._suspects import (
    KINDS,
    LabelNumbers,
    Suspect,
    Suspects,
    suspicion,
    suspicious_labels,
)

__all__ = [
    "KINDS",
    "CellReasons",
    "LabelErrors",
    "LabelNumbers",
    "Suspect",
    "Suspects",
    "WrongLabels",
    "explain_suspects",
    "label_errors",
    "suspicion",
    "suspicious_labels",
]
