"""Results and the queue as they are shown.

Of hidden cases there are coarse aggregates only. Fields are an allow list: what
is not named here cannot get out.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from app.entries.schemas import EntryView


class RunReport(BaseModel):
    """What a run says of itself, as `finish` stores it; versions and digests under which it was judged."""

    verdict: str
    message: str = ""
    suite_digest: str
    hidden_digest: str | None = None
    anchors_version: str
    rules_version: str
    limit_preset: str
    trusted: bool
    timed: bool
    build_seconds: float
    total_score: float | None
    level_scores: dict[str, float]
    environment: dict[str, str]
    control_spread: float | None = None
    inconclusive: bool = False


class FlagView(BaseModel):
    """Why a person should look. Evidence is for reviewers and is not here."""

    flag: str
    severity: str
    operator: str
    case_id: int | None
    message: str


class WorstView(BaseModel):
    """The element furthest off: output, tensor within it, flat index, both values as text."""

    output: int
    tensor: int
    index: int
    golden: str
    found: str


class CaseView(BaseModel):
    """A public case in a result; times in µs, `hap` uncapped, `published_hap` what counts."""

    case_id: int
    verdict: str
    rule: str
    message: str
    hap: float | None
    published_hap: float | None
    candidate_us: float | None
    candidate_mad_us: float | None
    candidate_low_us: float | None
    candidate_high_us: float | None
    samples_us: list[float]
    baseline_us: float | None
    limit_us: float | None
    bottleneck: str | None
    mean_re: float | None
    max_re: float | None
    threshold: float | None
    relaxed: bool
    worst: WorstView | None


class OperatorResultView(BaseModel):
    """An operator in a result. Axes are 20, 30, 50 points at most and add up to the score.

    `hidden_correct_percent` is rounded down to a step of 5; None where no hidden case was judged.
    """

    operator: str
    title: str
    level: str
    verdict: str
    publication: str
    score: float | None
    noise: float
    compile_points: float | None
    correct_points: float | None
    performance_points: float | None
    solved: bool
    speedup: float | None
    public_passed: int
    public_total: int
    hidden_correct_percent: int | None
    hidden_total: int
    message: str
    log_excerpt: str
    flags: list[FlagView]
    cases: list[CaseView]


class Citation(BaseModel):
    """How to cite a result."""

    text: str
    bibtex: str
    url: str


class ResultView(BaseModel):
    """A dated, immutable result: what one run of a submission found.

    `total`, `levels` and `solved` leave out operators on hold; their scores sum to `held_total` (None where none is).
    `control_spread`: half of the control kernel's times lay within this share of their median; None where it was not
    measured. `inconclusive`: the host wavered more than the rules allow, or nobody knows, so scores may have moved.
    """

    id: str
    submission: str
    run: int
    url: str
    board: str
    entry: EntryView
    mode: str
    judged_at: datetime
    verdict: str
    message: str
    total: float | None
    held_total: float | None
    levels: dict[str, float]
    solved: int
    operators: list[OperatorResultView]
    artifact_sha256: str
    suite: str
    suite_version: str
    suite_digest: str
    hidden_digest: str | None
    season: str | None
    anchors_version: str
    rules_version: str
    limit_preset: str
    hardware: str
    trusted: bool
    control_spread: float | None
    inconclusive: bool
    build_seconds: float
    environment: dict[str, str]
    citation: Citation


class WaitView(BaseModel):
    """Where a submission stands in the queue: `position` 1 is next. Seconds until it is done, as a range."""

    position: int
    expected_low_s: int | None
    expected_high_s: int | None
    workers_up: int
    note: str


class QueuedRun(BaseModel):
    """A run in the queue; `submission` is empty for a private one, `attempt` is the one going on or coming next."""

    submission: str | None
    mode: str
    attempt: int
    since: datetime


class HardwareQueue(BaseModel):
    """The queue of one hardware, next first. `oldest_age_s` is how long the first one waits.

    `median_run_s` is over whole runs: ranked, and with something to judge.
    """

    hardware: str
    workers_up: int
    running: list[QueuedRun]
    waiting: list[QueuedRun]
    oldest_age_s: int | None
    median_run_s: int | None


class QueueView(BaseModel):
    """All queues."""

    queues: list[HardwareQueue]
