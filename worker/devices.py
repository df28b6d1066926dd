"""What this host is: its processor's peaks, probed once, and whether a board pins a host like it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernel_eval.device.cpu_probe import probe
from kernel_eval.hap import CpuPeaks, Match, compare_fingerprints, load_peaks, save_peaks
from worker.settings import WorkerSettings

PROBES = 2
"""A probe that wavers is repeated, and the best of each rate is kept."""


def host_peaks(settings: WorkerSettings) -> CpuPeaks:
    """This host's peaks with the cores that a candidate gets; probed the first time, then read."""
    path = peaks_path(settings)
    if path.exists():
        return load_peaks(path)
    peaks = probe(settings.worker_threads, most_runs=PROBES)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_peaks(peaks, path)
    return peaks


def peaks_path(settings: WorkerSettings) -> Path:
    """Where the host's peaks are kept; with another number of cores it is another host."""
    return settings.worker_dir / f"peaks-{settings.worker_hardware}-{settings.worker_threads}.json"


def why_not_like(pinned: Mapping[str, Any], peaks: CpuPeaks) -> str | None:
    """Why this host may take no lease for a board with the `pinned` fingerprint; None where it may."""
    found = compare_fingerprints(pinned, peaks.fingerprint(), stable=peaks.stable)
    return "; ".join(found.reasons) if found.match is Match.DIFFERENT else None
