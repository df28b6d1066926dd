"""Runs one command in a box and reports how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernel_eval.sandbox.policy import BuildPolicy
from kernel_eval.sandbox.workspace import Workspace


@dataclass(frozen=True)
class CommandOutcome:
    """How a command in a box ended. `log` is its output and error output, capped, raw and untrusted.

    `exit_code` is negative for a signal, None where it was killed at its time limit.
    """

    exit_code: int | None
    timed_out: bool
    oom: bool
    log: bytes
    seconds: float
    log_truncated: bool = False


def run_command(
    policy: BuildPolicy,
    argv: Sequence[str],
    timeout_s: float,
    log_cap_bytes: int,
    *,
    workspace: Workspace | None = None,
) -> CommandOutcome:
    """Run `argv` in a fresh box with `workspace` writable at `policy.work_dir`; kill whatever is left at its end.

    Raises `SandboxIncomplete` where the box cannot be made as planned.
    """
    raise NotImplementedError
