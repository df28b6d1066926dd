"""Exit codes of a command that waited."""

from __future__ import annotations

import pytest

from app.client.outcome import Exit, settled_exit
from app.lifecycle import SETTLED
from kernel_eval.model import Verdict

RIGHT = {"verdict": "accepted", "solved": True, "publication": "standing"}
HIDDEN_WRONG = {"verdict": "hidden_failed", "solved": False, "publication": "standing"}
ON_HOLD = {"verdict": "accepted", "solved": True, "publication": "held"}


def rows(*verdicts: str) -> list[dict[str, object]]:
    return [{**RIGHT, "verdict": verdict, "solved": verdict == "accepted"} for verdict in verdicts]


@pytest.mark.parametrize(
    ("status", "operators", "expected"),
    [
        ("published", rows("accepted", "accepted"), Exit.PASSED),
        ("published", rows("accepted", "wrong_values"), Exit.FAILED),
        ("published", [RIGHT, HIDDEN_WRONG], Exit.FAILED),
        ("published", [RIGHT, ON_HOLD], Exit.FAILED),
        ("published", rows("build_failed", "build_failed"), Exit.FAILED),
        ("published", rows("accepted", "internal_error"), Exit.OURS),
        ("published", [], Exit.FAILED),
        ("published", None, Exit.FAILED),
        ("held", rows("accepted"), Exit.FAILED),
        ("cancelled", None, Exit.FAILED),
        ("withdrawn", rows("accepted"), Exit.FAILED),
        ("failed", None, Exit.OURS),
    ],
)
def test_the_exit_code_is_the_judges(status: str, operators: list[dict[str, object]] | None, expected: Exit) -> None:
    result = None if operators is None else {"operators": operators}
    assert settled_exit({"status": status}, result) is expected


def test_only_published_and_wholly_right_is_zero() -> None:
    for status in SETTLED:
        for verdict in Verdict:
            code = settled_exit({"status": status}, {"operators": rows("accepted", verdict)})
            assert (code == 0) == (status == "published" and verdict is Verdict.ACCEPTED)
