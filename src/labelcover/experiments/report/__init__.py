"""The pages: of a comparison, of a model, of an audit; each is one self-contained HTML file."""

from labelcover._versions import naming_extra

with naming_extra():
    from labelcover.experiments.report.audit_page import write_audit_page
    from labelcover.experiments.report.model_page import write_model_page
    from labelcover.experiments.report.page import write_report

__all__ = ["write_audit_page", "write_model_page", "write_report"]
