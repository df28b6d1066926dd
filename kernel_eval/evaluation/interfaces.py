"""Which of a package's interfaces stands for which operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernel_eval.model import Interface, InterfacesFound, Operator, spellings
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.interfaces import list_interfaces

MOST_NAMED = 12
MODULE = "ModelNew"


@dataclass(frozen=True)
class Matching:
    """`functions` maps an operator's name to the name under which the package has it.

    `fault` is set where the package could not be asked: every operator is then looked for by its schema's name.
    """

    interfaces: tuple[Interface, ...]
    functions: Mapping[str, str]
    missing: tuple[str, ...]
    fault: str = ""

    @property
    def event(self) -> InterfacesFound:
        """The same as it is told."""
        return InterfacesFound(self.interfaces, self.missing, len(self.functions) + len(self.missing), self.fault)


def find_interfaces(box: RunBox, operators: Sequence[Operator]) -> Matching:
    """Ask the package in the box, and match what it says."""
    wanted = tuple(dict.fromkeys(name for operator in operators for name in names_of(operator, len(operators) == 1)))
    found = list_interfaces(box, wanted)
    if isinstance(found, tuple):
        return match_interfaces(operators, found)
    functions = {operator.name: operator.function for operator in operators}
    return Matching((), functions, (), f"{found.status}: {found.detail}".removesuffix(": "))


def names_of(operator: Operator, alone: bool) -> tuple[str, ...]:
    """The names by which a package may have it; the only problem of a module suite may be called `ModelNew`."""
    module = operator.foreign is not None and operator.foreign.module
    return (*spellings(operator), MODULE) if module and alone else spellings(operator)


def match_interfaces(operators: Sequence[Operator], interfaces: tuple[Interface, ...]) -> Matching:
    """Match by the schema's function name, then by the known spellings."""
    names = {interface.name for interface in interfaces}
    functions: dict[str, str] = {}
    for operator in operators:
        found = next((name for name in names_of(operator, len(operators) == 1) if name in names), None)
        if found is not None:
            functions[operator.name] = found
    missing = tuple(operator.name for operator in operators if operator.name not in functions)
    return Matching(interfaces, functions, missing)


def missing_message(operator: Operator, matching: Matching) -> str:
    """Why an operator without an interface cannot be judged, and what the package has instead."""
    name = operator.function
    names = list(dict.fromkeys(interface.name for interface in matching.interfaces))
    shown = ", ".join(names[:MOST_NAMED]) + (" …" if len(names) > MOST_NAMED else "")
    return f"neither torch.ops.cann_bench.{name} nor cann_bench.{name} exists; the package has {shown or 'nothing'}"
