"""Show operators and their public cases."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.models import AnchorRow, Operator, PublicCase, Suite
from app.operators import repository
from app.operators.errors import OperatorNotFound
from app.operators.schemas import CaseSpecView, CasesView, OperatorSummary, OperatorView


def list_operators(session: Session, suite_name: str | None = None) -> list[OperatorSummary]:
    """Operators of the latest version of a suite (of the latest registered one where not named)."""
    suite = repository.suite(session, suite_name)
    if suite is None:
        return []
    return [_summary(operator, suite, count) for operator, count in repository.in_suite(session, suite.id)]


def operator_view(session: Session, name: str, suite_name: str | None = None) -> OperatorView:
    """One operator; raises `OperatorNotFound`."""
    suite, operator, count = _find(session, name, suite_name)
    return OperatorView(
        **_summary(operator, suite, count).model_dump(),
        schema_text=operator.schema,
        desc_en=operator.desc_en,
        desc_zh=operator.desc_zh,
        spec=operator.spec,
    )


def cases_view(session: Session, name: str, suite_name: str | None = None) -> CasesView:
    """The operator's public cases with the anchors of the suite's oldest board; raises `OperatorNotFound`."""
    suite, operator, _ = _find(session, name, suite_name)
    board = repository.first_board(session, suite.id)
    anchors = repository.anchor_rows(session, board.anchors_id if board else None, operator.name)
    cases = repository.public_cases(session, operator.id)
    return CasesView(
        operator=operator.name,
        suite=suite.name,
        suite_digest=suite.digest,
        board=board.slug if board else None,
        cases=[_case(operator.name, case, anchors.get(case.case_id)) for case in cases],
    )


def operator_levels(session: Session, suite_id: int) -> dict[str, str]:
    """Level of each operator of a suite, by level and name."""
    return repository.levels(session, suite_id)


def operator_titles(session: Session, suite_id: int) -> dict[str, str]:
    """Title of each operator of a suite."""
    return repository.titles(session, suite_id)


def public_specs(session: Session, board_slug: str) -> dict[str, dict[int, dict[str, Any]]]:
    """Declarations of all public cases of a board's suite, by operator and case id."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for operator, case in repository.public_cases_on(session, board_slug):
        found.setdefault(operator, {})[case.case_id] = case.spec
    return found


def _find(session: Session, name: str, suite_name: str | None) -> tuple[Suite, Operator, int]:
    suite = repository.suite(session, suite_name)
    for operator, count in repository.in_suite(session, suite.id) if suite else ():
        if operator.name == name and suite is not None:
            return suite, operator, count
    raise OperatorNotFound(name, suite_name)


def _summary(operator: Operator, suite: Suite, count: int) -> OperatorSummary:
    return OperatorSummary(
        name=operator.name,
        title=operator.title,
        function=operator.function,
        level=operator.level,
        category=operator.category,
        suite=suite.name,
        suite_version=suite.version,
        public_cases=count,
    )


def _case(operator: str, case: PublicCase, anchor: AnchorRow | None) -> CaseSpecView:
    return CaseSpecView(
        operator=operator,
        case_id=case.case_id,
        spec=case.spec,
        baseline_us=anchor.baseline_us if anchor else None,
        baseline_provenance=anchor.provenance if anchor else None,
        limit_us=anchor.limit_us if anchor else None,
        bottleneck=anchor.bottleneck if anchor else None,
    )
