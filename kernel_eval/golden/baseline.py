"""The baseline as a package that runs in a box like any candidate."""

from __future__ import annotations

import compileall
from collections.abc import Sequence
from pathlib import Path

from kernel_eval.cases.operator_source import operator_function, operator_source
from kernel_eval.errors import GoldenFault
from kernel_eval.model import Operator

PACKAGE = "cann_bench"

OWN_FUNCTIONS = '''

def empty(*arguments, **attributes):
    """Take anything, do nothing, return no output."""
    return ()


def control(x):
    """Fixed work, mostly of the processor, by which a host's steadiness is told."""
    return x.tanh()
'''
"""What every package of baselines has besides its operators."""
_HEADER = '''"""PyTorch's own operators under the names of the suite; `empty` and `control` serve the clock."""

'''


def write_baseline_package(operators: Sequence[Operator], target: Path) -> None:
    """Write the package `cann_bench` into the folder `target`.

    It exports one function per operator, under the schema's function name, and
    `empty` and `control`. It needs torch and nothing of the judge. Raises `GoldenFault` where
    an operator has no baseline.
    """
    package = target / PACKAGE
    package.mkdir(parents=True, exist_ok=True)
    exports = []
    for operator in operators:
        if operator_function(operator.folder, "baseline") is None:
            raise GoldenFault(f"{operator.name}: golden.py has no function baseline")
        (package / f"_{operator.name}.py").write_text(operator_source(operator.folder), encoding="utf-8")
        exports.append(f"from {PACKAGE}._{operator.name} import baseline as {operator.function}\n")
    (package / "__init__.py").write_text(_HEADER + "".join(sorted(exports)) + OWN_FUNCTIONS, encoding="utf-8")
    compileall.compile_dir(package, quiet=2)  # each process imports it anew
