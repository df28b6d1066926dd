"""The JSON schema of a report, derived from the dataclasses it is made of.

`report.schema.json` beside this file is its checked-in output.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from kernel_eval.model import Report
from kernel_eval.report.codec import NON_FINITE
from kernel_eval.report.json import FORMAT
from kernel_eval.report.summary import Summary

SCALARS: Mapping[Any, dict[str, Any]] = types.MappingProxyType(
    {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"anyOf": [{"type": "number"}, {"enum": list(NON_FINITE)}]},
        type(None): {"type": "null"},
        Any: {},
    }
)


def report_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of `report_to_plain`'s value."""
    definitions: dict[str, Any] = {}
    _schema(Report, definitions)
    _schema(Summary, definitions)
    top = definitions.pop("Report")
    top["properties"] = {
        "format": {"const": FORMAT},
        "summary": {"$ref": "#/$defs/Summary"},
        **top["properties"],
    }
    top["required"] = ["format", "summary", *top["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind in SCALARS:
        return dict(SCALARS[kind])
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(argument, definitions) for argument in arguments]}
    if origin is tuple:
        return _array(arguments, definitions)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if dataclasses.is_dataclass(kind):
        return _definition(kind, definitions)
    if issubclass(kind, StrEnum):
        return {"enum": [entry.value for entry in kind]}
    raise TypeError(f"{kind} has no place in a report")


def _array(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    entries = [_schema(argument, definitions) for argument in arguments]
    return {"type": "array", "prefixItems": entries, "minItems": len(entries), "maxItems": len(entries)}


def _definition(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        hints = get_type_hints(kind)
        definitions[kind.__name__] = {}
        properties = {field.name: _schema(hints[field.name], definitions) for field in dataclasses.fields(kind)}
        definitions[kind.__name__] = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
