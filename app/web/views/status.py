"""The status line of a submission: its stages, made from what was told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from app.web.svg.markup import Gettext
from app.web.words import STATUS_SENTENCES, STATUS_WORDS, spelled

SETTLED: Final = frozenset({"published", "held", "failed", "cancelled", "withdrawn"})
DONE, NOW, TO_COME, STOPPED = "done", "now", "todo", "stopped"
FOLLOWED_KINDS: Final = (
    "received queued started building built operator public_cases hidden_cases operator_done log retrying "
    "published held failed cancelled withdrawn"
)


class Told(Protocol):
    """One thing told of a submission."""

    @property
    def kind(self) -> str:
        """What happened."""

    @property
    def at(self) -> datetime:
        """When."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Its particulars."""


@dataclass(frozen=True)
class Step:
    """One stage: its name, what is known of it, when it was reached, and whether it is done, current or to come."""

    name: str
    note: str
    at: datetime | None
    state: str


@dataclass(frozen=True)
class StatusView:
    """The changing part of a submission's page."""

    steps: tuple[Step, ...]
    sentence: str
    message: str
    settled: bool
    ours: bool
    stream: str
    part: str
    kinds: str = FOLLOWED_KINDS


@dataclass(frozen=True)
class Wait:
    """Where a waiting submission stands: position counts from 1, expected seconds as a range."""

    position: int
    expected_s: tuple[float, float] | None


def status_view(
    public_id: str,
    status: str,
    message: str,
    events: Sequence[Told],
    wait: Wait | None,
    practice: bool,
    _: Gettext,
) -> StatusView:
    """The stages as far as they were told; a practice submission has no hidden cases."""
    settled = status in SETTLED
    steps = _steps(_latest(events), status, practice, wait, _)
    return StatusView(
        steps=tuple(steps),
        sentence=_sentence(status, events, _),
        message=message if status in ("failed", "cancelled") else "",
        settled=settled,
        ours=status == "failed",
        stream=f"/api/v1/submissions/{public_id}/events",
        part=f"/submissions/{public_id}/status",
    )


def _sentence(status: str, events: Sequence[Told], _: Gettext) -> str:
    latest = events[-1] if events else None
    if status == "running" and latest is not None and latest.kind == "retrying":
        return _("An attempt was lost by a fault of ours; attempt {attempt} of {of} follows by itself.").format(
            attempt=latest.data.get("attempt", "?"), of=latest.data.get("of", "?")
        )
    return _(STATUS_SENTENCES.get(status, ""))


def _latest(events: Sequence[Told]) -> dict[str, Told]:
    """The last event of each kind; what an earlier, lost attempt told of its work is left out."""
    latest: dict[str, Told] = {}
    for event in events:
        if event.kind == "started":
            latest = {kind: told for kind, told in latest.items() if kind in ("received", "queued")}
        latest[event.kind] = event
    return latest


def _steps(told: Mapping[str, Told], status: str, practice: bool, wait: Wait | None, _: Gettext) -> list[Step]:
    stages: list[tuple[str, Sequence[str], str]] = [
        (_("Received"), ("received",), ""),
        (_("Queued"), ("queued",), _queue_note(wait, status, _)),
        (_("Building"), ("building", "built"), _build_note(told.get("built"), _)),
        (
            _("Public cases"),
            ("public_cases", "operator"),
            _count_note(told.get("public_cases"), _("{done} of {total}")),
        ),
    ]
    if not practice:
        note = _count_note(told.get("hidden_cases"), _("operator {position} of {total}"))
        stages.append((_("Hidden cases"), ("hidden_cases",), note))
    reached = [any(kind in told for kind in kinds) for _name, kinds, _note in stages]
    furthest = max((index for index, was in enumerate(reached) if was), default=0)
    steps = [
        Step(name, note, _first_time(told, kinds), _state(index, furthest, status))
        for index, (name, kinds, note) in enumerate(stages)
    ]
    return [*steps, _last_step(told, status, _)]


def _state(index: int, furthest: int, status: str) -> str:
    if status in ("published", "held", "withdrawn") or index < furthest:
        return DONE
    if index > furthest:
        return TO_COME
    return STOPPED if status in ("failed", "cancelled") else NOW


def _last_step(told: Mapping[str, Told], status: str, _: Gettext) -> Step:
    if status not in SETTLED:
        return Step(_("Published"), "", None, TO_COME)
    event = told.get(status)
    state = STOPPED if status in ("failed", "cancelled") else DONE
    name = _(spelled(STATUS_WORDS, status))
    return Step(name[:1].upper() + name[1:], "", event.at if event else None, state)


def _first_time(told: Mapping[str, Told], kinds: Sequence[str]) -> datetime | None:
    times = [told[kind].at for kind in kinds if kind in told]
    return min(times, default=None)


def _queue_note(wait: Wait | None, status: str, _: Gettext) -> str:
    if status != "queued" or wait is None:
        return ""
    place = _("position {position}").format(position=wait.position)
    if wait.expected_s is None:
        return place
    low, high = (max(round(seconds / 60), 1) for seconds in wait.expected_s)
    span = _("about {low} min").format(low=low) if low == high else _("{low}–{high} min").format(low=low, high=high)
    return f"{place}, {span}"


def _build_note(built: Told | None, _: Gettext) -> str:
    if built is None:
        return ""
    seconds = built.data.get("seconds")
    figure = f"{seconds:.0f} s" if isinstance(seconds, int | float) else ""
    return figure if built.data.get("succeeded", True) else _("failed")


def _count_note(event: Told | None, form: str) -> str:
    if event is None or "total" not in event.data:
        return ""
    return form.format(
        done=event.data.get("done", 0), position=event.data.get("position", 0), total=event.data["total"]
    )
