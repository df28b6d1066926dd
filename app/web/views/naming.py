"""How an entry and a case are called on the pages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.entries.schemas import EntryView


def entry_name(entry: EntryView) -> str:
    """What an entry is known by: its agent, else its own name."""
    return entry.agent or entry.name


def entry_made(entry: EntryView) -> str:
    """Model, harness and user, in small beside the name."""
    parts = [entry.model, entry.harness, entry.user]
    return " · ".join(part for part in parts if part and part != entry_name(entry))


def shape_words(shape: Any) -> str:
    """A shape as `4096×1024`; `scalar` for 0-dim, `–` for an omitted input, a list as `3 × [ … ]`."""
    if shape is None:
        return "–"
    if shape and isinstance(shape[0], list | tuple):
        first = shape_words(shape[0])
        return f"{len(shape)} × [{first}{' …' if len(shape) > 1 else ''}]"
    return "×".join(str(size) for size in shape) if shape else "0-dim"


def shape_elements(shape: Any) -> int:
    """Elements of one input, or of a list of them."""
    if shape is None:
        return 0
    if shape and isinstance(shape[0], list | tuple):
        return sum(math.prod(part) for part in shape)
    return math.prod(shape)


def case_inputs(spec: Mapping[str, Any]) -> str:
    """All inputs of a case: shape and dtype each, equal neighbours written once."""
    pairs = zip(spec.get("shapes", ()), spec.get("dtypes", ()), strict=False)
    written = [f"{shape_words(shape)} {dtype}" for shape, dtype in pairs]
    unlike = [text for index, text in enumerate(written) if index == 0 or text != written[index - 1]]
    return ", ".join(unlike)


def case_label(case_id: int, spec: Mapping[str, Any] | None) -> str:
    """A case in one short line: its number, first input's shape and dtype."""
    if not spec or not spec.get("shapes"):
        return f"#{case_id}"
    return f"#{case_id}  {shape_words(spec['shapes'][0])}  {spec['dtypes'][0]}"


def case_elements(spec: Mapping[str, Any] | None) -> int:
    """Elements over all inputs of a case."""
    return sum(shape_elements(shape) for shape in (spec or {}).get("shapes", ()))


def attribute_words(attributes: Mapping[str, Any]) -> str:
    """Attributes as `alpha=0.5, mode="none"`."""
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in attributes.items())


def range_words(ranges: Sequence[Mapping[str, Any]]) -> str:
    """Value ranges as `−1 … 1`, or the kind's name where it is no plain range; equal ones once."""
    written = [_range(entry) for entry in ranges]
    return ", ".join(dict.fromkeys(written))


def _range(entry: Mapping[str, Any]) -> str:
    kind = str(entry.get("kind", "uniform"))
    bounds = f"{entry.get('low', 0):g} … {entry.get('high', 0):g}".replace("-", "−")
    return bounds if kind == "uniform" else kind if kind in ("zero", "boundary") else f"{kind}, {bounds}"
