"""Hardware tables as data: every number with its source.

`compat` holds the rates that the published limits were made with, `spec`
documented hardware numbers only. Where the two differ, the source says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernel_eval.errors import UsageError
from kernel_eval.hap.cost import Lanes

MODEL_VERSION = "1"
"""Version of the limit's model; stored with every limit."""
MIB = 1024 * 1024


@dataclass(frozen=True)
class Figure:
    """A number and where it comes from. Rates are per second, sizes in bytes, times in µs."""

    value: float
    source: str


@dataclass(frozen=True)
class Preset:
    """Rates of one chip under one reading.

    Reads come cold from memory at `read`. Of the bytes written, the first
    `near_bytes` stay in the second-level cache at `write_near`, the rest goes
    out at `write_far`. `shared_bus` tells whether reads and spilled writes
    share one memory bus.
    """

    floor_us: Figure
    read: Figure
    write_near: Figure
    near_bytes: Figure
    write_far: Figure
    vector: Mapping[Lanes, Figure]
    shared_bus: bool


@dataclass(frozen=True)
class Hardware:
    """A chip and its presets by name."""

    name: str
    title: str
    presets: Mapping[str, Preset]


_FITTED = "recovered from the published limits, exact to their printed digits"
_FLOOR = Figure(1.0, "convention of the published limits")
_INI_910B2 = "platform file Ascend910B2.ini of the open CANN runtime"
_INI_950PR = "platform file Ascend950PR_9589.ini of the open CANN runtime"
_PAPER_910B2 = "NPU white paper as quoted in CANN's public issues"
_HALF = "half of the 32-bit rate, the ratio of the narrower lanes"

_910B2 = Hardware(
    "910b2",
    "Ascend 910B2",
    {
        "compat": Preset(
            floor_us=_FLOOR,
            read=Figure(1.92e12, f"{_FITTED}; 1.2 times the documented memory rate"),
            write_near=Figure(6.4e12, _FITTED),
            near_bytes=Figure(192e6, f"{_FITTED}; decimal, the cache itself has 192 MiB"),
            write_far=Figure(1.92e12, _FITTED),
            vector={
                Lanes.B16: Figure(12e12, f"{_FITTED}; 8.5 % above lanes × clock"),
                Lanes.B32: Figure(6e12, f"{_FITTED}; 8.5 % above lanes × clock"),
                Lanes.B64: Figure(3e12, _FITTED),
            },
            shared_bus=False,
        ),
        "spec": Preset(
            floor_us=_FLOOR,
            read=Figure(1.6e12, _PAPER_910B2),
            write_near=Figure(3.72e12, f"86 B/cycle × 24 cores × 1.8 GHz, {_INI_910B2}"),
            near_bytes=Figure(192 * MIB, f"l2_size, {_INI_910B2}"),
            write_far=Figure(1.6e12, _PAPER_910B2),
            vector={
                Lanes.B16: Figure(11.06e12, f"128 lanes × 48 cores × 1.8 GHz, {_INI_910B2}"),
                Lanes.B32: Figure(5.53e12, f"64 lanes × 48 cores × 1.8 GHz, {_INI_910B2}"),
                Lanes.B64: Figure(2.765e12, _HALF),
            },
            shared_bus=True,
        ),
    },
)
_950PR = Hardware(
    "950pr",
    "Ascend 950PR",
    {
        "compat": Preset(
            floor_us=_FLOOR,
            read=Figure(1.6e12, _FITTED),
            write_near=Figure(5.2e12, _FITTED),
            near_bytes=Figure(128e6, f"{_FITTED}; decimal, the cache itself has 128 MiB"),
            write_far=Figure(1.6e12, _FITTED),
            vector={
                Lanes.B16: Figure(27e12, "half of 54 T with multiply and add counted, CANN's public issues"),
                Lanes.B32: Figure(13.5e12, "half of the 16-bit rate"),
                Lanes.B64: Figure(6.75e12, _HALF),
            },
            shared_bus=False,
        ),
        "spec": Preset(
            floor_us=_FLOOR,
            read=Figure(1.6e12, "NPU white paper as quoted in CANN's public issues"),
            write_near=Figure(5.28e12, f"100 B/cycle × 32 cores × 1.65 GHz, {_INI_950PR}"),
            near_bytes=Figure(128 * MIB, f"l2_size, {_INI_950PR}"),
            write_far=Figure(1.6e12, "NPU white paper as quoted in CANN's public issues"),
            vector={
                Lanes.B16: Figure(27e12, "half of 54 T with multiply and add counted, CANN's public issues"),
                Lanes.B32: Figure(13.5e12, "half of the 16-bit rate"),
                Lanes.B64: Figure(6.75e12, _HALF),
            },
            shared_bus=True,
        ),
    },
)
HARDWARE: Mapping[str, Hardware] = {chip.name: chip for chip in (_910B2, _950PR)}
"""The chips with a table. `cpu` has none: its peaks are probed."""


def preset_of(hardware: str, preset: str) -> Preset:
    """A chip's rates; raises `UsageError` that names what is known, never a silent default."""
    chip = HARDWARE.get(hardware)
    if chip is None:
        known = ", ".join(HARDWARE)
        raise UsageError(f"unknown hardware {hardware!r}: tables exist for {known}; cpu is probed on the host instead")
    if preset not in chip.presets:
        raise UsageError(f"unknown preset {preset!r} for {hardware}: known are {', '.join(chip.presets)}")
    return chip.presets[preset]
