"""The queue and the workers in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.runs.schemas import HardwareQueue, QueuedRun
from app.web.figures import duration
from app.web.svg.markup import Gettext
from app.web.words import hardware_name
from app.workers.schemas import WorkerView


@dataclass(frozen=True)
class QueueLine:
    """One run in the queue; a private one has no name and no link."""

    position: str
    public_id: str
    href: str
    state: str
    since: datetime
    age: str


@dataclass(frozen=True)
class HardwareLine:
    """One hardware: a sentence about its queue, and its runs."""

    hardware: str
    sentence: str
    rows: tuple[QueueLine, ...]


@dataclass(frozen=True)
class WorkerLine:
    """A worker: its state and when it was last heard of, in words."""

    name: str
    hardware: str
    state: str
    message: str
    heard: str
    machine: str


def hardware_line(queue: HardwareQueue, now: datetime, _: Gettext) -> HardwareLine:
    """A queue with its running runs first, then the waiting ones by position."""
    running = tuple(_line("–", run, now, _("running"), _) for run in queue.running)
    waiting = tuple(
        _line(str(position), run, now, _("waiting"), _) for position, run in enumerate(queue.waiting, start=1)
    )
    return HardwareLine(hardware_name(queue.hardware), _sentence(queue, _), running + waiting)


def worker_line(worker: WorkerView, now: datetime, _: Gettext) -> WorkerLine:
    """A worker as the table shows it."""
    states = {"up": _("up"), "draining": _("draining"), "down": _("down")}
    state = states.get(worker.state, worker.state)
    if worker.state != "down" and not worker.alive:
        state = _("not heard of")
    heard = _("{span} ago").format(span=duration((now - worker.heartbeat_at).total_seconds()))
    threads = _("{count} threads").format(count=worker.threads) if worker.threads else ""
    machine = " · ".join(part for part in (worker.cpu, threads) if part)
    return WorkerLine(worker.name, hardware_name(worker.hardware), state, worker.message, heard, machine)


def _line(position: str, run: QueuedRun, now: datetime, state: str, _: Gettext) -> QueueLine:
    kind = "" if run.mode == "ranked" else ", " + _("practice")
    again = "" if run.attempt <= 1 else ", " + _("attempt {number}").format(number=run.attempt)
    return QueueLine(
        position=position,
        public_id=run.submission or _("private"),
        href=f"/submissions/{run.submission}" if run.submission else "",
        state=state + kind + again,
        since=run.since,
        age=duration((now - run.since).total_seconds()),
    )


def _sentence(queue: HardwareQueue, _: Gettext) -> str:
    said = [
        _("{running} running, {waiting} waiting").format(running=len(queue.running), waiting=len(queue.waiting)),
        _("workers up: {count}").format(count=queue.workers_up),
    ]
    if queue.oldest_age_s is not None:
        said.append(_("the oldest waits for {span}").format(span=duration(queue.oldest_age_s)))
    if queue.median_run_s is not None:
        said.append(_("a run takes about {span}").format(span=duration(queue.median_run_s)))
    return "; ".join(said)
