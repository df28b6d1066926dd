"""Which paths of the host a box needs to see, found on this host."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from kernel_eval.sandbox.policy import Bind, BoxLimits, BuildPolicy, RunPolicy, build_environment, run_environment

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/sys/devices/system/cpu")

NEUTRAL = "/python"
"""How the interpreter's place on this host is called wherever others may read it."""


def _here(paths: tuple[str, ...]) -> tuple[Bind, ...]:
    return tuple(Bind(Path(path), Path(path)) for path in paths if Path(path).exists())


def interpreter_binds() -> tuple[Bind, ...]:
    """The Python that runs the judge, with its packages, at the same paths."""
    prefixes = dict.fromkeys(Path(prefix) for prefix in (sys.base_prefix, sys.prefix))
    outside = [prefix for prefix in prefixes if not prefix.is_relative_to("/usr")]
    return tuple(Bind(prefix, prefix) for prefix in outside)


def neutral(text: str) -> str:
    """Text of a box without the interpreter's place on this host, the only path of the host's own that a box shows."""
    places = sorted((str(bind.target) for bind in interpreter_binds()), key=len, reverse=True)
    if not places:
        return text
    return re.sub(rf"(?:{'|'.join(map(re.escape, places))})(?![\w.-])", NEUTRAL, text)


def system_binds() -> tuple[Bind, ...]:
    """Programs and libraries of the host, without anything that is someone's data or secret."""
    return (*_here(SYSTEM), *_here(SETTINGS), *interpreter_binds())


def build_policy(
    jobs: int,
    *,
    limits: BoxLimits | None = None,
    extra_binds: tuple[Bind, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> BuildPolicy:
    """The build box on this host, with the judge's own Python first on the path."""
    base = build_environment(jobs)
    path = os.pathsep.join((str(Path(sys.prefix, "bin")), base["PATH"]))
    plan = BuildPolicy((*system_binds(), *extra_binds), environment={**base, "PATH": path, **(environment or {})})
    return plan if limits is None else BuildPolicy(plan.binds, limits, plan.environment)


def run_policy(limits: BoxLimits, threads: int, extra_binds: tuple[Bind, ...], *, passive_threads: bool) -> RunPolicy:
    """The run box on this host."""
    environment = run_environment(threads, passive_threads=passive_threads)
    return RunPolicy((*system_binds(), *extra_binds), limits, environment)
