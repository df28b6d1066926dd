"""How goldens are called as torch operators. A copy lies in every package of goldens; it needs torch alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from kernel_eval.check.rounding import cast_once

NAMESPACE = "cann_bench"
LIST_END = "[]"


def register(library: torch.library.Library, schema: str, function: Callable[..., Any]) -> None:
    """Register `function`, called with all arguments by name, as `torch.ops.cann_bench.<name in the schema>`."""
    arguments = torch._C.parse_schema(f"{NAMESPACE}::{schema}").arguments
    names = [argument.name for argument in arguments]
    defaults = {argument.name: argument.default_value for argument in arguments if argument.has_default_value()}

    def kernel(*given: Any, **named: Any) -> Any:
        placed = zip(names, given, strict=False)  # defaults that were not given are missing at the end
        with torch.no_grad():
            return function(**{**defaults, **dict(placed), **named})

    library.define(schema)  # type: ignore[no-untyped-call]
    library.impl(schema.partition("(")[0], kernel, "CPU")  # type: ignore[no-untyped-call]


def declared(golden: Callable[..., Any], outputs: Sequence[str]) -> Callable[..., Any]:
    """The golden in FP64, its outputs rounded once to the declared dtypes.

    `outputs` has one entry per output: a dtype or `same as <input>`, ending in `[]` for a list of tensors.
    """

    def call(**given: Any) -> Any:
        found = golden(**{name: raised(value) for name, value in given.items()})
        if len(outputs) == 1:
            found = (found[0] if isinstance(found, tuple) else found,)
        results = tuple(_rounded(value, _dtype(rule, given)) for value, rule in zip(found, outputs, strict=True))
        return results[0] if len(results) == 1 else results

    return call


def raised(value: Any) -> Any:
    """Floating tensors in FP64, in lists as well; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype.is_floating_point else value
    if isinstance(value, list | tuple):
        return [raised(entry) for entry in value]
    return value


def _dtype(rule: str, given: Mapping[str, Any]) -> torch.dtype:
    name = rule.removesuffix(LIST_END)
    if not name.startswith("same as "):
        found: torch.dtype = getattr(torch, name)
        return found
    value = given[name.removeprefix("same as ")]
    first: torch.Tensor = value[0] if isinstance(value, list | tuple) else value
    return first.dtype


def _rounded(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return [_rounded(entry, dtype) for entry in value]
    return (cast_once(value.double(), dtype) if dtype.is_floating_point else value.to(dtype)).contiguous()
