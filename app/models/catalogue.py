"""What is judged: suites, operators, public cases, anchors of public cases, boards."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base


class Suite(Base):
    """A registered version of a suite."""

    __tablename__ = "suites"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    version: Mapped[str]
    digest: Mapped[str] = mapped_column(unique=True)
    registered_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Operator(Base):
    """An operator of a suite. `spec` holds inputs, attributes, outputs and thresholds as declared."""

    __tablename__ = "operators"

    id: Mapped[int] = mapped_column(primary_key=True)
    suite_id: Mapped[int] = mapped_column(ForeignKey("suites.id"))
    name: Mapped[str]
    title: Mapped[str]
    function: Mapped[str]
    level: Mapped[str]
    category: Mapped[str]
    schema: Mapped[str]
    desc_en: Mapped[str] = mapped_column(default="")
    desc_zh: Mapped[str] = mapped_column(default="")
    spec: Mapped[dict[str, Any]]

    __table_args__ = (UniqueConstraint("suite_id", "name"),)


class PublicCase(Base):
    """A public case. `spec` holds shapes, dtypes, attributes, value ranges and the note."""

    __tablename__ = "public_cases"

    id: Mapped[int] = mapped_column(primary_key=True)
    operator_id: Mapped[int] = mapped_column(ForeignKey("operators.id"))
    case_id: Mapped[int]
    spec: Mapped[dict[str, Any]]

    __table_args__ = (UniqueConstraint("operator_id", "case_id"),)


class Anchors(Base):
    """A dated version of a hardware's baselines and limits."""

    __tablename__ = "anchors"

    id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[str]
    hardware: Mapped[str]
    suite_digest: Mapped[str]
    recorded_at: Mapped[datetime]
    environment: Mapped[dict[str, Any]]

    __table_args__ = (UniqueConstraint("hardware", "suite_digest", "version"),)


class AnchorFigures:
    """Baseline and limit of one case in µs, with the time of each unit."""

    operator: Mapped[str]
    case_id: Mapped[int]
    baseline_us: Mapped[float]
    limit_us: Mapped[float]
    units: Mapped[dict[str, Any]]
    bottleneck: Mapped[str]
    provenance: Mapped[str]


class AnchorRow(AnchorFigures, Base):
    """Anchors of a public case."""

    __tablename__ = "anchor_rows"

    id: Mapped[int] = mapped_column(primary_key=True)
    anchors_id: Mapped[int] = mapped_column(ForeignKey("anchors.id"))

    __table_args__ = (UniqueConstraint("anchors_id", "operator", "case_id"),)


class Board(Base):
    """A suite on a hardware with pinned rules. `version` counts every change of what it shows."""

    __tablename__ = "boards"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    suite_id: Mapped[int] = mapped_column(ForeignKey("suites.id"))
    hardware: Mapped[str]
    title: Mapped[str]
    rules_version: Mapped[str]
    limit_preset: Mapped[str]
    anchors_id: Mapped[int | None] = mapped_column(ForeignKey("anchors.id"))
    season: Mapped[str | None]
    hidden_digest: Mapped[str | None]
    fingerprint: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
