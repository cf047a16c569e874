"""The pages: of a comparison, of a model, of an audit; each is one self-contained HTML file."""

from labelcover._imports import naming_extra

with naming_extra():
    from labelcover.experiments._report.audit_page import write_audit_page
    from labelcover.experiments._report.comparison_page import write_report
    from labelcover.experiments._report.model_page import write_model_card, write_model_page

__all__ = ["write_audit_page", "write_model_card", "write_model_page", "write_report"]
