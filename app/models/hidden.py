"""Rows of hidden cases, in a schema that only the worker's role can read.

The portal never queries these tables; its database role has no right to.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base
from app.models.catalogue import AnchorFigures, Anchors
from app.models.results import CaseFigures
from app.models.runs import Run

HIDDEN_SCHEMA = "hidden"


class HiddenCaseResult(CaseFigures, Base):
    """A hidden case in one run."""

    __tablename__ = "case_results"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey(Run.id))

    __table_args__ = (UniqueConstraint("run_id", "operator", "case_id"), {"schema": HIDDEN_SCHEMA})


class HiddenAnchorRow(AnchorFigures, Base):
    """Anchors of a hidden case; its limit would reveal its size."""

    __tablename__ = "anchor_rows"

    id: Mapped[int] = mapped_column(primary_key=True)
    anchors_id: Mapped[int] = mapped_column(ForeignKey(Anchors.id))

    __table_args__ = (UniqueConstraint("anchors_id", "operator", "case_id"), {"schema": HIDDEN_SCHEMA})
