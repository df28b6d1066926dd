"""Figures in one form: medians with their spread, aims with whether they were met."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def spread(samples: Sequence[float], digits: int = 3) -> dict[str, float | int]:
    """Median, least, greatest and number of `samples`."""
    return {
        "median": round(statistics.median(samples), digits),
        "least": round(min(samples), digits),
        "greatest": round(max(samples), digits),
        "samples": len(samples),
    }


def aim(found: float, at_most: float) -> dict[str, float | bool]:
    """A figure beside the most it may be."""
    return {"found": round(found, 3), "at_most": at_most, "met": found <= at_most}


def host() -> dict[str, str | int | float]:
    """The machine and how busy it was: a figure without it says little."""
    return {
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
    }


def tell(text: str) -> None:
    """A line for whoever watches; figures alone go to standard output."""
    print(text, file=sys.stderr, flush=True)


def finish(benchmark: str, aims: Mapping[str, Mapping[str, Any]], **figures: Any) -> int:
    """Print the one JSON object; the exit code says whether every aim was met."""
    print(json.dumps({"benchmark": benchmark, "host": host(), "aims": aims, **figures}, indent=2))
    return 0 if all(each["met"] for each in aims.values()) else 1
