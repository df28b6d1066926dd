"""Operators and public cases as they are shown."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class OperatorSummary(BaseModel):
    """An operator in a list. `name` is its key everywhere, `function` what a submission exports."""

    name: str
    title: str
    function: str
    level: str
    category: str
    suite: str
    suite_version: str
    public_cases: int


class OperatorView(OperatorSummary):
    """An operator with its description (Markdown, English and Chinese) and declaration.

    `spec` has `inputs`, `attributes`, `outputs`, `thresholds` as declared. `schema_text` is its signature.
    """

    schema_text: str
    desc_en: str
    desc_zh: str
    spec: dict[str, Any]


class CaseSpecView(BaseModel):
    """A public case. `spec` has `shapes`, `dtypes`, `attributes`, `value_ranges`, `note`; times in µs.

    `baseline_provenance` is `measured`, `derived` or `capped`. A derived baseline is a multiple of the limit; it stands
    in until a run has measured the case.
    """

    operator: str
    case_id: int
    spec: dict[str, Any]
    baseline_us: float | None = None
    baseline_provenance: str | None = None
    limit_us: float | None = None
    bottleneck: str | None = None


class CasesView(BaseModel):
    """The public cases of an operator; anchors are those of the named board, where there is one."""

    operator: str
    suite: str
    suite_digest: str
    board: str | None
    cases: list[CaseSpecView]
