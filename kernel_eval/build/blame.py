"""Which operators a failed build can be pinned on, read from the compiler's messages.

An operator's sources lie in `csrc/ops/<operator>/` or `csrc/<operator>/`; messages name
them by path. A hint taken from untrusted text: all it can do is leave an operator out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kernel_eval.build.archive.rules import shown

OPERATOR_PLACES = ("csrc/ops", "csrc")
EXCERPT_BYTES = 4_000
CONTEXT_LINES = 3
FAULT = re.compile(r"error\b|undefined reference|multiple definition|No such file|FAILED", re.IGNORECASE)
REPORT = re.compile(r"\berror: |^E?\w*Error: |undefined reference|command not found|: No such file")
ORIGIN = re.compile(r"In file included from|^\s+from ")


def operator_folders(source: Path) -> dict[str, Path]:
    """Folders that hold one operator each, by name, relative to `source`.

    `csrc/ops/` decides where it exists; its sisters in `csrc/` are shared code then.
    """
    place = next((place for place in OPERATOR_PLACES if (source / place).is_dir()), None)
    if place is None:
        return {}
    return {folder.name: Path(place) / folder.name for folder in sorted((source / place).iterdir()) if folder.is_dir()}


def blamed(log: bytes, folders: dict[str, Path]) -> dict[str, str]:
    """Operators on whose sources an error is reported, each with its excerpt of the log."""
    lines = log.decode("utf-8", "replace").splitlines()
    found: dict[str, list[int]] = {}
    for index in range(len(lines)):
        if FAULT.search(lines[index]):
            for name in _named(_with_origin(lines, index), folders):
                found.setdefault(name, []).append(index)
    return {name: _excerpt(lines, indices) for name, indices in found.items()}


def first_error(log: bytes) -> str:
    """The first line of the log that reports an error, made inert; "" where none does."""
    lines = log.decode("utf-8", "replace").splitlines()
    return next((shown(line.strip()) for line in lines if REPORT.search(line)), "")


def _with_origin(lines: list[str], index: int) -> Iterable[str]:
    """The line at `index`, and the chain of inclusions above it."""
    yield lines[index]
    above = index - 1
    while above >= 0 and (ORIGIN.search(lines[above]) or lines[above].rstrip().endswith(":")):
        yield lines[above]
        above -= 1


def _named(lines: Iterable[str], folders: dict[str, Path]) -> set[str]:
    text = "\n".join(lines)
    return {name for name, folder in folders.items() if re.search(rf"(?<![\w.-]){re.escape(folder.as_posix())}/", text)}


def _excerpt(lines: list[str], indices: list[int]) -> str:
    wanted = sorted({at for index in indices for at in range(index - CONTEXT_LINES, index + CONTEXT_LINES + 1)})
    text = "\n".join(lines[at] for at in wanted if 0 <= at < len(lines))
    return text if len(text) <= EXCERPT_BYTES else text[: EXCERPT_BYTES - 2] + "\n…"
