"""Writing the public case tables of a suite."""

from __future__ import annotations

import os
from pathlib import Path

from kernel_eval.model import Case, Split
from kernel_eval.suite.cover import covering_cases
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.generate import PUBLIC_COUNT
from kernel_eval.suite.loader import level_folder, read_suite_file
from kernel_eval.suite.proto import read_proto
from kernel_eval.suite.table import format_table


def write_public_tables(bench_data: Path, name: str, count: int = PUBLIC_COUNT) -> tuple[Path, ...]:
    """Generate and write the public tables of suite `name`; the seed is the suite's own.

    Returns the paths written. Raises `SuiteInvalid` before writing anything.
    """
    tables = public_tables(bench_data, name, count)
    for path, cases in tables.items():
        scratch = path.with_suffix(".csv.new")
        scratch.write_text(format_table(cases), encoding="utf-8")
        os.replace(scratch, path)
    return tuple(tables)


def public_tables(bench_data: Path, name: str, count: int = PUBLIC_COUNT) -> dict[Path, tuple[Case, ...]]:
    """The public cases of suite `name` as the generator makes them, by the path of their table."""
    faults = FaultList()
    declared = read_suite_file(bench_data, name, faults)
    found = []
    for level, operator_name in declared.operators:
        folder = bench_data / level_folder(level) / operator_name
        found.append(read_proto(folder, f"{level_folder(level)}/{operator_name}/proto.yaml", faults))
    faults.refuse()
    seed = declared.seed.encode("utf-8")
    return {
        operator.folder / declared.table: covering_cases(operator, space, Split.PUBLIC, count, seed)
        for operator, space in (entry for entry in found if entry is not None)
    }
