"""How one evaluation is run. Values of the published evaluator are the defaults."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

RULES_VERSION = "1"
"""Version of the scoring rules (`docs/spec/`); stored in every report and pinned by every board."""


@dataclass(frozen=True)
class Settings:
    """Settings of one evaluation.

    `threads` is the number of cores a candidate gets; `timed` False judges
    correctness alone; `second_trial` plays every accepted case once more on other
    inputs, and accepts it only where both are right; `sandboxed` False is for a person's own code and marks
    the report untrusted. Durations are in seconds.
    """

    work_dir: Path
    cache_dir: Path
    hardware: str = "cpu"
    warmup: int = 3
    repeat: int = 5
    timed: bool = True
    second_trial: bool = False
    sandboxed: bool = True
    case_isolation: bool = True
    iterative_compile: bool = True
    op_timeout_s: float = 240.0
    build_timeout_s: float = 600.0
    threads: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
