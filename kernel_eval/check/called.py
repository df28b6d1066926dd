"""What the operator was called with, for comparators that need more than golden and output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kernel_eval.cases.attributes import call_attributes
from kernel_eval.cases.constraints import named_inputs
from kernel_eval.cases.operator_source import operator_function
from kernel_eval.errors import GoldenFault
from kernel_eval.model import Attribute, Case, Operator


@dataclass(frozen=True)
class Called:
    """Inputs by name, made when they are asked for; attributes; the folder whose golden may be asked further."""

    inputs: Callable[[], Mapping[str, Any]]
    attributes: Mapping[str, Attribute]
    folder: Path

    def tensor(self, name: str, index: int = 0) -> torch.Tensor:
        """An input tensor, of a list the one at `index`. Raises `GoldenFault` for one that is omitted."""
        value = self.inputs()[name]
        if value is None:
            raise GoldenFault(f"{self.folder.name}: an output depends on the input {name}, which the case omits")
        tensor: torch.Tensor = value[index] if isinstance(value, list) else value
        return tensor

    def axis(self, axis: int | str) -> int:
        """The axis itself, or what the attribute of that name says. Raises `GoldenFault` where that is no int."""
        value = self.attributes.get(axis) if isinstance(axis, str) else axis
        if type(value) is not int:
            raise GoldenFault(f"{self.folder.name}: the attribute {axis} names no axis, it is {value!r}")
        return value

    def ask(self, function_name: str, *, raised: bool) -> torch.Tensor:
        """What a function of the golden's file says of this call; `raised`: it gets its floats in FP64.

        Raises `GoldenFault` where there is no such function, where it raises or returns no tensor.
        """
        function = operator_function(self.folder, function_name)
        if function is None:
            raise GoldenFault(f"{self.folder.name}: golden.py has no function {function_name}")
        inputs = {name: _raised(value) if raised else value for name, value in self.inputs().items()}
        try:
            with torch.no_grad():
                found = function(**inputs, **self.attributes)
        except Exception as error:
            raise GoldenFault(f"{self.folder.name}: {function_name} raised {type(error).__name__}: {error}") from error
        if not isinstance(found, torch.Tensor):
            raise GoldenFault(f"{self.folder.name}: {function_name} returned {type(found).__name__}, no tensor")
        return found


def called_with(operator: Operator, case: Case, tensors: Callable[[], Sequence[torch.Tensor]]) -> Called:
    """The call of a case whose flat inputs `tensors` gives."""
    return Called(lambda: named_inputs(operator, case, tensors()), call_attributes(operator, case), operator.folder)


def _raised(value: Any) -> Any:
    if isinstance(value, list):
        return [_raised(entry) for entry in value]
    return value.double() if isinstance(value, torch.Tensor) and value.dtype.is_floating_point else value
