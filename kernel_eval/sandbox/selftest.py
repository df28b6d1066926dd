"""Finds out what of the sandbox is missing on this host: part by part, then by attacking a real box."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.errors import InternalError, SandboxIncomplete
from kernel_eval.sandbox import seccomp
from kernel_eval.sandbox.box import INSIDE, own_files, run_command
from kernel_eval.sandbox.bwrap import find_bwrap
from kernel_eval.sandbox.cgroup import Job, sweep_orphans
from kernel_eval.sandbox.host import build_policy
from kernel_eval.sandbox.policy import MIB, BoxLimits, BuildPolicy, Tmpfs
from kernel_eval.sandbox.seccomp_rootless import rootless_case_filter
from kernel_eval.sandbox.workspace import Workspace

PROBE_LIMITS = BoxLimits(512 * MIB, 48, 256 * MIB)
PROBE_TMP_MIB = 16
PROBE_S = 60.0
F_SEAL_FUTURE_WRITE = 0x0010


@dataclass(frozen=True)
class MissingPart:
    """A part of the sandbox that this host lacks, and what an operator of the host does about it."""

    part: str
    fix: str


def _sized_tmpfs() -> None:
    with Workspace(MIB, 16) as space:
        Path(space.path, "probe").write_bytes(b"")


def _control_groups() -> None:
    job = Job()
    try:
        job.leaf("probe", PROBE_LIMITS)
    finally:
        job.close()


def _kernel_features() -> None:
    """What came with Linux 5.14 or earlier: memory seals, process descriptors."""
    try:
        os.close(os.pidfd_open(os.getpid()))
        descriptor = os.memfd_create("probe", os.MFD_ALLOW_SEALING)
        try:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SandboxIncomplete("kernel", f"Linux 5.14 or newer is needed ({error}).") from error


PARTS: tuple[Callable[[], object], ...] = (
    find_bwrap, seccomp.box_filter, seccomp.case_filter, rootless_case_filter,
    _kernel_features, _sized_tmpfs, _control_groups,
)  # fmt: skip


def _policy() -> BuildPolicy:
    whole = build_policy(1, limits=PROBE_LIMITS, extra_binds=own_files("probes"))
    tmpfs = (Tmpfs(Path("/tmp"), PROBE_TMP_MIB * MIB), Tmpfs(Path("/dev/shm"), MIB))
    return BuildPolicy(whole.binds, whole.limits, whole.environment, tmpfs)


def _bait(stack: ExitStack) -> dict[str, object]:
    """Things of the judge that no box may reach."""
    port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    name = f"hapboard-{secrets.token_hex(8)}"
    abstract.bind("\0" + name)
    abstract.listen()
    file = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hapboard-")), "bait")
    file.parent.chmod(0o755)
    file.write_text("bait")
    variable = f"HAPBOARD_PROBE_{secrets.token_hex(8)}"
    os.environ[variable] = "1"
    stack.callback(os.environ.pop, variable)
    return {
        "port": port.getsockname()[1],
        "abstract": name,
        "file": str(file),
        "variable": variable,
        "tmp_mib": PROBE_TMP_MIB,
        "processes": PROBE_LIMITS.processes,
    }


def open_probes() -> list[str]:
    """Names of the attacks that succeed in a box on this host. Raises `SandboxIncomplete` where none can be tried."""
    with ExitStack() as stack:
        program = [sys.executable, "-I", "-S", "-B", str(INSIDE / "probes.py"), json.dumps(_bait(stack))]
        outcome = run_command(_policy(), program, PROBE_S, MIB)
    lines = outcome.log.decode("utf-8", "replace").splitlines()
    if not lines or not lines[-1].startswith("LOOKED "):
        said = lines[-1][:300] if lines else "nothing"
        raise SandboxIncomplete("self test", f"The probes did not run to their end; they said: {said}")
    return [line.removeprefix("OPEN ") for line in lines if line.startswith("OPEN ")]


def _attacked() -> list[MissingPart]:
    try:
        opened = open_probes()
    except SandboxIncomplete as missing:
        return [MissingPart(missing.part, missing.fix)]
    fix = "This attack succeeded in a box on this host; report it, and take no submissions here."
    return [MissingPart(f"wall against {name}", fix) for name in opened]


def check_host() -> list[MissingPart]:
    """Every missing part; empty where the sandbox is complete. Takes about a second.

    Also removes what boxes of dead judges left behind.
    """
    missing = []
    for part in PARTS:
        try:
            part()
        except SandboxIncomplete as error:
            missing.append(MissingPart(error.part, error.fix))
        except InternalError as error:
            missing.append(MissingPart("self test", str(error)))
    if missing:
        return missing
    sweep_orphans()
    return _attacked()
