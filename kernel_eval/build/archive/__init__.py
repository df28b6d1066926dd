"""The rules for uploaded archives, and the only way to unpack one.

    check_archive(source, filename, limits) -> Unpacked     judges, writes nothing
    unpack(source, filename, target, limits) -> Unpacked    judges, then writes into an empty folder

Both raise `ArchiveRefused` with every fault found, each with its rule id
(`Rule`, `SUB-001` …). Loads no torch, no numpy, no yaml; executes nothing.
"""

from kernel_eval.build.archive.rules import DEFAULT_LIMITS, ArchiveLimits, Rule
from kernel_eval.build.archive.tree import Entry
from kernel_eval.build.archive.unpack import Unpacked, check_archive, unpack

__all__ = ["DEFAULT_LIMITS", "ArchiveLimits", "Entry", "Rule", "Unpacked", "check_archive", "unpack"]
