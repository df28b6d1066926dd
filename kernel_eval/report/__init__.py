"""A report as JSON, Markdown, a self-contained page, and a few lines of summary."""

from kernel_eval.report.html import report_to_html
from kernel_eval.report.json import report_from_json, report_from_plain, report_to_json, report_to_plain
from kernel_eval.report.markdown import report_to_markdown
from kernel_eval.report.summary import Summary, summarise

__all__ = [
    "Summary",
    "report_from_json",
    "report_from_plain",
    "report_to_html",
    "report_to_json",
    "report_to_markdown",
    "report_to_plain",
    "summarise",
]
