"""Child processes of the stack: started in a group of their own, stopped for certain."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.reach import Identity, covers_for

LAUNCHER = Path(__file__).with_name("launch.py")


class StackError(Exception):
    """A part of the stack did not start or stop; the message says which, why, what to do."""


@dataclass(frozen=True)
class Program:
    """What to run: `needs` are the folders that it must reach as `identity`.

    `death_signal` is what it gets when the supervisor dies without a word.
    """

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    identity: Identity | None = None
    needs: Sequence[Path] = ()
    cwd: Path = Path("/")
    death_signal: int = signal.SIGTERM


def start(program: Program) -> subprocess.Popen[bytes]:
    """Starts the program in its own session, with its output appended to its log."""
    identity = program.identity
    order = {
        "argv": list(program.argv),
        "uid": identity.uid if identity else None,
        "gid": identity.gid if identity else None,
        "covers": covers_for(program.needs, identity) if identity else {},
        "cwd": str(program.cwd),
        "death_signal": int(program.death_signal),
        "parent": os.getpid(),
    }
    program.log.parent.mkdir(parents=True, exist_ok=True)
    with program.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(order)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(program.env),
            start_new_session=True,
        )


def run(program: Program, timeout_s: float) -> None:
    """Runs the program to its end; `StackError` with the log's last lines where it fails."""
    output(program, timeout_s)


def output(program: Program, timeout_s: float) -> str:
    """Runs the program to its end; the last line it wrote, or `StackError` where it fails."""
    process = start(program)
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise StackError(f"{program.name} did not finish within {timeout_s:.0f} s; see {program.log}") from None
    finally:
        kill_group(process)
        process.wait()
    if code != 0:
        raise StackError(f"{program.name} failed (exit {code}): {last_lines(program.log)}")
    lines = program.log.read_bytes()[-4000:].decode(errors="replace").splitlines()
    return lines[-1] if lines else ""


def await_ready(
    process: subprocess.Popen[bytes],
    program: Program,
    ready: Callable[[], bool],
    timeout_s: float,
    poll_s: float = 0.03,
) -> None:
    """Returns once `ready` says so; `StackError` where the process ends or the time is up."""
    deadline = time.monotonic() + timeout_s
    while not ready():
        if process.poll() is not None:
            raise StackError(f"{program.name} ended with {process.returncode}: {last_lines(program.log)}")
        if time.monotonic() > deadline:
            raise StackError(f"{program.name} was not ready after {timeout_s:.0f} s: {last_lines(program.log)}")
        time.sleep(poll_s)


def stop(process: subprocess.Popen[bytes], signals: Iterable[tuple[int, float]]) -> int:
    """Sends each signal and waits its seconds, then kills the whole group; the exit code."""
    for number, seconds in signals:
        if process.poll() is not None:
            break
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    kill_group(process)
    return process.wait()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def free_port(wanted: int | None = None) -> int:
    """A free TCP port on 127.0.0.1: `wanted` where it is free, else any."""
    for port in (wanted, 0):
        if port is None:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise StackError("no free TCP port on 127.0.0.1")


def last_lines(log: Path, count: int = 5) -> str:
    """The last lines of a log, for a message."""
    if not log.exists():
        return f"nothing was written to {log}"
    lines = log.read_bytes()[-8000:].decode(errors="replace").splitlines()
    return " | ".join(line for line in lines[-count:] if line) + f" (log: {log})"
