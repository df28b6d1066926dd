"""SQL about suites, operators and public cases."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from app.models import AnchorRow, Board, Operator, PublicCase, Suite


def suite(session: Session, name: str | None) -> Suite | None:
    """The latest registered version of the suite of that name, or of any."""
    query = select(Suite).order_by(Suite.registered_at.desc(), Suite.id.desc()).limit(1)
    return session.scalars(query.where(Suite.name == name) if name else query).first()


def in_suite(session: Session, suite_id: int) -> Sequence[Row[Operator, int]]:
    """The suite's operators by level and name, each with its number of public cases."""
    count = select(func.count()).where(PublicCase.operator_id == Operator.id).scalar_subquery()
    query = select(Operator, count).where(Operator.suite_id == suite_id)
    return session.execute(query.order_by(Operator.level, Operator.name)).all()


def levels(session: Session, suite_id: int) -> dict[str, str]:
    """Level of each operator of the suite, by level and name."""
    query = select(Operator.name, Operator.level).where(Operator.suite_id == suite_id)
    return {row.name: row.level for row in session.execute(query.order_by(Operator.level, Operator.name))}


def titles(session: Session, suite_id: int) -> dict[str, str]:
    """Title of each operator of the suite."""
    query = select(Operator.name, Operator.title).where(Operator.suite_id == suite_id)
    return {row.name: row.title for row in session.execute(query)}


def public_cases(session: Session, operator_id: int) -> Sequence[PublicCase]:
    """The operator's public cases, by id."""
    query = select(PublicCase).where(PublicCase.operator_id == operator_id)
    return session.scalars(query.order_by(PublicCase.case_id)).all()


def public_cases_on(session: Session, board_slug: str) -> Sequence[Row[str, PublicCase]]:
    """All public cases of a board's suite with their operators' names."""
    query = select(Operator.name, PublicCase).join(PublicCase, PublicCase.operator_id == Operator.id)
    query = query.join(Board, Board.suite_id == Operator.suite_id).where(Board.slug == board_slug)
    return session.execute(query).all()


def first_board(session: Session, suite_id: int) -> Board | None:
    """The suite's oldest board."""
    query = select(Board).where(Board.suite_id == suite_id).order_by(Board.id).limit(1)
    return session.scalars(query).first()


def anchor_rows(session: Session, anchors_id: int | None, operator: str) -> dict[int, AnchorRow]:
    """Anchors of the operator's public cases, by case id."""
    query = select(AnchorRow).where(AnchorRow.anchors_id == anchors_id, AnchorRow.operator == operator)
    return {row.case_id: row for row in session.scalars(query)}
