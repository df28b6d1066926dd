"""One run of `build.sh`: the sources go in, wheels and a log come out."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kernel_eval.build.wheel import MAX_WHEEL_BYTES, WHEEL_SUFFIX
from kernel_eval.sandbox.box import CommandOutcome, run_command
from kernel_eval.sandbox.capped_log import CappedLog
from kernel_eval.sandbox.host import build_policy, neutral
from kernel_eval.sandbox.workspace import UnsafeFile, Workspace
from kernel_eval.settings import Settings

COMMAND = ("bash", "build.sh")
DIST = "dist"
LOG_CAP_BYTES = 1 << 20
WORKSPACE_BYTES = 4 << 30
MAX_WHEELS = 8
"""Wheels read out of a box; more than one is a fault anyway."""


@dataclass(frozen=True)
class Wheel:
    """A wheel's file name and content; `fault` says why it could not be taken out of the box."""

    name: str
    data: bytes = b""
    fault: str = ""


@dataclass(frozen=True)
class Attempt:
    """How one run of `build.sh` ended, and the wheels in `dist/` afterwards."""

    outcome: CommandOutcome
    wheels: tuple[Wheel, ...]


def attempt_build(source: Path, settings: Settings, timeout_s: float) -> Attempt:
    """Run `bash build.sh` on a copy of `source`, which itself is only read.

    Raises `SandboxIncomplete` where the build box can't be made.
    """
    if settings.sandboxed:
        return _boxed(source, settings, timeout_s)
    return _plain(source, settings, timeout_s)


def _boxed(source: Path, settings: Settings, timeout_s: float) -> Attempt:
    with Workspace(WORKSPACE_BYTES) as workspace:
        _fill(workspace.path, source)
        policy = build_policy(settings.threads)
        outcome = run_command(policy, COMMAND, timeout_s, LOG_CAP_BYTES, workspace=workspace)
        outcome = replace(outcome, log=_neutral_log(outcome.log))
        names = [name for name in workspace.list_files(DIST) if name.endswith(WHEEL_SUFFIX)]
        return Attempt(outcome, tuple(_taken(workspace, name) for name in names[:MAX_WHEELS]))


def _neutral_log(log: bytes) -> bytes:
    """The log as others may read it; bytes that are no text stay as they are."""
    return neutral(log.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _fill(target: Path, source: Path) -> None:
    """Copy what is in `source`, but leave the mode of `target` alone: the box's user must be able to write there."""
    for entry in source.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)


def _taken(workspace: Workspace, name: str) -> Wheel:
    try:
        return Wheel(name, workspace.read_file(f"{DIST}/{name}", MAX_WHEEL_BYTES))
    except UnsafeFile as error:
        return Wheel(name, fault=str(error))


def _plain(source: Path, settings: Settings, timeout_s: float) -> Attempt:
    """Without a box, for a person's own code: in a folder beside `source`."""
    place = source.with_name(f"{source.name}-built")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place, symlinks=True)
    environment = dict(build_policy(settings.threads).environment)
    outcome = _run_plain(place, environment, timeout_s)
    found = sorted((place / DIST).glob(f"*{WHEEL_SUFFIX}"))[:MAX_WHEELS]
    return Attempt(outcome, tuple(Wheel(path.name, path.read_bytes()) for path in found if path.is_file()))


def _run_plain(place: Path, environment: dict[str, str], timeout_s: float) -> CommandOutcome:
    log, started = CappedLog(LOG_CAP_BYTES), time.monotonic()
    with _group(place, environment) as process:
        assert process.stdout is not None
        ended = _drain(process.stdout.fileno(), log, started + timeout_s)
        exit_code = process.wait(max(started + timeout_s - time.monotonic(), 1.0)) if ended else None
    seconds = time.monotonic() - started
    return CommandOutcome(exit_code, exit_code is None, False, log.content(), seconds, log.truncated)


@contextmanager
def _group(place: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The command as the head of its own process group, all of which is killed at the end."""
    process = subprocess.Popen(
        COMMAND, cwd=place, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _drain(descriptor: int, log: CappedLog, deadline: float) -> bool:
    """Read until the end of the output; False where the deadline comes first."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN | select.POLLHUP)
    while (left := deadline - time.monotonic()) > 0:
        if poller.poll(min(left, 1.0) * 1000) and not log.drain(descriptor):
            return True
    return False
