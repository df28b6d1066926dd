"""Submissions as they are handed in and as they are shown."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from app.entries.schemas import EntryView
from app.models import Mode, Visibility
from app.runs.schemas import WaitView

ShortText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")]
LongText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000, pattern=r"^[^\x00\x1b]*$")]


class Dsl(StrEnum):
    """What a submission's kernels are written in."""

    UNSTATED = ""
    CPP = "cpp"
    ASCENDC = "ascendc"
    ACLNN = "aclnn"
    TRITON = "triton"
    TILELANG = "tilelang"
    PYPTO = "pypto"


class SubmissionForm(BaseModel):
    """The fields beside the file. Unknown fields are refused, so that a typo is not lost silently."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: Annotated[ShortText, Field(min_length=1)]
    agent: ShortText = ""
    model: ShortText = ""
    harness: ShortText = ""
    dsl: Dsl = Dsl.UNSTATED
    note: LongText = ""
    mode: Mode = Mode.RANKED
    visibility: Visibility = Visibility.PUBLIC

    @field_validator("visibility")
    @classmethod
    def _ranked_is_public(cls, visibility: Visibility, others: ValidationInfo) -> Visibility:
        if visibility is Visibility.PRIVATE and others.data.get("mode") is Mode.RANKED:
            raise ValueError("a ranked submission is public; send mode=practice to keep it private")
        return visibility


class EventView(BaseModel):
    """One happening; `kind` is a word of `app.submissions.happenings.Happening`, which names the keys of `data`."""

    id: int
    at: datetime
    kind: str
    data: dict[str, Any]


class StepState(StrEnum):
    """How far a step of the status line is."""

    DONE = "done"
    CURRENT = "current"
    AHEAD = "ahead"


class StepName(StrEnum):
    """The steps of the status line, in order; the last one is what it came to."""

    RECEIVED = "received"
    QUEUED = "queued"
    BUILDING = "building"
    PUBLIC_CASES = "public_cases"
    HIDDEN_CASES = "hidden"
    OUTCOME = "outcome"


class StepView(BaseModel):
    """One step: when it began, and how much of it is done where that can be counted."""

    name: StepName
    state: StepState
    at: datetime | None
    done: int | None = None
    total: int | None = None


class Links(BaseModel):
    """Addresses of what belongs to a submission; `result` is None until there is one."""

    page: str
    self: str
    events: str
    log: str
    cancel: str
    result: str | None


class SubmissionView(BaseModel):
    """A submission as it is now. `settled` says that nothing more will happen by itself.

    `attempt` counts those begun; `wait` is there before the first attempt and, still `running`, before a further one.
    """

    id: str
    status: str
    settled: bool
    message: str
    board: str
    hardware: str
    entry: EntryView
    filename: str
    artifact_sha256: str
    size_bytes: int
    mode: str
    visibility: str
    note: str
    received_at: datetime
    finished_at: datetime | None
    run: int
    attempt: int
    max_attempts: int
    steps: list[StepView]
    wait: WaitView | None
    links: Links


class SubmissionSummary(BaseModel):
    """A submission in a list."""

    id: str
    status: str
    board: str
    entry: EntryView
    mode: str
    received_at: datetime
    finished_at: datetime | None
    total: float | None


class SubmissionList(BaseModel):
    """Submissions, latest first."""

    submissions: list[SubmissionSummary]
    next_cursor: str | None
