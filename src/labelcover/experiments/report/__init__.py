"""The report: one self-contained HTML page."""

from labelcover.experiments.report.page import write_report

__all__ = ["write_report"]
