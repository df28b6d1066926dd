"""How figures, times and sizes are written: never more digits than they deserve, the same everywhere."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

NOTHING: Final = "–"
"""Stands where there is no figure."""
THIN_SPACE: Final = "\u2009"
KIB: Final = 1024


def score(value: float | None) -> str:
    """A score with one decimal."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.1f}"


def hap(value: float | None) -> str:
    """A HAP with two decimals."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.2f}"


def ratio(value: float | None) -> str:
    """A speed-up with three significant figures, such as `1.42×`."""
    return NOTHING if value is None or not math.isfinite(value) else f"{_written(value, _last_figure(value))}×"


def microseconds(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """A time in µs with three significant figures, fewer where the interval allows no more; it stays inside that.

    How many an interval allows is the rule of the Particle Data Group (Review of Particle Physics, section 5.3).
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    finest = _last_figure(value)
    if interval is None or interval[0] >= interval[1]:
        return _written(value, finest)
    place = max(finest, min(_place_allowed((interval[1] - interval[0]) / 2), _exponent(value)))
    while place > finest and not interval[0] <= round(value / 10.0**place) * 10.0**place <= interval[1]:
        place -= 1
    return _written(value, place)


def _place_allowed(half_width: float) -> int:
    """The power of ten of the last figure beside an uncertainty: two of its digits up to 354, one from 355 on."""
    exponent = _exponent(half_width)
    return exponent - 1 if half_width / 10.0**exponent < 3.55 else exponent


def _last_figure(value: float) -> int:
    """The power of ten of the third significant figure."""
    return _exponent(value) - 2


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _written(value: float, place: int) -> str:
    if value == 0:
        return "0"
    rounded = round(value / 10.0**place) * 10.0**place
    return grouped(rounded, max(-place - (_exponent(rounded) > _exponent(value)), 0))


def grouped(value: float, decimals: int = 0) -> str:
    """A number whose thousands are parted by thin spaces."""
    return f"{value:,.{decimals}f}".replace(",", THIN_SPACE)


def scientific(value: float | None) -> str:
    """An error figure, such as `3.1e-04`."""
    return NOTHING if value is None else f"{value:.1e}"


def moment(value: datetime | None) -> str:
    """A time as `2026-11-30 14:05 UTC`; naive times are taken as UTC."""
    return NOTHING if value is None else f"{in_utc(value):%Y-%m-%d %H:%M} UTC"


def day(value: datetime | None) -> str:
    """The UTC date, as `2026-11-30`."""
    return NOTHING if value is None else f"{in_utc(value):%Y-%m-%d}"


def clock(value: datetime | None) -> str:
    """The UTC time of day, as `14:05:09`."""
    return NOTHING if value is None else f"{in_utc(value):%H:%M:%S}"


def in_utc(value: datetime) -> datetime:
    """The same moment in UTC; naive times are taken as UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def duration(seconds: float | None) -> str:
    """A span as its two largest units, such as `3 min 20 s`."""
    if seconds is None:
        return NOTHING
    whole = max(round(seconds), 0)
    for size, name, below, below_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // below
            return f"{whole // size} {name} {rest} {below_name}" if rest else f"{whole // size} {name}"
    return f"{whole} s"


def file_size(size_bytes: int | None) -> str:
    """A size such as `128 KiB`."""
    if size_bytes is None:
        return NOTHING
    size, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if size < KIB:
            break
        size, unit = size / KIB, larger
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def shortened(digest: str | None, length: int = 12) -> str:
    """The head of a digest, enough to tell two apart by eye."""
    return NOTHING if not digest else digest.removeprefix("sha256:")[:length]
