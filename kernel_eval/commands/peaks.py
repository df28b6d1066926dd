"""Peaks of this machine for the commands: from a file, from the cache, or probed once and kept."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from kernel_eval.hap import CpuPeaks


def peaks_for(threads: int, cache_dir: Path, peaks_file: Path | None = None) -> CpuPeaks:
    """The peaks that limits are made of. Raises `UsageError` for an unreadable file.

    A first probe of a machine takes some seconds and is kept under `cache_dir`.
    """
    from kernel_eval.hap import load_peaks, save_peaks

    if peaks_file is not None:
        return load_peaks(peaks_file)
    kept = cache_dir / "peaks" / f"{_machine()}-{threads}.json"
    if kept.is_file():
        return load_peaks(kept)
    from kernel_eval.device.cpu_probe import probe

    click.echo("kernel-eval: probing this machine's peaks, once", err=True)
    peaks = probe(threads)
    kept.parent.mkdir(parents=True, exist_ok=True)
    save_peaks(peaks, kept)
    return peaks


def _machine() -> str:
    """A short name that changes with the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line for line in lines if line.startswith("model name")), "")
    except OSError:
        model = ""
    return hashlib.sha256(f"{platform.machine()} {platform.node()} {model}".encode()).hexdigest()[:12]
