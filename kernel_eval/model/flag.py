"""Why a person should look. A flag never edits a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much a flag holds back.

    `NOTE` is shown; `REVIEW` is published provisionally; `HOLD` keeps the
    operator off the board until a person decides.
    """

    NOTE = "note"
    REVIEW = "review"
    HOLD = "hold"


class FlagId(StrEnum):
    """Every flag the judge raises."""

    FASTER_THAN_LIMIT = "faster_than_limit"
    ANCHOR_CONTRADICTION = "anchor_contradiction"
    BATCH_NONLINEAR = "batch_nonlinear"
    KNOWN_OUTPUT_MISMATCH = "known_output_mismatch"
    UNSTABLE_TIMING = "unstable_timing"
    NO_ATTEMPT = "no_attempt"
    OPAQUE_BINARY = "opaque_binary"
    WORK_AFTER_DONE = "work_after_done"
    CPU_ABOVE_WALL = "cpu_above_wall"
    RESIDUE = "residue"
    SOURCE_HINT = "source_hint"
    BINARY_HINT = "binary_hint"
    GUARD_ERROR = "guard_error"


@dataclass(frozen=True)
class Flag:
    """A reason to look, with evidence a reviewer can read.

    `case_id` is None where the flag stands on the operator as a whole.
    """

    id: FlagId
    severity: Severity
    operator: str
    case_id: int | None
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
