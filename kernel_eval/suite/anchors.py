"""Anchor sets as JSON files."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kernel_eval.errors import UsageError
from kernel_eval.model import UNITS, Anchor, AnchorSet, Bottleneck, Limit, Provenance, Split

FORMAT = 1


def save_anchors(anchors: AnchorSet, path: Path) -> None:
    """Write an anchor set; an existing file is replaced at once or not at all.

    Anchors of hidden cases reveal sizes: whoever saves them decides where.
    """
    data = {"format": FORMAT, **asdict(anchors)}
    scratch = path.with_name(f".{path.name}.new")
    scratch.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(scratch, path)


def load_anchors(path: Path) -> AnchorSet:
    """Read an anchor set; raises `UsageError` naming file and entry where it cannot be used."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as anchors: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"{path} is no anchors file of format {FORMAT}")
    where = "the head"
    try:
        anchors = {}
        for where, entry in data["anchors"].items():
            anchors[where] = _anchor(entry)
        where = "the head"
        return AnchorSet(
            version=str(data["version"]),
            hardware=str(data["hardware"]),
            suite_digest=str(data["suite_digest"]),
            recorded_at=str(data["recorded_at"]),
            environment={str(key): str(value) for key, value in data["environment"].items()},
            anchors=anchors,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}, {where}: {type(error).__name__}: {error}") from error


def _anchor(entry: dict[str, Any]) -> Anchor:
    limit = entry["limit"]
    return Anchor(
        operator=str(entry["operator"]),
        split=Split(entry["split"]),
        case_id=int(entry["case_id"]),
        baseline_us=_positive(entry["baseline_us"]),
        limit=Limit(
            limit_us=_positive(limit["limit_us"]),
            units_us={unit: float(limit["units_us"][unit]) for unit in UNITS if unit in limit["units_us"]},
            bottleneck=Bottleneck(limit["bottleneck"]),
            preset=str(limit["preset"]),
            model_version=str(limit["model_version"]),
        ),
        provenance=Provenance(entry["provenance"]),
    )


def _positive(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{value!r} is no time in µs")
    return number
