"""The status line of a submission: its steps in the reader's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.runs.schemas import WaitView
from app.submissions.happenings import Happening
from app.submissions.schemas import StepName, StepState, StepView, SubmissionView
from app.web.svg.markup import Gettext
from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for
from app.web.words import STATUS_SENTENCES, STATUS_WORDS, spelled

FOLLOWED_KINDS: Final = " ".join((*Happening, "position", "settled"))
STOPPED: Final = frozenset({"failed", "cancelled"})
CAME_THROUGH: Final = frozenset({"published", "held", "withdrawn"})
"""A run that came through passed every step, also those too short to be told of."""
MINUTE_S: Final = 60

STEP_WORDS: Final[Mapping[StepName, str]] = {
    StepName.RECEIVED: N_("Received"),
    StepName.QUEUED: N_("Queued"),
    StepName.BUILDING: N_("Building"),
    StepName.PUBLIC_CASES: N_("Public cases"),
    StepName.HIDDEN_CASES: N_("Hidden cases"),
    StepName.OUTCOME: N_("Published"),
}


@dataclass(frozen=True)
class Step:
    """One step: its name, what is known of it, when it began; `state` is its style."""

    name: str
    note: str
    at: datetime | None
    state: str


@dataclass(frozen=True)
class StatusLine:
    """The changing part of a submission's page; `ours` says that the message tells of our fault."""

    steps: tuple[Step, ...]
    sentence: str
    message: str
    settled: bool
    ours: bool
    stream: str
    part: str
    kinds: str = FOLLOWED_KINDS


def status_line(view: SubmissionView, _: Gettext) -> StatusLine:
    """The steps of a submission, with its place in the queue and how much is done."""
    return StatusLine(
        steps=tuple(_step(step, view, _) for step in view.steps),
        sentence=_sentence(view, _),
        message=view.message,
        settled=view.settled,
        ours=view.status == "failed",
        stream=f"/api/v1/submissions/{view.id}/events",
        part=f"/submissions/{view.id}/status",
    )


def _step(step: StepView, view: SubmissionView, _: Gettext) -> Step:
    return Step(_step_name(step, view, _), _note(step, view, _), step.at, _style(step, view))


def _style(step: StepView, view: SubmissionView) -> str:
    if step.state is StepState.AHEAD:
        return "done" if view.status in CAME_THROUGH else "todo"
    if step.name is StepName.OUTCOME and view.status in STOPPED:
        return "stopped"
    return "now" if step.state is StepState.CURRENT and not view.settled else "done"


def _step_name(step: StepView, view: SubmissionView, _: Gettext) -> str:
    if step.name is not StepName.OUTCOME or not view.settled:
        return _(STEP_WORDS[step.name])
    word = _(spelled(STATUS_WORDS, view.status))
    return word[:1].upper() + word[1:]


def _note(step: StepView, view: SubmissionView, _: Gettext) -> str:
    if step.name is StepName.QUEUED and step.state is StepState.CURRENT and view.wait is not None:
        return wait_words(view.wait, _)
    if step.total is None:
        return ""
    form = _("operator {done} of {total}") if step.name is StepName.HIDDEN_CASES else _("{done} of {total}")
    return form.format(done=step.done or 0, total=step.total)


def wait_words(wait: WaitView, _: Gettext) -> str:
    """A place in the queue and the expected wait as a range, such as `position 3, 4–7 min`."""
    place = _("position {position}").format(position=wait.position)
    if wait.expected_low_s is None or wait.expected_high_s is None:
        return place
    low, high = (max(round(seconds / MINUTE_S), 1) for seconds in (wait.expected_low_s, wait.expected_high_s))
    span = _("about {low} min").format(low=low) if low == high else _("{low}–{high} min").format(low=low, high=high)
    return f"{place}, {span}"


def _sentence(view: SubmissionView, _: Gettext) -> str:
    waits = view.wait is not None
    said = []
    if view.status == "running" and view.attempt > (0 if waits else 1):
        form = (
            _("An attempt was lost by a fault of ours; the submission waits for attempt {attempt} of {most}.")
            if waits
            else _("An attempt was lost by a fault of ours; this is attempt {attempt} of {most}.")
        )
        said.append(form.format(attempt=view.attempt + waits, most=view.max_attempts))
    if view.wait is not None and view.wait.workers_up == 0:
        said.append(_("No worker for this hardware is up. The submission is kept and waits; nothing is lost."))
    return " ".join(said) or _(STATUS_SENTENCES["queued" if waits else view.status])
