"""`hap`: what the hardware allows for every case of a suite."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kernel_eval.commands.options import (
    FILE,
    FOLDER,
    default_cache_dir,
    open_suite,
    select,
    selection_options,
    suite_options,
)
from kernel_eval.commands.peaks import peaks_for
from kernel_eval.errors import UsageError
from kernel_eval.hap import cpu_limit, npu_limit
from kernel_eval.model import Case, Limit, Suite
from kernel_eval.timing.plan import plan_of


@click.command("hap")
@suite_options
@selection_options
@click.option("--hardware", default="cpu", show_default=True, help="cpu, or a chip with a table such as 910b2.")
@click.option("--preset", default="compat", show_default=True, help="Rates of an NPU: compat or spec.")
@click.option("--peaks", "peaks_file", type=FILE, help="Probed peaks of a host. [default: probed once, kept]")
@click.option("--cache-dir", type=FOLDER, help="Folder of kept peaks. [default: the user's]")
def limits_command(
    suite_name: str,
    bench_data: Path | None,
    levels: tuple[str, ...],
    operators: tuple[str, ...],
    case_ids: tuple[int, ...],
    hardware: str,
    preset: str,
    peaks_file: Path | None,
    cache_dir: Path | None,
) -> None:
    """Limits of a suite's cases on some hardware, as JSON with one row per case."""
    suite = select(open_suite(suite_name, bench_data), levels, operators, case_ids)
    if hardware == "cpu":
        limit_of = _on_this_host(suite, peaks_file, cache_dir or default_cache_dir())
    else:
        limit_of = _on_npu(hardware, preset)
    click.echo(json.dumps([_row(case, limit_of(case)) for case in suite.cases], indent=1))


def _on_npu(hardware: str, preset: str) -> Callable[[Case], Limit]:
    return lambda case: npu_limit(case, hardware, preset)


def _on_this_host(suite: Suite, peaks_file: Path | None, cache_dir: Path) -> Callable[[Case], Limit]:
    """A host's limit depends on the pool that the case would be timed over."""
    peaks = peaks_for(len(os.sched_getaffinity(0)), cache_dir, peaks_file)

    def limit_of(case: Case) -> Limit:
        operator = suite.operator(case.operator)
        if operator.foreign is not None:
            raise UsageError(f"--suite {suite.name}: nobody knows what its operators cost, so this host has no limit")
        return cpu_limit(operator, case, peaks, plan_of(operator, case, peaks).pool_bytes)

    return limit_of


def _row(case: Case, limit: Limit) -> dict[str, Any]:
    return {
        "operator": case.operator,
        "split": str(case.split),
        "case_id": case.case_id,
        "limit_us": limit.limit_us,
        "label": str(limit.bottleneck),
        "preset": limit.preset,
        "model_version": limit.model_version,
        "units": dict(limit.units_us),
    }
