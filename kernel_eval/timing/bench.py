"""What timing a case needs and what comes of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kernel_eval.model import CallSpec, Comparison, Measurement, Verdict
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play
from kernel_eval.runner.pool import Pool
from kernel_eval.timing.pace import Pace, Side
from kernel_eval.timing.plan import Plan
from kernel_eval.timing.statistics import median

CROSS_CHECKED = 1 / 5
"""The share of cases, drawn by chance, in which a batch of another length is played as well."""


@dataclass(frozen=True)
class Bench:
    """What the timed cases of one evaluation share.

    `pause_s` is the rest before each batch, `cross_checked` the share of cases with a second batch length,
    `pace` what the cases before this one taught about the length of batches.
    """

    candidate: RunBox
    baseline: RunBox
    pool: Pool
    warmup: int
    repeat: int
    pause_s: float
    randomness: random.Random
    cross_checked: float = CROSS_CHECKED
    pace: Pace = field(default_factory=Pace)

    def settle(self) -> None:
        """Wait until neither box forks anything any more."""
        self.candidate.settle()
        self.baseline.settle()


@dataclass(frozen=True)
class Subject:
    """One case to be timed.

    `operator` is its name. `fill` writes the values of the buffers that are played: the known inputs, by trial, at
    the first given buffers, decoys freshly drawn at all others of the second. `verify` judges the outputs of a trial
    that lie in the given buffer. `overhead_us` gives h of a batch of that many calls; `expected_us` is a rough T_base
    for the time limit; `score` is the case's score (0 to 1) for a baseline and a candidate time; `seed` fixes
    the bootstrap.
    """

    operator: str
    candidate: CallSpec
    baseline: CallSpec
    plan: Plan
    fill: Callable[[Sequence[int], Sequence[int]], None]
    verify: Callable[[int, int], Comparison]
    overhead_us: Callable[[int], float]
    expected_us: float
    score: Callable[[float, float], float]
    seed: int


@dataclass
class Timing:
    """What came of timing a case; `verdict` is other than accepted where a timed process failed.

    `play` is the failed one, `comparison` that of a known output that was wrong.
    `short_us` are the cross-check's samples, `plays` all finished batches of the candidate, `candidate_s`
    the seconds that its processes ran, `seconds` what all rounds took, `calls` the length of a
    batch by side.
    """

    verdict: Verdict = Verdict.ACCEPTED
    candidate: Measurement | None = None
    baseline: Measurement | None = None
    play: Play | None = None
    comparison: Comparison | None = None
    nonlinear: bool = False
    unstable: bool = False
    candidate_us: list[float] = field(default_factory=list)
    baseline_us: list[float] = field(default_factory=list)
    short_us: list[float] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    candidate_s: float = 0.0
    seconds: float = 0.0
    calls: dict[Side, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the candidate failed in a timed process."""
        return self.verdict is not Verdict.ACCEPTED

    @property
    def short_ratio(self) -> float:
        """Time per call of the short batches over that of the long ones; 1.0 where there is none of either."""
        if not self.short_us or not self.candidate_us:
            return 1.0
        return median(self.short_us) / median(self.candidate_us)
