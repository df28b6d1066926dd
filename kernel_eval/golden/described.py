"""Asks the problems of a module suite, in a box, what their inputs, arguments and outputs are."""

from __future__ import annotations

import time
from pathlib import Path

from kernel_eval.cases.operator_source import FOREIGN_NAME
from kernel_eval.errors import GoldenFault
from kernel_eval.golden.boxed import GoldenBox
from kernel_eval.settings import Settings
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.gathered import Gathered
from kernel_eval.suite.imported.modules import ModuleTree, gather_modules, read_modules, stub_case, stub_operator

MEMORY_INPUT_BYTES = 256 << 20
"""How large the inputs of a problem may be without its memory limit being felt."""
MOST_HUNG = 3


def import_modules(root: Path, settings: Settings) -> Gathered:
    """The task set in `root`, each of whose files runs once in a box to describe itself.

    Raises `SuiteInvalid` with the faults of all files, `SandboxIncomplete` where there is no box to run them in.
    """
    tree, faults = read_modules(root), FaultList()
    return gather_modules(tree, _descriptions(tree, settings, faults), faults)


def _descriptions(tree: ModuleTree, settings: Settings, faults: FaultList) -> dict[str, bytes]:
    operators = []
    for file in tree.files:
        folder = settings.work_dir / "modules" / file.name
        folder.mkdir(parents=True)
        (folder / FOREIGN_NAME).write_text(file.source, encoding="utf-8")
        operators.append(stub_operator(file, folder))
    found, hung = {}, 0
    with GoldenBox(operators, settings, MEMORY_INPUT_BYTES) as box:
        for file, operator in zip(tree.files, operators, strict=True):
            started = time.monotonic()
            try:
                found[file.name] = box.description(operator, stub_case(file)).rstrip(b" \0")
            except GoldenFault as fault:
                said = str(fault).removeprefix(f"{stub_case(file).key}: ")
                faults.add("import.description", file.where, f"{said}; repair it or take the file away")
                hung += time.monotonic() - started >= settings.op_timeout_s
            if hung == MOST_HUNG:
                said = f"{MOST_HUNG} files did not end in time, so those behind it were not looked at"
                faults.add("import.description", file.where, said)
                break
    return found
