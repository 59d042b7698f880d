"""A plan as a page for browsers, and its pools as pictures: `PlanRecord` and `Study` → values → templates → text."""

from usmp_build.report.page.render import report_page, report_picture

__all__ = ["report_page", "report_picture"]
