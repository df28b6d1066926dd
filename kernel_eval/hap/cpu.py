"""T_HW of a case on the host's processor: a roofline from probed peaks.

    limit = max(floor, bytes / bandwidth, operations / peak rate)

Reads and writes share one bus, so their times add; only what is written beyond
the bytes read may go at the higher rate of writing alone. The peaks are the best of
many tries and the operations those that no algorithm can do without, so that no
honest kernel is faster.
"""

from __future__ import annotations

from kernel_eval.hap.cost import Work
from kernel_eval.hap.hardware import MODEL_VERSION
from kernel_eval.hap.npu import US_PER_S, bottleneck_of
from kernel_eval.hap.peaks import CpuPeaks
from kernel_eval.hap.records import work_of
from kernel_eval.model import UNITS, Case, Limit, Operator

CPU_FLOOR_US = 0.1
"""One trip to main memory: no call answers before it has read a first element."""
CPU_PRESET = "roofline"
POOL_FACTOR = 4
"""A pool of this many times a cache's size lies beyond it (`docs/spec/timing.md`)."""


def cpu_limit(operator: Operator, case: Case, peaks: CpuPeaks, pool_bytes: int) -> Limit:
    """The limit of one call of `case` in µs, timed over a pool of `pool_bytes`.

    Raises `UsageError` for an operator without a cost record and for impossible cases.
    """
    if case.operator != operator.name:
        raise ValueError(f"{case.key} is no case of {operator.name}")
    work = work_of(case)
    rate = pool_bytes_per_s(peaks, pool_bytes)
    units = dict.fromkeys(UNITS, 0.0)
    units["vector"] = US_PER_S * sum(part.hard / peaks.vector_ops[part.lanes] for part in work.vector)
    units["mte2"] = US_PER_S * work.read_bytes / rate
    units["mte3"] = US_PER_S * write_s(work, rate, peaks)
    moved = units["mte2"] + units["mte3"]
    label = bottleneck_of({"vector": units["vector"], "mte2": moved})
    return Limit(max(CPU_FLOOR_US, moved, units["vector"]), units, label, CPU_PRESET, MODEL_VERSION)


def write_s(work: Work, rate: float, peaks: CpuPeaks) -> float:
    """Seconds for writing: as much as is read at the common rate, the surplus at the rate of writing alone."""
    paired = min(work.write_bytes, work.read_bytes)
    return paired / rate + (work.write_bytes - paired) / max(rate, peaks.fill_bytes_per_s)


def pool_bytes_per_s(peaks: CpuPeaks, pool_bytes: int) -> float:
    """Bandwidth of the fastest level in which a pool of `pool_bytes` could lie.

    Main memory from four times the last-level cache on; below, the cache whose
    fourfold size is the smallest to exceed the pool.
    """
    if pool_bytes <= 0:
        raise ValueError(f"a pool of {pool_bytes} bytes can't be timed")
    for level in sorted(peaks.near, key=lambda near: near.size_bytes):
        if pool_bytes < POOL_FACTOR * level.size_bytes:
            return max(level.bytes_per_s, peaks.cache_bytes_per_s)
    if pool_bytes < POOL_FACTOR * peaks.cache_bytes:
        return max(peaks.cache_bytes_per_s, peaks.memory_bytes_per_s)
    return peaks.memory_bytes_per_s
