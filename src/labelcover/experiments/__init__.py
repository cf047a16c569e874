"""Comparisons: runs of methods on data sets, their statistics and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names

if TYPE_CHECKING:
    from labelcover.experiments._paper.reproduce import reproduce
    from labelcover.experiments._report.model_page import (
        write_audit_page,
        write_model_card,
        write_model_page,
    )

__all__ = ["reproduce", "write_audit_page", "write_model_card", "write_model_page"]

# Pages and tables need pandas, Jinja and Matplotlib.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "reproduce": "_paper.reproduce",
        "write_audit_page": "_report.model_page",
        "write_model_card": "_report.model_page",
        "write_model_page": "_report.model_page",
    },
)
