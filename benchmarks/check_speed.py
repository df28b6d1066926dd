"""The check of a large float32 output against its golden, beside a naive comparison with full-size FP64 tensors.

Both are timed in turns, in one process, on the same tensors: once on an output
that passes the first screen, once on one that fails and is judged by region. The
naive comparison knows the same rules and finds the same verdicts; it is written
here as anybody would write it with whole tensors. Usage:

    python -m benchmarks.check_speed [--elements 67108864] [--rounds 2]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.support.figures import aim, finish, spread, tell
from kernel_eval.check.relative import compare_floats
from kernel_eval.check.tolerances import DEFAULTS

ELEMENTS = 1 << 26
PASSING_SPEEDUP, FAILING_SPEEDUP = 25.0, 8.0
GB_PER_S = 2.5
EXTRA_MIB = 64.0
MIB = 1 << 20
FLOAT32 = DEFAULTS["float32"]


def naive(found: torch.Tensor, golden: torch.Tensor) -> bool:
    """Rules 3 to 5 with whole tensors in FP64; the same-precision run is the golden."""
    largest = torch.finfo(found.dtype).max
    left, right = found.double(), golden.double()
    if not torch.equal(left.isnan(), right.isnan()):
        return False
    both = left.isinf() & right.isinf()
    if not torch.equal(left[both], right[both]):
        return False
    left, right = left.clamp(-largest, largest), right.clamp(-largest, largest)
    difference = (left - right).abs()
    error = difference / (right.abs() + 1e-7)
    counts = ~(right.isnan() | both)
    error, difference, left, right = error[counts], difference[counts], left[counts], right[counts]
    if error.mean() < FLOAT32.mean and error.max() < FLOAT32.peak:
        return True
    failing = error >= FLOAT32.peak
    small = right.abs() < FLOAT32.small
    cancelled = (left.abs() < FLOAT32.cancelled) & (right.abs() < FLOAT32.cancelled) & ~small
    normal = ~(small | cancelled)
    non_zero = small & (right != 0)
    return bool(
        not (failing & normal).any()
        and (not normal.any() or error[normal].mean() < FLOAT32.mean)
        and (failing & small & (difference > FLOAT32.small_error)).sum() <= 2
        and (failing & cancelled).sum() <= 2
        and (left[small].abs() <= 2 * FLOAT32.small).all()
        and difference[non_zero].sum() <= right[non_zero].abs().sum() / 2 + non_zero.sum() * FLOAT32.tiniest
    )


def checked(found: torch.Tensor, golden: torch.Tensor) -> bool:
    """The judge's comparison, with the golden as same-precision run."""
    return compare_floats(found, golden, FLOAT32, False, lambda: golden).passed


def peak_above_now(work: Callable[[], bool]) -> float:
    """MiB that `work` adds to the resident memory at its worst."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    """A figure of this process in KiB."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found.group(1)) if found else 0


def seconds(work: Callable[[], bool], wanted: bool) -> float:
    """How long `work` takes; it must find the verdict `wanted`."""
    began = time.perf_counter()
    if work() is not wanted:
        raise RuntimeError("the two comparisons disagree")
    return time.perf_counter() - began


def main() -> int:
    """Print the figures; 0 where every aim is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    golden = torch.empty(chosen.elements).uniform_(-3, 3, generator=torch.Generator().manual_seed(1))
    passing = golden * (1 + 1e-6)
    failing = passing.clone()
    failing[chosen.elements // 2] = 100.0
    extra = max(peak_above_now(lambda: checked(passing, golden)), peak_above_now(lambda: checked(failing, golden)))
    samples: dict[str, list[float]] = {"passing": [], "failing": [], "naive_passing": [], "naive_failing": []}
    for turn in range(chosen.rounds):
        tell(f"round {turn + 1} of {chosen.rounds}")
        for name, found in (("passing", passing), ("failing", failing)):
            samples[name].append(seconds(lambda found=found: checked(found, golden), name == "passing"))  # type: ignore[misc]
            samples[f"naive_{name}"].append(seconds(lambda found=found: naive(found, golden), name == "passing"))  # type: ignore[misc]
    medians = {name: statistics.median(values) for name, values in samples.items()}
    gb_per_s = 2 * 4 * chosen.elements / medians["passing"] / 1e9
    return finish(
        "check_speed",
        {
            "passing_share_of_naive": aim(medians["passing"] / medians["naive_passing"], 1 / PASSING_SPEEDUP),
            "failing_share_of_naive": aim(medians["failing"] / medians["naive_failing"], 1 / FAILING_SPEEDUP),
            "seconds_per_gb": aim(1 / gb_per_s, 1 / GB_PER_S),
            "extra_mib": aim(extra, EXTRA_MIB),
        },
        elements=chosen.elements,
        passing_speedup=round(medians["naive_passing"] / medians["passing"], 1),
        failing_speedup=round(medians["naive_failing"] / medians["failing"], 1),
        gb_per_s=round(gb_per_s, 2),
        torch_threads=torch.get_num_threads(),
        cores=os.cpu_count(),
        seconds={name: spread(values) for name, values in samples.items()},
    )


if __name__ == "__main__":
    sys.exit(main())
