"""Facts boxes: what a board pins and what a result was judged with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.boards.schemas import BoardView
from app.runs.schemas import ResultView
from app.submissions.schemas import SubmissionView
from app.web.figures import NOTHING, duration, file_size, shortened
from app.web.svg.markup import Gettext
from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for
from app.web.words import hardware_name

ENVIRONMENT_WORDS: Final[Mapping[str, str]] = {
    "judge": N_("Judge"),
    "device": N_("Device"),
    "memory_gb_per_s": N_("Memory bandwidth, GB/s"),
    "peaks": N_("Peaks of the host"),
    "threads": N_("Threads"),
    "cores": N_("Cores"),
    "python": "Python",
    "torch": "PyTorch",
    "system": N_("System"),
    "warmup": N_("Warm-up calls"),
    "repeat": N_("Repeats"),
    "isolation": N_("Processes per"),
}
"""Names of what a result was judged with."""


@dataclass(frozen=True)
class Fact:
    """One line of a facts box; `copy` is the full text behind a copy button."""

    name: str
    value: str = NOTHING
    mono: bool = False
    wide: bool = False
    at: datetime | None = None
    copy: str = ""


def board_facts(board: BoardView, _: Gettext) -> tuple[Fact, ...]:
    """Everything that a score on the board depends on."""
    return (
        Fact(_("Suite"), f"{board.suite} {board.suite_version}"),
        Fact(_("Hardware"), hardware_words(board.hardware, board.fingerprint, _)),
        Fact(_("Suite digest"), shortened(board.suite_digest, 16), mono=True, copy=board.suite_digest),
        _digest(_("Hidden set's digest"), board.hidden_digest),
        Fact(_("Season"), board.season or NOTHING),
        Fact(_("Rules"), board.rules_version),
        Fact(_("Anchors"), board.anchors_version or NOTHING),
        Fact(_("Limit preset"), board.limit_preset),
    )


def hardware_words(hardware: str, fingerprint: dict[str, object], _: Gettext) -> str:
    """The hardware with the machine that the board is pinned to, where there is one."""
    cpu = fingerprint.get("cpu_model", "")
    threads = fingerprint.get("threads")
    parts = [hardware_name(hardware), str(cpu), _("{count} threads").format(count=threads) if threads else ""]
    return " · ".join(part for part in parts if part)


def submission_facts(view: SubmissionView, result: ResultView | None, _: Gettext) -> tuple[Fact, ...]:
    """What was handed in, and what it was judged with."""
    handed_in = (
        Fact(_("Received"), at=view.received_at),
        Fact(_("Archive"), f"{view.filename} · {file_size(view.size_bytes)}"),
        _digest("SHA-256", view.artifact_sha256, wide=True),
        Fact(_("Handed in by"), view.entry.user),
        Fact(_("Mode"), _("ranked") if view.mode == "ranked" else _("practice")),
    )
    note = (Fact(_("Note"), view.note, wide=True),) if view.note else ()
    return (*handed_in, *(_judged_with(result, _) if result is not None else ()), *note)


def _judged_with(result: ResultView, _: Gettext) -> tuple[Fact, ...]:
    known = (
        Fact(_("Result"), result.id, mono=True, copy=result.id),
        Fact(_("Judged"), at=result.judged_at),
        Fact(_("Suite"), f"{result.suite} {result.suite_version}"),
        Fact(_("Suite digest"), shortened(result.suite_digest, 16), mono=True, copy=result.suite_digest),
        _digest(_("Hidden set's digest"), result.hidden_digest),
        Fact(_("Hardware"), hardware_name(result.hardware)),
        Fact(_("Rules"), result.rules_version),
        Fact(_("Anchors"), result.anchors_version),
        Fact(_("Build"), duration(result.build_seconds)),
    )
    host = () if result.control_spread is None else (Fact(_("Control kernel"), control_words(result.control_spread)),)
    return (
        *known,
        *host,
        *(Fact(_environment_name(key, _), value) for key, value in sorted(result.environment.items())),
    )


def control_words(spread: float) -> str:
    """Within how many per cent of their median half of a control kernel's times lay."""
    return f"± {100 * spread:.1f} %"


def _environment_name(key: str, _: Gettext) -> str:
    words = key.replace("_", " ")
    return _(ENVIRONMENT_WORDS[key]) if key in ENVIRONMENT_WORDS else words[:1].upper() + words[1:]


def _digest(name: str, digest: str | None, wide: bool = False) -> Fact:
    if not digest:
        return Fact(name)
    return Fact(name, shortened(digest, 64 if wide else 16), mono=True, wide=wide, copy=digest)
