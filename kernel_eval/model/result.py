"""What the judge says of a case and of an operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernel_eval.model.anchor import Limit
from kernel_eval.model.case import Split
from kernel_eval.model.flag import Flag
from kernel_eval.model.measurement import Measurement
from kernel_eval.model.operator import Level
from kernel_eval.model.verdict import Verdict


@dataclass(frozen=True)
class Worst:
    """The element furthest off: output, flat index there, both values. For index outputs these are the indices."""

    output: int
    tensor: int
    index: int
    golden: float
    found: float


@dataclass(frozen=True)
class Comparison:
    """Outcome of comparing all outputs of one call with their golden.

    `rule` names the rule that decided (`structure.dtype`, `integers`, `special.nan`,
    `first_screen`, `regions`, …). `regions` holds, per region, counts of positions
    and of errors. `threshold` is the effective τ; `relaxed` whether it is wider than
    the dtype's default.
    """

    verdict: Verdict
    rule: str
    message: str = ""
    mean_re: float | None = None
    max_re: float | None = None
    threshold: float | None = None
    relaxed: bool = False
    regions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    worst: Worst | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether the outputs pass."""
        return self.verdict is Verdict.ACCEPTED


@dataclass(frozen=True)
class CaseResult:
    """Everything known of one case. `hap` is s, uncapped; `published_hap` is what counts now.

    `baseline` is the one measured beside the candidate; `anchor_us` the recorded
    baseline that stands in where none was measured. `attempted` tells whether some
    output varied where its golden varies; None where that can't be told.
    """

    operator: str
    case_id: int
    split: Split
    verdict: Verdict
    rule: str = ""
    message: str = ""
    comparison: Comparison | None = None
    candidate: Measurement | None = None
    baseline: Measurement | None = None
    limit: Limit | None = None
    hap: float | None = None
    published_hap: float | None = None
    flags: tuple[Flag, ...] = ()
    seconds: float = 0.0
    anchor_us: float | None = None
    attempted: bool | None = None

    @property
    def accepted(self) -> bool:
        """Whether the case counts as correct."""
        return self.verdict is Verdict.ACCEPTED


@dataclass(frozen=True)
class OperatorResult:
    """An operator's standing in one run.

    `score` is 0…100 (above 100 only with approved cases faster than the limit);
    `compile_points`, `correct_points` and `performance_points` are its three
    axes (20, 30, 50 at most). None where an `internal_error` leaves it unpublished.
    """

    operator: str
    level: Level
    verdict: Verdict
    cases: tuple[CaseResult, ...]
    compile_points: float | None
    correct_points: float | None
    performance_points: float | None
    score: float | None
    solved: bool
    speedup: float | None = None
    flags: tuple[Flag, ...] = ()
    message: str = ""
    log_excerpt: str = ""
