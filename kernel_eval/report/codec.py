"""Frozen dataclasses to plain JSON values and back, driven by their type hints.

JSON has no NaN and no infinity, and PostgreSQL refuses them: a non-finite
float becomes one of the strings `NaN`, `Infinity`, `-Infinity`.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

NON_FINITE = ("NaN", "Infinity", "-Infinity")


class MalformedError(ValueError):
    """A plain value doesn't fit the declared type; the message names the place."""


def to_plain(value: object) -> Any:
    """The value in JSON's own types; dataclasses become objects, tuples arrays, enums strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, float):
        return _plain_float(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(entry) for entry in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a report")


def _plain_float(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def from_plain(kind: Any, plain: Any, where: str = "report") -> Any:
    """A value of type `kind` from `plain`. Raises `MalformedError` where it doesn't fit.

    Keys that a dataclass doesn't declare are ignored, so that newer reports
    stay readable; missing ones need a default.
    """
    origin = get_origin(kind)
    if kind is Any:
        return plain
    if origin in (Union, types.UnionType):
        return _from_union(get_args(kind), plain, where)
    if origin is tuple:
        return _from_array(get_args(kind), plain, where)
    if origin is not None and issubclass(origin, Mapping):
        return _from_object(get_args(kind)[1], plain, where)
    if dataclasses.is_dataclass(kind):
        return _from_fields(kind, plain, where)
    return _from_scalar(kind, plain, where)


def _from_union(options: Sequence[Any], plain: Any, where: str) -> Any:
    if plain is None and type(None) in options:
        return None
    (only,) = [option for option in options if option is not type(None)]
    return from_plain(only, plain, where)


def _from_array(kinds: tuple[Any, ...], plain: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise MalformedError(f"{where}: expected an array, found {type(plain).__name__}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(plain)
    if len(kinds) != len(plain):
        raise MalformedError(f"{where}: expected {len(kinds)} entries, found {len(plain)}")
    return tuple(
        from_plain(kind, entry, f"{where}[{at}]") for at, (kind, entry) in enumerate(zip(kinds, plain, strict=True))
    )


def _from_object(kind: Any, plain: Any, where: str) -> dict[str, Any]:
    if not isinstance(plain, Mapping):
        raise MalformedError(f"{where}: expected an object, found {type(plain).__name__}")
    return {key: from_plain(kind, entry, f"{where}.{key}") for key, entry in plain.items()}


def _from_fields(kind: Any, plain: Any, where: str) -> Any:
    if not isinstance(plain, Mapping):
        raise MalformedError(f"{where}: expected an object, found {type(plain).__name__}")
    hints = get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        if field.name in plain:
            values[field.name] = from_plain(hints[field.name], plain[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise MalformedError(f"{where}: {field.name} is missing")
    return kind(**values)


def _from_scalar(kind: Any, plain: Any, where: str) -> Any:
    if kind is float:
        if plain in NON_FINITE:
            return float(plain)
        if isinstance(plain, (int, float)) and not isinstance(plain, bool):
            return float(plain)
    elif issubclass(kind, StrEnum):
        if plain in list(kind):
            return kind(plain)
    elif type(plain) is kind:
        return plain
    raise MalformedError(f"{where}: expected {kind.__name__}, found {plain!r:.80}")
