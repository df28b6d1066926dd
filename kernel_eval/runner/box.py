"""The box in which a built package runs, and its children."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from kernel_eval.model import CallSpec
from kernel_eval.runner.play import Play, Readiness
from kernel_eval.runner.pool import Pool
from kernel_eval.settings import Settings


class CaseChild:
    """A forked process that plays one batch of one case and is then killed."""

    def ready(self) -> Readiness:
        """Wait until the child is prepared, stopped and verified stopped, or has failed."""
        raise NotImplementedError

    def run(self, limit_s: float) -> Play:
        """Continue the child, time its whole batch, kill and reap it. Outputs may be read afterwards."""
        raise NotImplementedError

    def close(self) -> None:
        """Kill and reap the child if it still lives."""
        raise NotImplementedError


class RunBox:
    """Sandboxed zygote for one package; forks a child per play.

    Raises `SandboxIncomplete` where a part of the sandbox is missing.
    """

    def __init__(self, package_dir: Path, settings: Settings, *, memory_bytes: int) -> None:
        raise NotImplementedError

    def __enter__(self) -> RunBox:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError

    def spawn(self, call: CallSpec, pool: Pool, order: Sequence[int], warmup: int) -> CaseChild:
        """Fork a child that will call the operator once per buffer in `order`, after `warmup` calls on the
        pool's warm-up buffer. Returns at once; the child prepares itself while others are spawned."""
        raise NotImplementedError

    def play(self, call: CallSpec, pool: Pool, index: int, limit_s: float) -> Play:
        """One call on buffer `index`, without warm-up."""
        raise NotImplementedError
