"""The public log is plain, inert text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.submissions.happenings import Happening
from app.submissions.log import inert, log_text
from app.submissions.schemas import EventView

AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


def event(kind: Happening, **data: Any) -> EventView:
    return EventView(id=1, at=AT, kind=kind.value, data=data)


def test_happenings_become_dated_lines_and_log_text_stays_as_it_is() -> None:
    text = log_text(
        [
            event(Happening.STARTED, attempt=1, worker="eval-1"),
            event(Happening.BUILT, succeeded=True, seconds=18.4, message=""),
            event(Happening.LOG, text="g++ -c exp.cpp\nwarning: {braces} stay\n"),
            event(Happening.PUBLIC_CASES, done=3, total=160),
        ]
    )
    assert text == (
        "[2026-11-30 14:05:00 UTC] attempt 1 starts on eval-1\n"
        "[2026-11-30 14:05:00 UTC] build ended after 18.4 s\n"
        "g++ -c exp.cpp\nwarning: {braces} stay\n"
    )


def test_every_happening_can_be_told_with_whatever_data() -> None:
    for kind in Happening:
        assert log_text([event(kind)]) is not None
    assert log_text([]) == ""


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("right‮left", "rightleft"),
        ("one\r\ntwo\rthree\tfour", "one\ntwo\nthree\tfour"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("昇腾 ✓", "昇腾 ✓"),
    ],
)
def test_nothing_that_acts_on_a_terminal_or_a_page_is_left(raw: str, plain: str) -> None:
    assert inert(raw) == plain
