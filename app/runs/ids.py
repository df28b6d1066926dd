"""Public ids: `HB-<instance>-<year>-<number>`, and `-r<n>` for the result of a further run. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ID = re.compile(r"(?P<submission>HB-[A-Z0-9]{2,12}-\d{4}-\d{6,})(?:-r(?P<run>[1-9]\d{0,5}))?")


@dataclass(frozen=True)
class ResultId:
    """A submission's public id and a run's number."""

    submission: str
    run: int


def submission_id(instance: str, year: int, number: int) -> str:
    """A submission's public id."""
    return f"HB-{instance}-{year}-{number:06d}"


def result_id(submission: str, run: int) -> str:
    """The id of a run's result: the submission's own for the first run."""
    return submission if run == 1 else f"{submission}-r{run}"


def parse_result_id(text: str) -> ResultId | None:
    """What a result id names; None where it is none. Without a suffix it is the first run."""
    found = _ID.fullmatch(text)
    if found is None:
        return None
    return ResultId(found["submission"], int(found["run"] or 1))
