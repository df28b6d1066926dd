"""T_HW of a case on an NPU: the slowest of its units, all of them overlapping (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from kernel_eval.hap.cost import Work
from kernel_eval.hap.hardware import MODEL_VERSION, Preset, preset_of
from kernel_eval.hap.records import work_of
from kernel_eval.model import UNITS, Bottleneck, Case, Limit

US_PER_S = 1e6


def npu_limit(case: Case, hardware: str, preset: str) -> Limit:
    """The limit of `case` in µs.

    Raises `UsageError` for unknown hardware, presets and operators and for
    impossible cases. A case without elements stands at the floor.
    """
    rates = preset_of(hardware, preset)
    work = work_of(case)
    units = unit_times_us(work, rates)
    busiest = max(units.values())
    if rates.shared_bus:
        busiest = max(busiest, bus_us(work, rates))
    return Limit(max(rates.floor_us.value, busiest), units, bottleneck_of(units), preset, MODEL_VERSION)


def unit_times_us(work: Work, rates: Preset) -> dict[str, float]:
    """The time of each of the six units in µs; a unit without work takes none."""
    near = min(work.write_bytes, rates.near_bytes.value)
    times = dict.fromkeys(UNITS, 0.0)
    times["vector"] = US_PER_S * sum(part.calibrated / rates.vector[part.lanes].value for part in work.vector)
    times["mte2"] = US_PER_S * work.read_bytes / rates.read.value
    times["mte3"] = US_PER_S * (near / rates.write_near.value + spilled_bytes(work, rates) / rates.write_far.value)
    return times


def bus_us(work: Work, rates: Preset) -> float:
    """Time of the shared memory bus in µs: cold reads, and the writes that the cache can't hold."""
    return US_PER_S * (work.read_bytes + spilled_bytes(work, rates)) / rates.read.value


def spilled_bytes(work: Work, rates: Preset) -> float:
    """Bytes written that don't fit into the second-level cache."""
    return max(0.0, work.write_bytes - rates.near_bytes.value)


def bottleneck_of(units: Mapping[str, float]) -> Bottleneck:
    """The label of the busiest unit; data movement where none is busy."""
    busiest = max(units, key=lambda unit: units[unit])
    if units[busiest] <= 0:
        return Bottleneck.MTE
    return {"vector": Bottleneck.VECTOR, "cube": Bottleneck.CUBE}.get(busiest, Bottleneck.MTE)
