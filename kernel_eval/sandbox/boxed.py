"""A process tree in a box: launched, known by its outside pid, killed as a whole."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.errors import SandboxIncomplete
from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.bwrap import box_arguments, find_bwrap
from kernel_eval.sandbox.cgroup import Leaf
from kernel_eval.sandbox.launch import STAGE
from kernel_eval.sandbox.policy import Bind, BoxLimits, Tmpfs
from kernel_eval.sandbox.rootless import rootless
from kernel_eval.sandbox.workspace import Workspace

FIRST_UID, LAST_UID = 1 << 30, (1 << 31) - 1
CREDENTIALS = struct.Struct("3i")
START_S = 180.0
PIPE_BYTES = 1 << 20
KEPT_ERROR_BYTES = 2000


def fresh_uid() -> int:
    """A uid that nobody has: drawn from a range of 2³⁰ so that no two living cases share one.

    Without root there is only one: the judge's own, which in the box's user namespace is the sole one too.
    """
    if rootless():
        return os.geteuid()
    return FIRST_UID + secrets.randbelow(LAST_UID - FIRST_UID)


def sender_pid(channel: socket.socket, size: int) -> tuple[bytes, int]:
    """One message and the pid of its sender, as the kernel attached it, in this process's pid namespace.

    `SO_PASSCRED` must be set on the channel. The pid is 0 where the kernel attached none.
    """
    data, ancillary, _, _ = channel.recvmsg(size, socket.CMSG_SPACE(CREDENTIALS.size))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return data, int(CREDENTIALS.unpack(content[: CREDENTIALS.size])[0])
    return data, 0


@dataclass(frozen=True)
class BoxPlan:
    """Everything needed to launch one box."""

    binds: tuple[Bind, ...]
    environment: Mapping[str, str]
    work_dir: Path
    limits: BoxLimits
    leaf: Leaf
    mounts: Mapping[Path, Workspace]


def make_tmpfs(wanted: Sequence[Tmpfs]) -> dict[Path, Workspace]:
    """A workspace per wanted tmpfs, by target."""
    return {entry.target: Workspace(entry.size_bytes, entry.inodes) for entry in wanted}


def output_pipe() -> tuple[int, int]:
    """Reading and writing end of a pipe for a box's output: large, and never blocking its reader."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with contextlib.suppress(OSError):  # beyond the user's share of pipe memory: the usual size will do
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return reader, writer


def _memory_file(content: bytes) -> int:
    """Descriptor of an anonymous file with that content, at its beginning."""
    descriptor = os.memfd_create("plan")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class Boxed:
    """A running box and the judge's end of the socket to its first process.

    Standard output and error of the box are one pipe, `output`, which does not block.
    """

    def __init__(self, plan: BoxPlan, command: Sequence[str]) -> None:
        """Start `command` in the box; `{socket}` in it becomes the number of its end of the socket."""
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.output, writer = output_pipe()
        filter_file = _memory_file(seccomp.box_filter())
        try:
            words = [word.replace("{socket}", str(theirs.fileno())) for word in command]
            self._process = self._launch(plan, words, theirs.fileno(), filter_file, writer)
        except BaseException:
            self._release()
            raise
        finally:
            theirs.close()
            os.close(writer)
            os.close(filter_file)

    def _launch(
        self, plan: BoxPlan, command: list[str], channel: int, filter_file: int, writer: int
    ) -> subprocess.Popen[bytes]:
        mounts = {f"{STAGE}/{space.descriptor}": target for target, space in plan.mounts.items()}
        argv = box_arguments(find_bwrap(), plan.binds, mounts, plan.environment, plan.work_dir, filter_file, command)
        content = {
            "parent": os.getpid(),
            "rootless": rootless(),
            "cgroups": [str(folder) for folder in plan.leaf.folders],
            "mounts": [space.descriptor for space in plan.mounts.values()],
            "file_bytes": plan.limits.file_bytes,
            "open_files": plan.limits.open_files,
            "kept": [channel, filter_file],
            "argv": argv,
        }
        plan_file = _memory_file(json.dumps(content).encode())
        program = [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("launch.py")), str(plan_file)]
        kept = (plan_file, channel, filter_file, *content["mounts"])  # type: ignore[misc]
        try:
            return subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                pass_fds=kept,
                env={"PATH": "/usr/bin:/bin"},
            )
        finally:
            os.close(plan_file)

    def greet(self, size: int) -> tuple[bytes, int]:
        """First message of the box's first process and its pid. Raises `SandboxIncomplete` if it never comes."""
        poller = select.poll()
        poller.register(self.channel, select.POLLIN | select.POLLHUP)
        if poller.poll(START_S * 1000):
            message, pid = sender_pid(self.channel, size)
            if message and pid:
                self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
                return message, pid
        self.kill()
        raise SandboxIncomplete("box", f"The box did not start: {self._last_words()}")

    def _last_words(self) -> str:
        with contextlib.suppress(BlockingIOError):
            text = os.read(self.output, KEPT_ERROR_BYTES).decode("utf-8", "replace").strip()
            return text or "it said nothing; is the judge root, with CAP_SYS_ADMIN?"
        return "it said nothing within its time."

    def poll(self) -> int | None:
        """Exit code of the box, 128 + n for signal n; None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Exit code of the box, None if it still runs after `timeout_s`."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill the box's outer process, which takes everything inside with it, and reap it."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill the box and free what the judge holds of it."""
        self.kill()
        self._release()

    def _release(self) -> None:
        self.channel.close()
        if self.output >= 0:
            os.close(self.output)
            self.output = -1
