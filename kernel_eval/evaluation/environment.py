"""On what an evaluation ran: versions, device, cores. Part of every report."""

from __future__ import annotations

import os
import platform
import secrets
from datetime import UTC, datetime

import torch

import kernel_eval
from kernel_eval.hap import CpuPeaks
from kernel_eval.settings import Settings


def now() -> str:
    """The time in UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def evaluation_code() -> str:
    """A name for one evaluation: its time and six random digits."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def environment(settings: Settings, peaks: CpuPeaks) -> dict[str, str]:
    """Names and versions that a reader needs to judge the figures by."""
    return {
        "judge": kernel_eval.__version__,
        "device": peaks.cpu_model,
        "memory_gb_per_s": f"{peaks.memory_bytes_per_s / 1e9:.1f}",
        "peaks": "steady" if peaks.stable else "inconclusive",
        "threads": str(settings.threads),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "warmup": str(settings.warmup),
        "repeat": str(settings.repeat),
        "trials": "2" if settings.second_trial else "1",
        "isolation": "case" if settings.case_isolation else "operator",
    }
