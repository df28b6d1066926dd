"""Guards gather evidence and raise flags. They never decide a verdict and never touch a score."""

from kernel_eval.guard.attempt import attempted
from kernel_eval.guard.binary import scan_binaries
from kernel_eval.guard.residue import PackageMark, cpu_above_wall, mark_package, package_residue
from kernel_eval.guard.source import scan_source
from kernel_eval.guard.watch import guarded

__all__ = [
    "PackageMark",
    "attempted",
    "cpu_above_wall",
    "guarded",
    "mark_package",
    "package_residue",
    "scan_binaries",
    "scan_source",
]
