"""Report to JSON and back without loss; the form is fixed by `report.schema.json`."""

from __future__ import annotations

import json
from typing import Any, cast

from kernel_eval.errors import UsageError
from kernel_eval.model import Report
from kernel_eval.report.codec import MalformedError, from_plain, to_plain
from kernel_eval.report.summary import summarise

FORMAT = "kernel-eval report 1"
"""Name of the format; stands first in every report."""


def report_to_plain(report: Report) -> dict[str, Any]:
    """The report as JSON values: format, summary, then every field of `Report`."""
    return {"format": FORMAT, "summary": to_plain(summarise(report)), **to_plain(report)}


def report_to_json(report: Report) -> str:
    """The report as one JSON text, ending in a newline."""
    return json.dumps(report_to_plain(report), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def report_from_plain(plain: object) -> Report:
    """The report behind `report_to_plain`'s value. Raises `UsageError` naming the first place that doesn't fit."""
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise UsageError(f"report: not a report of the format {FORMAT!r}; write it with `kernel-eval eval`")
    try:
        return cast("Report", from_plain(Report, plain))
    except MalformedError as fault:
        raise UsageError(f"report: {fault}") from fault


def report_from_json(text: str) -> Report:
    """The report behind `report_to_json`'s text. Raises `UsageError` where it isn't one."""
    try:
        plain = json.loads(text)
    except ValueError as fault:
        raise UsageError(f"report: not JSON: {fault}") from fault
    return report_from_plain(plain)
