"""Makes text of foreign origin fit for a message: one line, printable, short."""

from __future__ import annotations

import unicodedata

from kernel_eval.sandbox.host import neutral

MOST_CHARACTERS = 300
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories: control, format (also bidirectional), surrogate, private, unassigned, line separators."""


def printable(data: bytes, most: int = MOST_CHARACTERS) -> str:
    """Untrusted bytes as one line of at most `most` visible characters; whatever else becomes a space.

    The interpreter's place on this host, which an exception may name, is called /python.
    """
    text = data.decode("utf-8", "replace")
    shown = "".join(" " if unicodedata.category(character) in HIDDEN else character for character in text)
    line = neutral(" ".join(shown.split()))
    return line if len(line) <= most else line[: most - 1] + "…"
