"""The two anchors of a case: baseline and limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.model.case import Split

UNITS = ("cube", "vector", "mte1", "mte2", "mte3", "fixp")
"""The six hardware units of the limit's model (paper, section 3)."""


class Bottleneck(StrEnum):
    """What bounds the limit, in the paper's three words."""

    VECTOR = "Vector"
    CUBE = "Cube"
    MTE = "MTE"
    UNKNOWN = "unknown"
    """Of limits that were imported as bare times."""


class Provenance(StrEnum):
    """Where a baseline comes from."""

    MEASURED = "measured"
    DERIVED = "derived"
    CAPPED = "capped"


@dataclass(frozen=True)
class Limit:
    """T_HW of one case in µs, with the time of each of the six units in µs."""

    limit_us: float
    units_us: Mapping[str, float]
    bottleneck: Bottleneck
    preset: str
    model_version: str


NO_LIMIT = Limit(0.0, {}, Bottleneck.UNKNOWN, "none", "none")
"""Of a case whose work nobody knows: it is scored against its baseline alone, as if the limit were 0."""


@dataclass(frozen=True)
class Anchor:
    """Baseline and limit of one case on one hardware."""

    operator: str
    split: Split
    case_id: int
    baseline_us: float
    limit: Limit
    provenance: Provenance


@dataclass(frozen=True)
class AnchorSet:
    """A dated version of a hardware's anchors, keyed by `Case.key`."""

    version: str
    hardware: str
    suite_digest: str
    recorded_at: str
    environment: Mapping[str, str]
    anchors: Mapping[str, Anchor]
