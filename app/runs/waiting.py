"""The queue as it is seen from outside: positions, and expected waits from real durations."""

from __future__ import annotations

import heapq
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.models import Run, Submission, Visibility
from app.runs import repository
from app.runs.schemas import HardwareQueue, QueuedRun, QueueView, WaitView
from app.workers.service import ALIVE_FOR

NO_WORKER = "No worker for this hardware is up; the run starts as soon as one is."
NO_DURATIONS = "No whole run has finished on this hardware yet, so there is no estimate."


@dataclass(frozen=True)
class QueueFigures:
    """What an estimate rests on: seconds of finished runs, seconds for which runs are going on, workers up."""

    durations_s: Sequence[float]
    running_for_s: Sequence[float]
    workers: int


def expected_wait_s(position: int, figures: QueueFigures) -> tuple[int, int] | None:
    """Seconds until the run at `position` (1 is next) is done: from the lower and upper quartile of durations.

    None without a worker or without any finished run. Pure.
    """
    if not figures.workers or not figures.durations_s:
        return None
    quick, slow = _quartiles(figures.durations_s)
    return round(_finish_s(position, figures, quick)), round(_finish_s(position, figures, slow))


def wait_view(session: Session, run: Run, now: datetime) -> WaitView:
    """Position and expected wait of a waiting run."""
    figures = _figures(session, run.hardware, now)
    position = repository.count_before(session, run) + 1
    expected = expected_wait_s(position, figures)
    note = "" if expected else NO_DURATIONS if figures.workers else NO_WORKER
    low, high = expected or (None, None)
    return WaitView(position=position, expected_low_s=low, expected_high_s=high, workers_up=figures.workers, note=note)


def queue_view(session: Session, now: datetime) -> QueueView:
    """All queues, by hardware."""
    return QueueView(queues=[_queue(session, name, now) for name in repository.hardware_in_use(session)])


def _queue(session: Session, hardware: str, now: datetime) -> HardwareQueue:
    figures = _figures(session, hardware, now)
    waiting = repository.waiting(session, hardware)
    oldest = min((run.queued_at for run, _ in waiting), default=None)
    durations = figures.durations_s
    return HardwareQueue(
        hardware=hardware,
        workers_up=figures.workers,
        running=[_queued(run, submission) for run, submission in repository.leased(session, hardware)],
        waiting=[_queued(run, submission) for run, submission in waiting],
        oldest_age_s=round((now - oldest).total_seconds()) if oldest else None,
        median_run_s=round(statistics.median(durations)) if durations else None,
    )


def _queued(run: Run, submission: Submission) -> QueuedRun:
    shown = submission.public_id if submission.visibility is Visibility.PUBLIC else None
    since = run.queued_at if run.waits else run.started_at or run.queued_at
    attempt = run.attempt + 1 if run.waits else run.attempt
    return QueuedRun(submission=shown, mode=submission.mode.value, attempt=attempt, since=since)


def _figures(session: Session, hardware: str, now: datetime) -> QueueFigures:
    running = repository.running_since(session, hardware)
    return QueueFigures(
        durations_s=repository.recent_durations_s(session, hardware),
        running_for_s=[(now - started).total_seconds() for started in running],
        workers=repository.workers_up(session, hardware, now - ALIVE_FOR),
    )


def _quartiles(durations_s: Sequence[float]) -> tuple[float, float]:
    if len(durations_s) == 1:
        return durations_s[0], durations_s[0]
    low, _, high = statistics.quantiles(durations_s, n=4, method="inclusive")
    return low, high


def _finish_s(position: int, figures: QueueFigures, duration_s: float) -> float:
    """When the run at `position` is done if every run takes `duration_s` and the next free worker takes the next."""
    left = [max(duration_s - ran, 0.0) for ran in figures.running_for_s]
    free = sorted(left)[: figures.workers]
    free += [0.0] * (figures.workers - len(free))
    heapq.heapify(free)
    done = 0.0
    for _ in range(position):
        done = heapq.heappop(free) + duration_s
        heapq.heappush(free, done)
    return done
