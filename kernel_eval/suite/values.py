"""Value ranges and attributes as they are written in case tables."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kernel_eval.model import Attribute, RangeKind, ValueRange

_BARE = (RangeKind.BOUNDARY, RangeKind.ZERO)


def parse_range(text: str) -> ValueRange:
    """A range from `uniform -1 1`, `inf -1 1`, `nan -1 1`, `boundary` or `zero`.

    Raises `ValueError` with what is wrong.
    """
    kind_text, *bounds = text.split()
    try:
        kind = RangeKind(kind_text)
    except ValueError:
        raise ValueError(f"unknown range kind {kind_text!r}; use one of {', '.join(RangeKind)}") from None
    if kind in _BARE:
        if bounds:
            raise ValueError(f"{kind_text} takes no bounds")
        return ValueRange(kind)
    if len(bounds) != 2:
        raise ValueError(f"{kind_text} needs a low and a high bound")
    low, high = (_finite(bound) for bound in bounds)
    if low > high:
        raise ValueError(f"the low bound {low:g} is above the high bound {high:g}")
    return ValueRange(kind, low, high)


def format_range(value_range: ValueRange) -> str:
    """The inverse of `parse_range`."""
    if value_range.kind in _BARE:
        return str(value_range.kind)
    return f"{value_range.kind} {_number(value_range.low)} {_number(value_range.high)}"


def plain_attributes(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Attributes as strict JSON can hold them: non-finite floats become `inf`, `-inf`, `nan`."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in attributes.items()
    }


def read_attribute(value: object, type_name: str) -> Attribute:
    """One attribute of a case table as a value of the declared type.

    Raises `ValueError` where it is none.
    """
    if type_name == "float" and isinstance(value, int | float | str) and not isinstance(value, bool):
        if isinstance(value, str) and value not in ("inf", "-inf", "nan"):
            raise ValueError(f"{value!r} is no float; write a number, or one of inf, -inf, nan in quotes")
        return float(value)
    if type_name == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if type_name == "bool" and isinstance(value, bool):
        return value
    if type_name == "str" and isinstance(value, str):
        return value
    raise ValueError(f"{value!r} is no {type_name}")


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not math.isfinite(value):
        raise ValueError("bounds must be finite; the kinds inf and nan add special values to a finite range")
    return value


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
