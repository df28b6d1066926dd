"""A wheel's way into a fresh package folder: `cann_bench` and nothing else."""

from __future__ import annotations

import io
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.build.archive import ArchiveLimits
from kernel_eval.build.archive.formats import Format
from kernel_eval.build.archive.rules import Ledger, UnreadableError, shown
from kernel_eval.build.archive.stream import Meter
from kernel_eval.build.archive.tree import Tree
from kernel_eval.build.archive.unpack import kept_members, write_file
from kernel_eval.build.elf import foreign_machine

PACKAGE = "cann_bench"
WHEEL_SUFFIX = ".whl"
MAX_WHEEL_BYTES = 512 << 20
LIMITS = ArchiveLimits(
    max_archive_bytes=MAX_WHEEL_BYTES, max_unpacked_bytes=2 << 30, max_entries=20_000, ratio_free_bytes=256 << 20
)
NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)")
DATA_PLACES = ("purelib", "platlib")


class WheelRefused(Exception):
    """A wheel that can't be used; the message says why and what to do."""


@dataclass(frozen=True)
class Tags:
    """Compatibility tags in a wheel's file name (PyPA, "Binary distribution format")."""

    python: frozenset[str]
    abi: frozenset[str]
    platform: frozenset[str]


def tags_of(filename: str) -> Tags:
    """The tags in `filename`. Raises `WheelRefused` where it is no wheel's name."""
    match = NAME.fullmatch(filename.removesuffix(WHEEL_SUFFIX))
    if match is None:
        raise WheelRefused(f"{shown(filename)} is no wheel's name; expected name-version-python-abi-platform.whl")
    parts = (frozenset(match[part].split(".")) for part in ("python", "abi", "platform"))
    return Tags(*parts)


def check_tags(filename: str) -> None:
    """Refuse a wheel that was built for another Python, ABI or machine than the judge's."""
    tags = tags_of(filename)
    minor = sys.version_info.minor
    own = f"cp3{minor}"
    if not tags.python & {own, "py3", f"py3{minor}"} and not ("abi3" in tags.abi and _older(tags.python, minor)):
        raise WheelRefused(f"{shown(filename)} is for Python {'/'.join(sorted(tags.python))}; the judge runs {own}")
    if not tags.abi & {own, "abi3", "none"}:
        raise WheelRefused(f"{shown(filename)} has the ABI {'/'.join(sorted(tags.abi))}; the judge's is {own}")
    machine = sysconfig.get_platform().rsplit("-", 1)[-1]
    if not any(platform == "any" or platform.endswith(machine) for platform in tags.platform):
        raise WheelRefused(f"{shown(filename)} is for {'/'.join(sorted(tags.platform))}; the judge runs on {machine}")


def _older(pythons: frozenset[str], minor: int) -> bool:
    return any(tag.startswith("cp3") and tag[3:].isdigit() and int(tag[3:]) <= minor for tag in pythons)


def install_wheel(filename: str, data: bytes, package_dir: Path) -> None:
    """Write the package of a wheel into `package_dir`, an empty folder; run nothing of it.

    Raises `WheelRefused` for tags that don't fit, anything besides `cann_bench` and
    metadata, entries the archive rules refuse, and libraries of another machine.
    """
    check_tags(filename)
    ledger = Ledger()
    tree, meter = Tree(LIMITS, ledger), Meter(LIMITS, len(data))
    foreign: set[str] = set()
    try:
        for path, member in kept_members(io.BytesIO(data), Format.ZIP, tree, meter):
            place = _place(path)
            if place is None:
                foreign.add(path.split("/")[0])
            elif place and member.kind == "file" and not ledger.total and not foreign:
                write_file(package_dir / place, member)
                tree.add_file(path, 0, member.mode)
    except UnreadableError as error:
        raise WheelRefused(f"{shown(filename)}: {error}") from error
    _judge(filename, ledger, foreign, package_dir)


def _place(path: str) -> str | None:
    """Where a wheel's entry goes; "" for metadata, which is left out; None for what may not be there."""
    top, _, rest = path.partition("/")
    if top.endswith(".dist-info"):
        return ""
    if top.endswith(".data"):
        kind, _, rest = rest.partition("/")
        return "" if not rest and kind in ("", *DATA_PLACES) else _inside(rest) if kind in DATA_PLACES else None
    return _inside(path)


def _inside(path: str) -> str | None:
    return path if path == PACKAGE or path.startswith(f"{PACKAGE}/") else None


def _judge(filename: str, ledger: Ledger, foreign: set[str], package_dir: Path) -> None:
    if ledger.total:
        raise WheelRefused(f"{shown(filename)}: " + "; ".join(str(fault) for fault in ledger.faults))
    if foreign:
        names = ", ".join(sorted(shown(name) for name in foreign)[:8])
        raise WheelRefused(f"{shown(filename)} holds {names}; only the package {PACKAGE} and its metadata are allowed")
    if not (package_dir / PACKAGE / "__init__.py").is_file():
        raise WheelRefused(f"{shown(filename)} holds no {PACKAGE}/__init__.py; it must hold the package {PACKAGE}")
    for library in sorted(package_dir.rglob("*.so*")):
        if (machine := foreign_machine(library)) is not None:
            raise WheelRefused(
                f"{shown(library.name)} in {shown(filename)} is {machine}; build it on the judge's machine"
            )
