"""What was read of a foreign folder, ready to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kernel_eval.model import Case, Operator
from kernel_eval.suite.imported.anchors import Times


class Format(StrEnum):
    """Whose task sets are understood."""

    TASK_TREE = "task-tree"
    """`level*/<operator>/{proto.yaml, cases.yaml or cases.csv, golden.py, desc.md}` and `metadata/<hardware>.json`."""
    MODULES = "modules"
    """Python files with a class `Model`, `get_inputs` and `get_init_inputs` (KernelBench)."""


@dataclass(frozen=True)
class Gathered:
    """Operators and cases, with the files that go with them.

    `files` maps paths in the kept suite to contents; `times` maps hardware to `Case.key` to times. `notes` say what
    was left out.
    """

    format: Format
    operators: tuple[Operator, ...]
    cases: tuple[Case, ...]
    files: Mapping[str, bytes]
    times: Mapping[str, Mapping[str, Times]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def folder_of(operator: Operator) -> str:
    """Where an operator's files lie in a kept suite."""
    return f"level{operator.level[1:]}/{operator.name}"
