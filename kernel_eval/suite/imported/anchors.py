"""Foreign tables of times: baseline and limit per hardware, level, operator and case."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.values import read_number

HARDWARE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
BASELINE_KEYS, LIMIT_KEYS = ("baseline_perf_us", "baseline"), ("t_hw_us", "t_hw")


@dataclass(frozen=True)
class Times:
    """Times of one case on one hardware in µs; None where the table has none."""

    baseline_us: float | None = None
    limit_us: float | None = None


Key = tuple[str, str, int]
"""Level's folder, operator's folder, case id."""


def read_times(baseline: object, limit: object, *, hardware: str) -> dict[str, Times]:
    """Times by hardware. Each may be one number, which stands for `hardware`, or a mapping of hardware to number.

    Raises `ValueError` for what is no time above zero.
    """
    baselines, limits = _by_hardware(baseline, hardware), _by_hardware(limit, hardware)
    return {name: Times(baselines.get(name), limits.get(name)) for name in dict.fromkeys((*baselines, *limits))}


def read_metadata(document: object, hardware: str, where: str, faults: FaultList) -> dict[str, dict[Key, Times]]:
    """Times by hardware and case from `metadata/<hardware>.json`."""
    found: dict[str, dict[Key, Times]] = {}
    if not isinstance(document, Mapping):
        faults.add("import.metadata", where, "must be a mapping of levels to operators to cases")
        return found
    for level, operators in document.items():
        if str(level).startswith("_"):
            continue
        for operator, cases in _mapping(operators, f"{where}, {level}", faults).items():
            place = f"{where}, {level}, {operator}"
            for case_id, entry in _mapping(cases, place, faults).items():
                key = f"{place}, {case_id}"
                try:
                    times = _entry(entry, hardware)
                    number = int(str(case_id))
                except ValueError as error:
                    faults.add("import.metadata", key[:200], str(error))
                    continue
                for name, one in times.items():
                    found.setdefault(name, {})[str(level), str(operator), number] = one
    return found


def _entry(entry: object, hardware: str) -> dict[str, Times]:
    """Times of one case: a mapping with the known keys, or a baseline alone, as a number or by hardware."""
    if isinstance(entry, Mapping) and any(key in entry for key in (*BASELINE_KEYS, *LIMIT_KEYS)):
        return read_times(_first(entry, BASELINE_KEYS), _first(entry, LIMIT_KEYS), hardware=hardware)
    return read_times(entry, None, hardware=hardware)


def _first(entry: Mapping[object, object], keys: tuple[str, ...]) -> object:
    return next((entry[key] for key in keys if key in entry), None)


def _mapping(value: object, where: str, faults: FaultList) -> Mapping[object, object]:
    if isinstance(value, Mapping):
        return value
    faults.add("import.metadata", where[:200], "must be a mapping")
    return {}


def _by_hardware(value: object, hardware: str) -> dict[str, float]:
    if value is None:
        return {}
    entries = value if isinstance(value, Mapping) else {hardware: value}
    found = {}
    for name, number in entries.items():
        if not HARDWARE.fullmatch(str(name)):
            raise ValueError(f"{name!r:.40} is no name of a hardware")
        if number is not None:
            found[str(name).lower()] = _time(number)
    return found


def _time(value: object) -> float:
    number = read_number(value)
    if not math.isfinite(number) or number <= 0:
        raise ValueError(f"{value!r:.40} is no time in µs; it must be a number above 0")
    return number
