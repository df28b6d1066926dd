"""What comes of preparing and of playing a case in a child."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernel_eval.model import Claim, Verdict


class PlayStatus(StrEnum):
    """How a play ended, as the judge saw it from outside."""

    OK = "ok"
    """Every call returned and the returned structure is as declared."""
    WRONG_STRUCTURE = "wrong_structure"
    """Every call returned, but something else than declared; `Play.claims` says what."""
    RAISED = "raised"
    """The operator raised; `Play.detail` has the exception."""
    CRASHED = "crashed"
    """The process ended by a signal or by itself."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    LOAD_FAILED = "load_failed"
    """The package could not be imported, or lacks the operator's function."""
    TAMPERED = "tampered"
    """The process left the protocol or the state it was put into."""

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that the status alone decides; None for `OK`, where the values decide."""
        return _VERDICTS[self]


_VERDICTS = {
    PlayStatus.OK: None,
    PlayStatus.WRONG_STRUCTURE: Verdict.WRONG_STRUCTURE,
    PlayStatus.RAISED: Verdict.CRASHED,
    PlayStatus.CRASHED: Verdict.CRASHED,
    PlayStatus.TIMED_OUT: Verdict.TIMED_OUT,
    PlayStatus.OUT_OF_MEMORY: Verdict.OUT_OF_MEMORY,
    PlayStatus.LOAD_FAILED: Verdict.LOAD_FAILED,
    PlayStatus.TAMPERED: Verdict.TAMPERED,
}


@dataclass(frozen=True)
class Play:
    """A finished play. The child is dead, so the pool's outputs may be read where `status` is OK.

    `elapsed_ns`: the judge's monotonic clock from "continue" to "done" over the whole
    batch, None where "done" never came. `cpu_ns`: CPU time of the child in that window.
    `claims`: one per returned output, of the first call that differs from the declaration,
    else of the last call. `copied`: results that did not lie in their slots and were copied
    into them after "done". `detail`: one line for the author, made printable; untrusted text.
    """

    status: PlayStatus
    elapsed_ns: int | None = None
    claims: tuple[Claim, ...] = ()
    detail: str = ""
    cpu_ns: int = 0
    copied: int = 0


@dataclass(frozen=True)
class Readiness:
    """Whether a child stands prepared and stopped; `failure` says why not."""

    failure: Play | None = None

    @property
    def prepared(self) -> bool:
        """Whether `CaseChild.run` may be called."""
        return self.failure is None
