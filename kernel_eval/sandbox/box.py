"""Runs one command in a box and reports how it ended."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.sandbox import first
from kernel_eval.sandbox.boxed import Boxed, BoxPlan, fresh_uid, make_tmpfs
from kernel_eval.sandbox.capped_log import CappedLog
from kernel_eval.sandbox.cgroup import Job, Leaf
from kernel_eval.sandbox.outside import Expected, verify
from kernel_eval.sandbox.policy import Bind, BuildPolicy
from kernel_eval.sandbox.workspace import Workspace

INSIDE = Path("/hap")
"""Where the project's own few files lie in a box."""
HOME = Path("/tmp")


@dataclass(frozen=True)
class CommandOutcome:
    """How a command in a box ended. `log` is its output and error output, capped, raw and untrusted.

    `exit_code` is 128 + n for signal n, None where it was killed at its time limit. `oom`:
    the kernel killed a process of the box for want of memory.
    """

    exit_code: int | None
    timed_out: bool
    oom: bool
    log: bytes
    seconds: float
    log_truncated: bool = False


def own_files(*modules: str) -> tuple[Bind, ...]:
    """Binds of this package's own modules that run inside a box."""
    return tuple(Bind(Path(__file__).with_name(f"{name}.py"), INSIDE / f"{name}.py") for name in modules)


def _follow(box: Boxed, timeout_s: float, log: CappedLog) -> int | None:
    """Read the output until the box ends or its time is up; the exit code, None on time-out."""
    deadline = time.monotonic() + timeout_s
    poller = select.poll()
    poller.register(box.output, select.POLLIN | select.POLLHUP)
    while (left := deadline - time.monotonic()) > 0:
        if poller.poll(min(left, 1.0) * 1000) and not log.drain(box.output):
            return box.wait(max(deadline - time.monotonic(), 0))
        if box.poll() is not None and not poller.poll(0):
            return box.poll()
    return None


def _play(box: Boxed, leaf: Leaf, uid: int, timeout_s: float, log: CappedLog) -> int | None:
    _, pid = box.greet(16)
    verify(pid, Expected(leaf, uid, closed=False), "the build box")
    with contextlib.suppress(OSError):  # the process may be dead by now; its exit code tells
        box.channel.send(first.GO)
    return _follow(box, timeout_s, log)


def run_command(
    policy: BuildPolicy,
    argv: Sequence[str],
    timeout_s: float,
    log_cap_bytes: int,
    *,
    workspace: Workspace | None = None,
) -> CommandOutcome:
    """Run `argv` in a fresh box with `workspace` writable at `policy.work_dir`; kill whatever is left at its end.

    A workspace serves one box, whose user becomes the owner of everything in it. Without one the command
    starts in /tmp.
    Raises `SandboxIncomplete` where the box cannot be made as planned; then `argv` never ran.
    """
    uid, log, started = fresh_uid(), CappedLog(log_cap_bytes), time.monotonic()
    with contextlib.ExitStack() as stack:
        job = Job(cores=policy.limits.cores > 0)
        stack.callback(job.close)
        leaf = job.leaf("build", policy.limits)
        own = make_tmpfs(policy.tmpfs)
        for space in own.values():
            stack.callback(space.close)
        mounts, work_dir = own, HOME
        if workspace is not None:
            workspace.give_to(uid)
            mounts, work_dir = {**own, policy.work_dir: workspace}, policy.work_dir
        binds = (*policy.binds, *own_files("first", "confine"))
        program = [sys.executable, "-I", "-S", "-B", str(INSIDE / "first.py")]
        command = [*program, "{socket}", str(uid), str(policy.limits.processes), *argv]
        box = Boxed(BoxPlan(binds, policy.environment, work_dir, policy.limits, leaf, mounts), command)
        stack.callback(box.close)
        exit_code = _play(box, leaf, uid, timeout_s, log)
        box.kill()
        return CommandOutcome(
            exit_code=exit_code,
            timed_out=exit_code is None,
            oom=leaf.out_of_memory(),
            log=log.content(),
            seconds=time.monotonic() - started,
            log_truncated=log.truncated,
        )


def open_up(folder: Path) -> None:
    """Let the box's users read a folder of the judge's own making; follows no link."""
    for place, folders, files in os.walk(folder):
        os.chmod(place, os.stat(place).st_mode | 0o055)
        for name in files:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode | 0o044)
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(place, name))]
