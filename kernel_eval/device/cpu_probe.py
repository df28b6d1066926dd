"""Probing the host's peaks: what its processor reaches at its best with the cores a candidate gets.

A small C++ program moves memory and computes with one pinned thread per core,
everything in turn for some seconds, so that a neighbour's burst hits each kernel
alike; the best try counts. Its far pass walks four times the last-level cache in
random order, as a timed pool is walked, so what the cache keeps of a pool is in
the peak. Streaming stores are used, as a good candidate would.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from kernel_eval.device.cpu_topology import Topology, read_topology
from kernel_eval.errors import InternalError, UsageError
from kernel_eval.hap import CacheLevel, CpuPeaks, best_of

SOURCE = Path(__file__).with_name("cpu_probe.cpp")
COMPILE = ("-O3", "-march=native", "-std=c++17", "-pthread")
PROBE_SECONDS = 2.5
"""Fifty tries of each kernel, about."""
STEADY_SHARE = 0.95
"""The probe is stable where the control's median and the third-best try reach this share of the best."""

Tries = Mapping[str, Sequence[float]]


def probe(threads: int, seconds: float = PROBE_SECONDS, most_runs: int = 1) -> CpuPeaks:
    """Measure the peaks with `threads` cores in about `seconds` plus four.

    Where the machine wavered while it was measured, it is measured again, `most_runs` times in all, and the best of
    each rate is kept; `stable` is False in the result where it never stood still. Raises `UsageError` for more
    threads than cores, `InternalError` where no compiler is at hand or the probe program fails.
    """
    topology = read_topology()
    if not 0 < threads <= len(topology.cpus):
        raise UsageError(f"{threads} threads can't be probed: this process may use {len(topology.cpus)} cores")
    with compiled_program() as program:
        matmul = matmul_rates(threads) if topology.matrix_units else {}
        peaks = peaks_of(run_program(program, topology, threads, seconds), topology, threads, matmul)
        for _ in range(most_runs - 1):
            if peaks.stable:
                break
            again = peaks_of(run_program(program, topology, threads, seconds), topology, threads, matmul)
            peaks = best_of(peaks, again)
    return peaks


@contextmanager
def compiled_program() -> Iterator[str]:
    """Path of the probe program, compiled for this host; it is gone afterwards."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise InternalError("no C++ compiler: install g++ (Debian: apt-get install g++) to probe the host's peaks")
    with tempfile.TemporaryDirectory(prefix="cpu-probe-") as folder:
        program = str(Path(folder) / "cpu_probe")
        _output([compiler, *COMPILE, str(SOURCE), "-o", program], 120)
        yield program


def run_program(program: str, topology: Topology, threads: int, seconds: float) -> Tries:
    """Run the probe program; rates per second by kernel, one per try."""
    cpus = ",".join(str(cpu) for cpu in topology.cpus[:threads])
    sizes = [str(size) for size in (topology.l1_bytes, topology.l2_bytes, topology.llc_bytes)]
    tries: Tries = json.loads(_output([program, str(seconds), cpus, *sizes], 60 + 10 * seconds))["tries"]
    return tries


def matmul_rates(threads: int) -> dict[str, float]:
    """Floating-point operations per second of PyTorch's matrix product by dtype, in a process of its own."""
    rates = json.loads(_output([sys.executable, "-m", "kernel_eval.device.matmul_rate", str(threads)], 120))
    return {str(dtype): float(rate) for dtype, rate in rates.items()}


def peaks_of(tries: Tries, topology: Topology, threads: int, matmul: Mapping[str, float]) -> CpuPeaks:
    """The peaks from all tries: the best of each, over all ways of moving and computing."""
    lanes = {width: _best(tries, f"{width}.") for width in ("b32", "b64")}
    lanes["b16"] = max(_best(tries, "b16."), lanes["b32"])
    by_dtype = {"float64": "b64", "float32": "b32", "float16": "b16", "bfloat16": "b32"}
    return CpuPeaks(
        cpu_model=topology.model,
        cores=len(topology.cpus),
        threads=threads,
        memory_bytes_per_s=_best(tries, "memory.", without="fill"),
        fill_bytes_per_s=_best(tries, "memory."),
        cache_bytes=topology.llc_bytes,
        cache_bytes_per_s=_best(tries, "llc."),
        near=_near_levels(tries, topology, threads),
        flops={dtype: max(lanes[width], matmul.get(dtype, 0.0)) for dtype, width in by_dtype.items()},
        vector_ops=dict(sorted(lanes.items())),
        stable=is_stable(tries),
        probed_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def is_stable(tries: Tries) -> bool:
    """Whether the machine stood still: the control hardly wavered, and the best memory rate is no lone peak."""
    control = sorted(tries["control"])
    _, name = max((max(rates), key) for key, rates in tries.items() if key.startswith("memory.") and "fill" not in key)
    third = sorted(tries[name])[-3]
    return control[len(control) // 2] >= STEADY_SHARE * control[-1] and third >= STEADY_SHARE * max(tries[name])


def _near_levels(tries: Tries, topology: Topology, threads: int) -> tuple[CacheLevel, ...]:
    sizes = {1: topology.l1_bytes, 2: topology.l2_bytes}
    return tuple(CacheLevel(level, size * threads, _best(tries, f"l{level}.")) for level, size in sizes.items() if size)


def _best(tries: Tries, prefix: str, without: str = "\n") -> float:
    return max((max(rates) for key, rates in tries.items() if key.startswith(prefix) and without not in key), default=0)


def _output(command: Sequence[str], timeout_s: float) -> str:
    """Standard output of `command`; raises `InternalError` with the end of its error output."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=True)
    except subprocess.TimeoutExpired as fault:
        raise InternalError(f"{Path(command[0]).name} did not end within {timeout_s:.0f} s while probing") from fault
    except subprocess.CalledProcessError as fault:
        raise InternalError(f"{Path(command[0]).name} failed while probing: {fault.stderr[-500:].strip()}") from fault
    return done.stdout
