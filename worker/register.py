"""Registers this worker's suite, operators, public cases, board and anchors in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Anchors, Board, Operator, PublicCase
from app.models import Suite as SuiteRow
from kernel_eval import model
from kernel_eval.hap import CPU_PRESET, MODEL_VERSION, CpuPeaks, cpu_limit
from kernel_eval.model import Anchor, AnchorSet, Provenance, Split, Suite
from kernel_eval.report.codec import to_plain
from kernel_eval.score import derived_baseline_us
from kernel_eval.settings import RULES_VERSION
from kernel_eval.timing.plan import plan_of
from worker import anchors
from worker.settings import WorkerSettings

TITLES = {"cann-bench-small": "CANN Bench (small)", "cann-bench": "CANN Bench"}


@dataclass(frozen=True)
class Registration:
    """What a board is made of."""

    slug: str
    suite: Suite
    hardware: str
    peaks: CpuPeaks


def register(session: Session, settings: WorkerSettings, suite: Suite, peaks: CpuPeaks, now: datetime) -> Board:
    """The board of this suite on this hardware, with everything it stands on; nothing is done twice.

    A board whose suite or hidden set has changed keeps its standings under a
    dated name, and a new board takes its place: versions are never mixed.
    """
    wanted = Registration(settings.board, suite, settings.worker_hardware, peaks)
    row = _suite_row(session, suite)
    board = session.scalars(select(Board).where(Board.slug == wanted.slug).with_for_update()).one_or_none()
    if board is not None and (board.suite_id, board.hidden_digest) == (row.id, suite.hidden_digest):
        return board
    if board is not None:
        board.slug = f"{board.slug}-{board.created_at:%Y%m%d%H%M%S}"
        board.title = f"{board.title} (until {now:%Y-%m-%d})"
        session.flush()
    return _new_board(session, wanted, row, now)


def _suite_row(session: Session, suite: Suite) -> SuiteRow:
    row = session.scalars(select(SuiteRow).where(SuiteRow.digest == suite.digest)).one_or_none()
    if row is None:
        row = SuiteRow(name=suite.name, version=suite.version, digest=suite.digest)
        session.add(row)
        session.flush()
        for operator in suite.operators:
            _add_operator(session, row, operator, suite)
    return row


def _add_operator(session: Session, suite_row: SuiteRow, operator: model.Operator, suite: Suite) -> None:
    row = Operator(
        suite_id=suite_row.id,
        name=operator.name,
        title=operator.title,
        function=operator.function,
        level=str(operator.level),
        category=operator.category,
        schema=operator.schema,
        desc_en=_text(operator, "desc.md"),
        desc_zh=_text(operator, "desc.zh.md"),
        spec=_operator_spec(operator),
    )
    session.add(row)
    session.flush()
    public = (case for case in suite.cases_of(operator.name) if case.split is Split.PUBLIC)
    session.add_all(PublicCase(operator_id=row.id, case_id=case.case_id, spec=_case_spec(case)) for case in public)


def _text(operator: model.Operator, name: str) -> str:
    path = operator.folder / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _operator_spec(operator: model.Operator) -> dict[str, object]:
    kept = (
        "inputs", "attributes", "outputs", "thresholds", "absolute_errors", "threshold_reason", "same_precision_relief",
        "in_place",
    )  # fmt: skip
    return {name: to_plain(getattr(operator, name)) for name in kept}


def _case_spec(case: model.Case) -> dict[str, object]:
    return {name: to_plain(getattr(case, name)) for name in ("shapes", "dtypes", "attributes", "value_ranges", "note")}


def _new_board(session: Session, wanted: Registration, suite_row: SuiteRow, now: datetime) -> Board:
    made = anchors.store(session, first_anchors(wanted, _anchors_version(session, wanted, now), now), now)
    title = f"{TITLES.get(wanted.suite.name, wanted.suite.name)} on {wanted.hardware}"
    title += " (trial)" if wanted.slug.endswith("-trial") else ""
    board = Board(
        slug=wanted.slug,
        suite_id=suite_row.id,
        hardware=wanted.hardware,
        title=title,
        rules_version=RULES_VERSION,
        limit_preset=CPU_PRESET,
        anchors_id=made.id,
        season=wanted.suite.season,
        hidden_digest=wanted.suite.hidden_digest,
        fingerprint=wanted.peaks.fingerprint(),
    )
    session.add(board)
    session.flush()
    return board


def _anchors_version(session: Session, wanted: Registration, now: datetime) -> str:
    same = select(func.count()).where(Anchors.hardware == wanted.hardware, Anchors.suite_digest == wanted.suite.digest)
    return f"{now:%Y-%m-%d}.{(session.scalar(same) or 0) + 1}"


def first_anchors(wanted: Registration, version: str, now: datetime) -> AnchorSet:
    """Limits from the host's peaks; baselines derived from them until a run has measured them."""
    made = [_anchor(wanted, case) for case in wanted.suite.cases]
    environment = {
        "cpu_model": wanted.peaks.cpu_model,
        "threads": str(wanted.peaks.threads),
        "memory_bytes_per_s": f"{wanted.peaks.memory_bytes_per_s:.4g}",
        "model_version": MODEL_VERSION,
    }
    recorded_at = now.isoformat(timespec="seconds")
    return AnchorSet(version, wanted.hardware, wanted.suite.digest, recorded_at, environment, anchors.keyed(made))


def _anchor(wanted: Registration, case: model.Case) -> Anchor:
    """The limit for the pool that the case is timed over on this host."""
    operator = wanted.suite.operator(case.operator)
    limit = cpu_limit(operator, case, wanted.peaks, plan_of(operator, case, wanted.peaks).pool_bytes)
    baseline_us = derived_baseline_us(limit.limit_us)
    return Anchor(case.operator, case.split, case.case_id, baseline_us, limit, Provenance.DERIVED)
