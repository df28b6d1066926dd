"""What a run found: operators, public cases, flags, and what of it stands on boards."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, words_of


class Publication(StrEnum):
    """What became of an operator's score."""

    PENDING = "pending"
    STANDING = "standing"
    """It is the entry's standing, or the best it already had is as good."""
    HELD = "held"
    """A hold flag waits for a person's decision."""
    UNRANKED = "unranked"
    """Practice, or a private submission."""
    UNSCORED = "unscored"
    """A fault of ours left it without a score; the previous one stands."""


class OperatorResult(Base):
    """An operator in one run, without anything that tells of a single hidden case.

    Axes and `hidden_passed_coarse` (per cent in steps of 5, rounded down) come from
    `app.runs.coarse`; `noise` is the half width of the score's uncertainty in points.
    `source` is the digest of the operator's sources: runs of the same sources are one
    attempt measured several times. `message` and `log_excerpt` stem from the build
    and from public cases.
    """

    __tablename__ = "operator_results"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    operator: Mapped[str]
    level: Mapped[str]
    source: Mapped[str]
    verdict: Mapped[str]
    score: Mapped[float | None]
    noise: Mapped[float] = mapped_column(default=0.0)
    compile_points: Mapped[float | None]
    correct_points: Mapped[float | None]
    performance_points: Mapped[float | None]
    solved: Mapped[bool]
    speedup: Mapped[float | None]
    public_passed: Mapped[int]
    public_total: Mapped[int]
    hidden_passed_coarse: Mapped[int | None]
    hidden_total: Mapped[int]
    publication: Mapped[Publication] = mapped_column(words_of(Publication), default=Publication.PENDING)
    message: Mapped[str] = mapped_column(default="")
    log_excerpt: Mapped[str] = mapped_column(default="")
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)

    __table_args__ = (UniqueConstraint("run_id", "operator"),)


class CaseFigures:
    """Everything known of one case; times in µs, `hap` uncapped, `published_hap` what counts.

    `detail` holds every timing sample, unit times, regions and the worst element.
    """

    operator: Mapped[str]
    case_id: Mapped[int]
    verdict: Mapped[str]
    rule: Mapped[str] = mapped_column(default="")
    message: Mapped[str] = mapped_column(default="")
    hap: Mapped[float | None]
    published_hap: Mapped[float | None]
    candidate_us: Mapped[float | None]
    candidate_mad_us: Mapped[float | None]
    candidate_low_us: Mapped[float | None]
    candidate_high_us: Mapped[float | None]
    baseline_us: Mapped[float | None]
    limit_us: Mapped[float | None]
    bottleneck: Mapped[str | None]
    mean_re: Mapped[float | None]
    max_re: Mapped[float | None]
    threshold: Mapped[float | None]
    relaxed: Mapped[bool] = mapped_column(default=False)
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


class CaseResult(CaseFigures, Base):
    """A public case in one run."""

    __tablename__ = "case_results"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))

    __table_args__ = (UniqueConstraint("run_id", "operator", "case_id"),)


class FlagRow(Base):
    """A reason to look. `case_id` is empty for a hidden case and for an operator as a whole."""

    __tablename__ = "flags"

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    operator: Mapped[str]
    case_id: Mapped[int | None]
    flag: Mapped[str]
    severity: Mapped[str]
    message: Mapped[str]
    evidence: Mapped[dict[str, Any]] = mapped_column(default=dict)

    __table_args__ = (Index(None, "run_id", "operator"),)


class Standing(Base):
    """An entry's best published score of one operator on a board.

    It is the median over `runs` runs of the same sources; `run_id` is the first of them, whose permalink stays.
    """

    __tablename__ = "standings"

    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"), primary_key=True)
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"), primary_key=True)
    operator: Mapped[str] = mapped_column(primary_key=True)
    score: Mapped[float]
    noise: Mapped[float] = mapped_column(default=0.0)
    runs: Mapped[int] = mapped_column(default=1)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    published_at: Mapped[datetime]

    __table_args__ = (Index(None, "run_id"),)


class StandingEvent(Base):
    """Append-only history of standings; a score of None takes the operator off the board."""

    __tablename__ = "standing_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    board_id: Mapped[int] = mapped_column(ForeignKey("boards.id"))
    entry_id: Mapped[int] = mapped_column(ForeignKey("entries.id"))
    operator: Mapped[str]
    score: Mapped[float | None]
    noise: Mapped[float] = mapped_column(default=0.0)
    runs: Mapped[int] = mapped_column(default=1)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    at: Mapped[datetime]
    reason: Mapped[str]

    __table_args__ = (Index(None, "board_id", "entry_id", "operator", "at"),)
