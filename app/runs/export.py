"""A result as CSV: one line per public case. Pure."""

from __future__ import annotations

import csv
import io

from app.runs.schemas import CaseView, ResultView

_OF_CASE = [name for name in CaseView.model_fields if name not in {"samples_us", "worst", "message"}]


def result_csv(view: ResultView) -> str:
    """Operator, its score, then everything of each public case; hidden cases have no lines."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["result", "operator", "level", "operator_score", *_OF_CASE])
    for operator in view.operators:
        head = [view.id, operator.operator, operator.level, operator.score]
        for case in operator.cases:
            writer.writerow([*head, *(getattr(case, name) for name in _OF_CASE)])
    return text.getvalue()
