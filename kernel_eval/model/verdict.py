"""What the code did: one word per case, with one order of precedence."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The judge's word on one case (or, worst of all its cases, on one operator)."""

    ACCEPTED = "accepted"
    WRONG_VALUES = "wrong_values"
    WRONG_STRUCTURE = "wrong_structure"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    LOAD_FAILED = "load_failed"
    BUILD_FAILED = "build_failed"
    TAMPERED = "tampered"
    INTERNAL_ERROR = "internal_error"


PRECEDENCE: tuple[Verdict, ...] = (
    Verdict.INTERNAL_ERROR,
    Verdict.TAMPERED,
    Verdict.BUILD_FAILED,
    Verdict.LOAD_FAILED,
    Verdict.OUT_OF_MEMORY,
    Verdict.TIMED_OUT,
    Verdict.CRASHED,
    Verdict.WRONG_STRUCTURE,
    Verdict.WRONG_VALUES,
    Verdict.ACCEPTED,
)
"""Strongest first: where several apply, the first of them is the verdict."""


def strongest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that stands for all of `verdicts`; `ACCEPTED` where there is none."""
    return min(verdicts, key=PRECEDENCE.index, default=Verdict.ACCEPTED)
