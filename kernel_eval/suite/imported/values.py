"""Dtypes, value ranges and attributes of foreign cases as the judge's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kernel_eval.model import ITEM_BYTES, Attribute, RangeKind, ValueRange
from kernel_eval.suite.imported.schema import Part

ALIASES = {
    "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32",
    "fp64": "float64", "double": "float64", "short": "int16", "int": "int32", "long": "int64",
}  # fmt: skip
FLOATS = ValueRange(RangeKind.UNIFORM, 0, 1)
INTEGERS = ValueRange(RangeKind.UNIFORM, 0, 100)
SPECIAL = (-1.0, 1.0)
"""From where the finite values beside NaN and infinities are drawn."""
LARGEST = 3.4028234663852886e38
"""Values are drawn in float32, whose largest this is."""


def read_dtype(value: object) -> str:
    """The judge's name of a dtype. Raises `ValueError` for one that it does not know."""
    name = str(value).strip().removeprefix("torch.").lower()
    name = ALIASES.get(name, name)
    if not isinstance(value, str) or name not in ITEM_BYTES:
        raise ValueError(f"unknown dtype {value!r:.40}; known: {', '.join(ITEM_BYTES)}")
    return name


def read_number(value: object) -> float:
    """A number, or a text that says one, such as `1e-6`, `inf` or `nan`. Raises `ValueError`."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r:.40} is no number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{value!r:.40} is no number") from None


def default_range(dtype: str) -> ValueRange:
    """What an input without a range is drawn from."""
    return FLOATS if "float" in dtype else INTEGERS


def spread_ranges(value: object, count: int) -> list[object]:
    """One entry per input: a pair of numbers stands for all, a list of pairs is padded with its last."""
    if value is None:
        return [None] * count
    if not isinstance(value, list) or not value:
        return [value] * count
    if len(value) <= 2 and not any(isinstance(entry, list) or entry is None for entry in value):
        return [value] * count
    if len(value) > count:
        raise ValueError(f"has {len(value)} entries for {count} inputs")
    return [*value, *[value[-1]] * (count - len(value))]


def read_range(value: object, dtype: str) -> ValueRange:
    """One input's range. Raises `ValueError` with what is wrong."""
    if value is None:
        return default_range(dtype)
    while isinstance(value, list) and value and (len(value) == 1 or _same_lists(value)):
        value = value[0]
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2:
        raise ValueError(f"{value!r:.60} is no range; write [low, high]")
    low, high = (read_number(end) for end in ends)
    if math.isnan(low) != math.isnan(high):
        raise ValueError(f"{value!r:.60} is NaN at one end only; write both ends as nan, or none")
    if math.isnan(low):
        return ValueRange(RangeKind.NAN, *SPECIAL)
    if low == -math.inf or high == math.inf:
        return ValueRange(RangeKind.INF, *SPECIAL)
    if low > high:
        raise ValueError(f"{value!r:.60} begins above its end; swap them")
    return ValueRange(RangeKind.UNIFORM, max(low, -LARGEST), min(high, LARGEST))


def _same_lists(value: list[object]) -> bool:
    """One range for each tensor of a list, all of them the same."""
    return all(isinstance(entry, list) and entry == value[0] for entry in value)


def read_attribute(value: object, part: Part) -> Attribute:
    """One attribute as the schema's type has it. Raises `ValueError`."""
    if value is None or (part.optional and value == "None"):
        if part.optional:
            return None
        raise ValueError(f"is empty, but the schema says {part.attribute_type}")
    if part.is_list:
        if not isinstance(value, list) or len(value) > 64:
            raise ValueError(f"{value!r:.40} is no {part.attribute_type}")
        return tuple(_scalar(entry, part) for entry in value)
    return _scalar(value, part)


def _scalar(value: object, part: Part) -> int | float | str | bool:
    if part.type == "float":
        return read_number(value)
    if part.type == "bool" and isinstance(value, bool):
        return value
    if part.type == "str" and isinstance(value, str):
        return value
    if part.type == "int" and not isinstance(value, bool):
        number = read_number(value)
        if isinstance(value, int) and abs(value) < 1 << 63:
            return value
        if number.is_integer() and abs(number) < 1 << 53:
            return int(number)
    raise ValueError(f"{value!r:.40} is no {part.attribute_type}")


def default_of(part: Part) -> Attribute:
    """The default that the schema's text gives. Raises `ValueError` where it is none of the type."""
    text = (part.default or "").strip()
    if text in ("None", "null", "none") and part.optional:
        return None
    if part.is_list:
        words = [word.strip() for word in text.strip("[]()").split(",")]
        return tuple(_scalar(_literal(word, part.type), part) for word in words if word)
    return _scalar(_literal(text, part.type), part)


def _literal(text: str, kind: str) -> object:
    if kind == "bool":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind == "str":
        return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text
    return text


def spread_dtypes(value: object, count: int) -> list[object]:
    """One entry per input: a single name stands for all, a short list is padded with its last."""
    entries: Sequence[object] = value if isinstance(value, list) else [value]
    if not entries or len(entries) > count:
        raise ValueError(f"has {len(entries)} entries for {count} inputs")
    return [*entries, *[entries[-1]] * (count - len(entries))]
