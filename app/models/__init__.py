"""All tables. Importing this package registers every one of them with `Base.metadata`."""

from app.db.base import Base
from app.models.catalogue import AnchorRow, Anchors, Board, Operator, PublicCase, Suite
from app.models.hidden import HIDDEN_SCHEMA, HiddenAnchorRow, HiddenCaseResult
from app.models.people import Entry, Token, User, UserKind
from app.models.results import CaseResult, FlagRow, OperatorResult, Publication, Standing, StandingEvent
from app.models.runs import Run, Worker, WorkerState
from app.models.submissions import (
    SUBMISSION_NUMBER,
    Artifact,
    Mode,
    OutboxMessage,
    Submission,
    SubmissionEvent,
    Visibility,
)

__all__ = [
    "HIDDEN_SCHEMA",
    "SUBMISSION_NUMBER",
    "AnchorRow",
    "Anchors",
    "Artifact",
    "Base",
    "Board",
    "CaseResult",
    "Entry",
    "FlagRow",
    "HiddenAnchorRow",
    "HiddenCaseResult",
    "Mode",
    "Operator",
    "OperatorResult",
    "OutboxMessage",
    "PublicCase",
    "Publication",
    "Run",
    "Standing",
    "StandingEvent",
    "Submission",
    "SubmissionEvent",
    "Suite",
    "Token",
    "User",
    "UserKind",
    "Visibility",
    "Worker",
    "WorkerState",
]
