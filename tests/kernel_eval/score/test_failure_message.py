"""What an operator says of its failed cases."""

from __future__ import annotations

import pytest

from kernel_eval.model import CaseResult, Split, Verdict
from kernel_eval.score import failure_message

RIGHT, WRONG, CRASHED = Verdict.ACCEPTED, Verdict.WRONG_VALUES, Verdict.CRASHED


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], ""),
        ([(RIGHT, "")], ""),
        ([(CRASHED, "no module"), (CRASHED, "no module")], "no module"),
        ([(RIGHT, ""), (WRONG, "off by 3")], "1 of 2 cases failed; the first, case 2: off by 3"),
        ([(WRONG, "off by 3"), (CRASHED, "SIGSEGV")], "2 of 2 cases failed; the first, case 1: off by 3"),
        ([(WRONG, ""), (CRASHED, "SIGSEGV")], "2 of 2 cases failed; the first, case 1: wrong_values"),
    ],
)
def test_it_is_said_once_where_all_say_the_same_and_else_counted(told: list[tuple[Verdict, str]], said: str) -> None:
    cases = [
        CaseResult("exp", number, Split.PUBLIC, verdict, message=message)
        for number, (verdict, message) in enumerate(told, start=1)
    ]
    assert failure_message(cases) == said
