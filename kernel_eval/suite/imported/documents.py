"""Foreign YAML, CSV and JSON as plain values. Aliases and deep nesting are refused before anything is built of them."""

from __future__ import annotations

import csv
import io
import json

import yaml

from kernel_eval.suite.faults import FaultList

DEEPEST = 40
MOST_EVENTS = 2_000_000


class _Refused(ValueError):
    """The document is of a form that is not understood."""


def read_yaml(text: str, where: str, faults: FaultList) -> object:
    """The document, or None and a fault."""
    try:
        return _yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        faults.add("import.yaml", where, f"not readable as YAML: {said}")
        return None


def read_json(text: str, where: str, faults: FaultList) -> object:
    """The document, or None and a fault."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        faults.add("import.json", where, f"not readable as JSON: {error}")
        return None
    return found


def read_csv(text: str, where: str, faults: FaultList) -> list[dict[str, object]]:
    """The rows; a cell that is a value in YAML (or JSON) becomes that value, an empty one is left out."""
    rows = []
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                faults.add("import.csv", f"{where}:{reader.line_num}", "must have as many cells as the first line")
                continue
            rows.append({key: _cell(cell) for key, cell in row.items() if cell.strip()})
    except csv.Error as error:
        faults.add("import.csv", f"{where}:{reader.line_num}", f"not readable as CSV: {error}")
    return rows


def _cell(text: str) -> object:
    """Notes may hold anything, so a cell that is no YAML is text."""
    try:
        return _yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError):
        return text


def _yaml(text: str) -> object:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=loader)):
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(f"it uses the alias *{event.anchor}; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST or count > MOST_EVENTS:
            raise _Refused("it is nested too deeply or too long")
    found: object = yaml.load(text, Loader=loader)
    return found
