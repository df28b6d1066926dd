"""The foreign goldens of a suite as a package that runs in a box. Their files are copied as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernel_eval.cases.operator_source import golden_source
from kernel_eval.golden import foreign_inside
from kernel_eval.golden.baseline import OWN_FUNCTIONS, PACKAGE
from kernel_eval.model import Operator

_HEAD = '''"""Untrusted goldens and what calls them."""

from {package} import _foreign_inside

ENTRIES = {entries}
'''
_FINDER = """

def __getattr__(name):
    return _foreign_inside.find("{package}", ENTRIES, name)
"""

_SUBMISSION = """
SCHEMAS = {functions}
LIBRARY = _foreign_inside.register("{package}", ENTRIES, SCHEMAS)


def __getattr__(name):
    mode = "exact" + _foreign_inside.SEPARATOR if name in SCHEMAS else ""
    return _foreign_inside.find("{package}", ENTRIES, mode + name)
"""


def write_foreign_package(operators: Sequence[Operator], target: Path) -> None:
    """Write the package `cann_bench` into the folder `target`.

    It has `<function>`, the golden in native precision, and `<mode>__of__<function>` for each mode of
    `foreign_inside`. Raises `GoldenFault` where a golden's file cannot be read.
    """
    for path, text in foreign_package(operators).items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")


def foreign_package(operators: Sequence[Operator]) -> dict[str, str]:
    """The package's files by their paths."""
    entries = {operator.function: _entry(operator) for operator in operators}
    inside = Path(foreign_inside.__file__).read_text(encoding="utf-8")
    files = {
        f"{PACKAGE}/__init__.py": _head(entries) + OWN_FUNCTIONS + _FINDER.format(package=PACKAGE),
        f"{PACKAGE}/_foreign_inside.py": inside,
    }
    return files | {f"{PACKAGE}/{_file(operator)}.py": golden_source(operator) for operator in operators}


def foreign_submission(operators: Sequence[Operator], schemas: Mapping[str, str]) -> dict[str, str]:
    """The same as a submission: `<function>` has the values of the FP64 run in the dtypes of the native one.

    What torch can register by its schema lies under `torch.ops.cann_bench`, all else in the package.
    """
    files = foreign_package(operators)
    functions = {op.function: schemas[op.function] for op in operators if op.foreign and not op.foreign.module}
    head = _head({operator.function: _entry(operator) for operator in operators})
    files[f"{PACKAGE}/__init__.py"] = head + _SUBMISSION.format(package=PACKAGE, functions=repr(functions))
    return files


def _head(entries: Mapping[str, Any]) -> str:
    return _HEAD.format(package=PACKAGE, entries=repr(entries))


def _entry(operator: Operator) -> dict[str, Any]:
    foreign = operator.foreign
    assert foreign is not None, f"{operator.name} is no imported operator"
    inputs, attributes = [spec.name for spec in operator.inputs], [spec.name for spec in operator.attributes]
    return {
        "file": _file(operator),
        "golden": foreign.golden,
        "oracle": foreign.oracle,
        "bench": foreign.bench,
        "module": foreign.module,
        "init": foreign.init,
        "seed": foreign.seed,
        "inputs": inputs,
        "attributes": attributes,
        "arguments": [*inputs, *attributes],
        "outputs": [spec.name for spec in operator.outputs],
        "lists": [spec.tensor_list for spec in operator.outputs],
    }


def _file(operator: Operator) -> str:
    return f"golden_of_{operator.name}"
