"""The public log of a submission as plain text without anything that could act. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from app.submissions.happenings import Happening
from app.submissions.schemas import EventView

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SENTENCES = {
    Happening.RECEIVED: "received",
    Happening.QUEUED: "queued",
    Happening.STARTED: "attempt {attempt} starts on {worker}",
    Happening.BUILDING: "building",
    Happening.BUILT: "build ended after {seconds} s: {message}",
    Happening.OPERATOR: "operator {operator} ({position} of {total})",
    Happening.OPERATOR_DONE: "operator {operator} is judged",
    Happening.RETRYING: "a fault of ours ended the attempt; attempt {attempt} of {of} follows",
    Happening.RETURNED: "the worker stopped and gave the run back; another one takes it",
    Happening.PUBLISHED: "published",
    Happening.HELD: "held until a person decides",
    Happening.FAILED: "{message}",
    Happening.CANCELLED: "cancelled",
    Happening.WITHDRAWN: "withdrawn",
}


class _Blank(dict[str, object]):
    """Fills what an event does not say with nothing."""

    def __missing__(self, key: str) -> str:
        return ""


def log_text(events: Iterable[EventView]) -> str:
    """Happenings as dated lines, the log's own text as it is; counts of cases are left out."""
    lines: list[str] = []
    for event in events:
        kind = Happening(event.kind)
        if kind is Happening.LOG:
            lines += inert(str(event.data.get("text", ""))).rstrip("\n").split("\n")
        elif kind in _SENTENCES:
            said = _SENTENCES[kind].format_map(_Blank(event.data)).rstrip(": ")
            lines.append(f"[{event.at:%Y-%m-%d %H:%M:%S} UTC] {inert(said)}")
    return "\n".join(lines) + "\n" if lines else ""


def inert(text: str) -> str:
    """Text without escape sequences and control characters; line ends and tabs stay."""
    plain = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(letter for letter in plain if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cf"})
