"""What a host's processor reaches at its best, and whether two hosts are the same kind. No torch, no numpy."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from kernel_eval.errors import UsageError

FINGERPRINT_TOLERANCE = 0.05
"""Memory bandwidths further apart than this are different hosts to a board."""


@dataclass(frozen=True)
class CacheLevel:
    """A cache level as one timed process sees it: bytes over all its cores, and their bandwidth together."""

    level: int
    size_bytes: int
    bytes_per_s: float


@dataclass(frozen=True)
class CpuPeaks:
    """Peaks of a host with all the cores a candidate gets; each the best of many tries.

    `memory_bytes_per_s` and `cache_bytes_per_s` count bytes read plus written;
    `fill_bytes_per_s` is for writing alone, which needs no read. `cache_bytes`
    is the size of the last-level cache, `near` the levels before it. `flops` is
    by dtype with a fused multiply-add as two; `vector_ops` is in lane operations
    by lane width (`b16`, `b32`, `b64`). `stable` False means that the control
    measurement wavered, so that a comparison is inconclusive.
    """

    cpu_model: str
    cores: int
    threads: int
    memory_bytes_per_s: float
    fill_bytes_per_s: float
    cache_bytes: int
    cache_bytes_per_s: float
    near: tuple[CacheLevel, ...]
    flops: Mapping[str, float]
    vector_ops: Mapping[str, float]
    stable: bool = True
    probed_at: str = ""

    def __post_init__(self) -> None:
        rates = [self.memory_bytes_per_s, self.cache_bytes_per_s, *self.flops.values(), *self.vector_ops.values()]
        rates += [level.bytes_per_s for level in self.near]
        rates += [self.fill_bytes_per_s, self.cache_bytes, self.cores, self.threads]
        if not all(math.isfinite(rate) and rate > 0 for rate in rates):
            raise UsageError(f"peaks of {self.cpu_model}: every rate and size must be finite and above zero")
        if set(self.vector_ops) != {"b16", "b32", "b64"}:
            raise UsageError(f"peaks of {self.cpu_model}: vector_ops needs b16, b32 and b64")

    def fingerprint(self) -> dict[str, str | int | float]:
        """What a board pins of its host."""
        return {
            "cpu_model": self.cpu_model,
            "cores": self.cores,
            "threads": self.threads,
            "memory_bytes_per_s": self.memory_bytes_per_s,
        }


class Match(StrEnum):
    """Whether a host is the one a board pins."""

    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    DIFFERENT = "different"


@dataclass(frozen=True)
class FingerprintMatch:
    """The outcome of a comparison, with a reason for each departure."""

    match: Match
    reasons: tuple[str, ...] = ()


def compare_fingerprints(
    pinned: Mapping[str, Any], found: Mapping[str, Any], *, stable: bool = True
) -> FingerprintMatch:
    """Compare a pinned fingerprint with a probed one.

    Another model, core or thread count is always different. A memory bandwidth
    more than 5 % off is different where the probe was `stable`, else inconclusive.
    """
    reasons = [
        f"{key} is {found.get(key)!r}, the board pins {pinned.get(key)!r}"
        for key in ("cpu_model", "cores", "threads")
        if found.get(key) != pinned.get(key)
    ]
    if reasons:
        return FingerprintMatch(Match.DIFFERENT, tuple(reasons))
    there, here = float(pinned["memory_bytes_per_s"]), float(found["memory_bytes_per_s"])
    off = here / there - 1
    if abs(off) <= FINGERPRINT_TOLERANCE:
        return FingerprintMatch(Match.SAME)
    reason = f"memory bandwidth is {here / 1e9:.1f} GB/s, {off:+.0%} against the board's {there / 1e9:.1f} GB/s"
    return FingerprintMatch(Match.DIFFERENT if stable else Match.INCONCLUSIVE, (reason,))


def best_of(first: CpuPeaks, second: CpuPeaks) -> CpuPeaks:
    """The higher of each rate of two probes of one host; raises `UsageError` for two hosts.

    Neighbours on a shared machine only ever slow a probe down, so the best over
    all probes is the peak that no honest kernel exceeds.
    """
    reasons = compare_fingerprints(first.fingerprint(), second.fingerprint(), stable=False)
    if reasons.match is Match.DIFFERENT:
        raise UsageError(f"peaks of two hosts can't be joined: {'; '.join(reasons.reasons)}")
    return replace(
        first,
        memory_bytes_per_s=max(first.memory_bytes_per_s, second.memory_bytes_per_s),
        fill_bytes_per_s=max(first.fill_bytes_per_s, second.fill_bytes_per_s),
        cache_bytes_per_s=max(first.cache_bytes_per_s, second.cache_bytes_per_s),
        near=tuple(
            max(pair, key=lambda level: level.bytes_per_s) for pair in zip(first.near, second.near, strict=True)
        ),
        flops=_higher(first.flops, second.flops),
        vector_ops=_higher(first.vector_ops, second.vector_ops),
        stable=first.stable or second.stable,
        probed_at=max(first.probed_at, second.probed_at),
    )


def peaks_to_json(peaks: CpuPeaks) -> str:
    """The peaks as JSON text; `peaks_from_json` reads it back to an equal object."""
    return json.dumps(asdict(peaks), indent=2, sort_keys=True)


def peaks_from_json(text: str, where: str = "peaks") -> CpuPeaks:
    """Peaks from JSON text; raises `UsageError` that names the missing or foreign key."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as fault:
        raise UsageError(f"{where}: no JSON: {fault}") from fault
    names = {field.name for field in fields(CpuPeaks)}
    if not isinstance(data, dict) or not names - {"stable", "probed_at"} <= set(data) <= names:
        raise UsageError(f"{where}: these keys are needed, and no others: {', '.join(sorted(names))}")
    try:
        near = tuple(CacheLevel(**level) for level in data.pop("near"))
        return CpuPeaks(near=near, **data)
    except (TypeError, AttributeError) as fault:
        raise UsageError(f"{where}: a value has the wrong type: {fault}") from fault


def load_peaks(path: Path) -> CpuPeaks:
    """Peaks from a file; raises `UsageError` for a file that can't be read or holds something else."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as fault:
        raise UsageError(f"{path}: can't be read: {fault.strerror}") from fault
    return peaks_from_json(text, str(path))


def save_peaks(peaks: CpuPeaks, path: Path) -> None:
    """Write the peaks to `path` so that a reader sees the old file or the new one, never a half."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(peaks_to_json(peaks) + "\n", encoding="utf-8")
    fresh.replace(path)


def _higher(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {key: max(first.get(key, 0.0), second.get(key, 0.0)) for key in sorted({*first, *second})}
