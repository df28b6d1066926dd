"""`/operators`."""

from __future__ import annotations

from fastapi import APIRouter, Request

from app.operators import service
from app.operators.schemas import CasesView, OperatorSummary, OperatorView
from app.portal import portal_of

router = APIRouter(prefix="/operators", tags=["operators"])


@router.get("")
def list_operators(request: Request, suite: str | None = None) -> list[OperatorSummary]:
    """Operators of a suite; of the latest registered one where none is named."""
    with portal_of(request).database.session() as session:
        return service.list_operators(session, suite)


@router.get("/{name}")
def get_operator(request: Request, name: str, suite: str | None = None) -> OperatorView:
    """One operator with its description and declaration."""
    with portal_of(request).database.session() as session:
        return service.operator_view(session, name, suite)


@router.get("/{name}/cases")
def get_cases(request: Request, name: str, suite: str | None = None) -> CasesView:
    """The operator's public cases with their anchors."""
    with portal_of(request).database.session() as session:
        return service.cases_view(session, name, suite)
