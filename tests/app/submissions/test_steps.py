"""The status line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.lifecycle import SubmissionStatus
from app.submissions.happenings import Happening
from app.submissions.schemas import EventView, StepName, StepState
from app.submissions.steps import steps_of

AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
Told = tuple[Happening, dict[str, Any]]


def events(*told: Happening | Told) -> list[EventView]:
    pairs = [entry if isinstance(entry, tuple) else (entry, {}) for entry in told]
    return [
        EventView(id=number, at=AT + timedelta(seconds=number), kind=kind.value, data=data)
        for number, (kind, data) in enumerate(pairs, start=1)
    ]


QUEUED = (Happening.RECEIVED, Happening.QUEUED)
PUBLIC: Told = (Happening.PUBLIC_CASES, {"done": 96, "total": 160})
HIDDEN: Told = (Happening.HIDDEN_CASES, {"position": 5, "total": 8})


def test_a_queued_submission_waits_at_the_second_step() -> None:
    steps = steps_of(SubmissionStatus.QUEUED, events(*QUEUED), hidden=True)
    assert [step.name for step in steps] == list(StepName)
    assert [step.state for step in steps[:3]] == [StepState.DONE, StepState.CURRENT, StepState.AHEAD]


def test_counts_stand_at_public_and_hidden_cases_and_both_go_on_at_once() -> None:
    told = events(*QUEUED, Happening.STARTED, Happening.BUILDING, PUBLIC, HIDDEN)
    by_name = {step.name: step for step in steps_of(SubmissionStatus.RUNNING, told, hidden=True)}
    assert (by_name[StepName.PUBLIC_CASES].done, by_name[StepName.PUBLIC_CASES].total) == (96, 160)
    assert (by_name[StepName.HIDDEN_CASES].done, by_name[StepName.HIDDEN_CASES].total) == (5, 8)
    assert by_name[StepName.PUBLIC_CASES].state is StepState.CURRENT
    assert by_name[StepName.HIDDEN_CASES].state is StepState.CURRENT
    assert by_name[StepName.BUILDING].state is StepState.DONE
    assert by_name[StepName.OUTCOME].state is StepState.AHEAD


def test_a_second_attempt_forgets_what_the_first_one_reached() -> None:
    told = events(*QUEUED, Happening.STARTED, PUBLIC, HIDDEN, Happening.RETRYING, Happening.STARTED)
    steps = {step.name: step for step in steps_of(SubmissionStatus.RUNNING, told, hidden=True)}
    assert steps[StepName.BUILDING].state is StepState.CURRENT
    assert steps[StepName.BUILDING].at == AT + timedelta(seconds=7)
    assert steps[StepName.PUBLIC_CASES].done is None
    assert steps[StepName.HIDDEN_CASES].at is None


@pytest.mark.parametrize("given_back", [Happening.RETRYING, Happening.RETURNED])
def test_a_run_that_waits_for_its_next_attempt_is_in_the_queue_again(given_back: Happening) -> None:
    told = events(*QUEUED, Happening.STARTED, Happening.BUILDING, PUBLIC, HIDDEN, given_back)
    steps = steps_of(SubmissionStatus.RUNNING, told, hidden=True)
    assert [step.state for step in steps] == [StepState.DONE, StepState.CURRENT, *[StepState.AHEAD] * 4]
    assert steps[1].at == AT + timedelta(seconds=7)
    assert {(step.done, step.total) for step in steps} == {(None, None)}


def test_practice_has_no_hidden_step_and_an_end_leaves_no_current_one() -> None:
    told = events(*QUEUED, Happening.STARTED, PUBLIC, Happening.PUBLISHED)
    steps = steps_of(SubmissionStatus.PUBLISHED, told, hidden=False)
    assert StepName.HIDDEN_CASES not in {step.name for step in steps}
    assert {step.state for step in steps} == {StepState.DONE}
    cancelled = steps_of(SubmissionStatus.CANCELLED, events(*QUEUED, Happening.CANCELLED), hidden=True)
    assert [step.state for step in cancelled][2:5] == [StepState.AHEAD] * 3
