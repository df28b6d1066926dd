"""Anchors in the database: made for a board at its registration, completed by its first measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import AnchorRow, Anchors, Board, HiddenAnchorRow
from kernel_eval.model import Anchor, AnchorSet, Bottleneck, Limit, Provenance, Split

AnyRow = AnchorRow | HiddenAnchorRow
Kind = TypeVar("Kind", AnchorRow, HiddenAnchorRow)


def store(session: Session, anchors: AnchorSet, recorded_at: datetime) -> Anchors:
    """Adds a version with all its rows; hidden ones into the hidden schema."""
    version = Anchors(
        version=anchors.version,
        hardware=anchors.hardware,
        suite_digest=anchors.suite_digest,
        recorded_at=recorded_at,
        environment=dict(anchors.environment),
    )
    session.add(version)
    session.flush()
    session.add_all(_row(anchor, version.id) for anchor in anchors.anchors.values())
    return version


def load(session: Session, board: Board) -> AnchorSet | None:
    """The board's anchors with the hidden rows; None where it has none yet."""
    if board.anchors_id is None:
        return None
    version = session.get_one(Anchors, board.anchors_id)
    found = [
        _anchor(row, split, version, board.limit_preset) for split in Split for row in _rows(session, split, version.id)
    ]
    return AnchorSet(
        version=version.version,
        hardware=version.hardware,
        suite_digest=version.suite_digest,
        recorded_at=version.recorded_at.isoformat(),
        environment={key: str(value) for key, value in version.environment.items()},
        anchors={f"{anchor.operator}/{anchor.split}/{anchor.case_id}": anchor for anchor in found},
    )


def record_baselines(
    session: Session, anchors_id: int, measured: Mapping[tuple[str, Split, int], float], now: datetime
) -> int:
    """Puts measured baselines (µs) where only derived ones stand; returns how many were put.

    The first run that measures a case decides; later runs are compared with it.
    """
    changed = 0
    version = session.get_one(Anchors, anchors_id, with_for_update=True)
    for split in Split:
        for row in _rows(session, split, anchors_id):
            baseline_us = measured.get((row.operator, split, row.case_id))
            if baseline_us is not None and row.provenance == Provenance.DERIVED:
                row.baseline_us, row.provenance = baseline_us, str(Provenance.MEASURED)
                changed += 1
    if changed:
        version.recorded_at = now
        version.environment = {**version.environment, "baselines_measured_at": now.isoformat(timespec="seconds")}
    return changed


def keyed(anchors: Iterable[Anchor]) -> dict[str, Anchor]:
    """Anchors by the key of their case."""
    return {f"{anchor.operator}/{anchor.split}/{anchor.case_id}": anchor for anchor in anchors}


def _rows(session: Session, split: Split, anchors_id: int) -> Sequence[AnyRow]:
    if split is Split.PUBLIC:
        return _select(session, AnchorRow, anchors_id)
    return _select(session, HiddenAnchorRow, anchors_id)


def _select(session: Session, kind: type[Kind], anchors_id: int) -> Sequence[Kind]:
    return session.scalars(select(kind).where(kind.anchors_id == anchors_id).order_by(kind.id)).all()


def _kind(split: Split) -> type[AnyRow]:
    return AnchorRow if split is Split.PUBLIC else HiddenAnchorRow


def _row(anchor: Anchor, anchors_id: int) -> AnyRow:
    return _kind(anchor.split)(
        anchors_id=anchors_id,
        operator=anchor.operator,
        case_id=anchor.case_id,
        baseline_us=anchor.baseline_us,
        limit_us=anchor.limit.limit_us,
        units=dict(anchor.limit.units_us),
        bottleneck=str(anchor.limit.bottleneck),
        provenance=str(anchor.provenance),
    )


def _anchor(row: AnyRow, split: Split, version: Anchors, preset: str) -> Anchor:
    limit = Limit(
        limit_us=row.limit_us,
        units_us=row.units,
        bottleneck=Bottleneck(row.bottleneck),
        preset=preset,
        model_version=str(version.environment.get("model_version", "")),
    )
    return Anchor(row.operator, split, row.case_id, row.baseline_us, limit, Provenance(row.provenance))
