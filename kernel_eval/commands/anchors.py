"""`baseline record`: measure a suite's baselines here and keep them with their limits."""

from __future__ import annotations

import tempfile
from pathlib import Path

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
from kernel_eval.settings import Settings


@click.group("baseline")
def baseline() -> None:
    """Baselines of this machine."""


@baseline.command("record")
@suite_options
@selection_options
@click.option("--output", type=FILE, required=True, help="Where the anchors go, as JSON.")
@click.option("--version", "version", required=True, help="Name of this version of the anchors, such as cpu-2026-1.")
@click.option("--repeat", type=click.IntRange(1, 7), default=5, show_default=True, help="Processes per case.")
@click.option("--peaks", "peaks_file", type=FILE, help="Probed peaks of this machine. [default: probed once, kept]")
@click.option("--cache-dir", type=FOLDER, help="Folder of cached goldens and peaks. [default: the user's]")
def record_command(
    suite_name: str,
    bench_data: Path | None,
    levels: tuple[str, ...],
    operators: tuple[str, ...],
    case_ids: tuple[int, ...],
    output: Path,
    version: str,
    repeat: int,
    peaks_file: Path | None,
    cache_dir: Path | None,
) -> None:
    """Measure the baseline of every case and write it with its limit as a version of anchors."""
    from kernel_eval.evaluation.recording import record_anchors
    from kernel_eval.suite.anchors import save_anchors

    suite = select(open_suite(suite_name, bench_data), levels, operators, case_ids)
    kept = cache_dir or default_cache_dir()
    with tempfile.TemporaryDirectory(prefix="kernel-eval-") as work:
        settings = Settings(work_dir=Path(work), cache_dir=kept, repeat=repeat)
        peaks = peaks_for(settings.threads, kept, peaks_file)
        anchors = record_anchors(suite, settings, peaks, version, lambda line: click.echo(line, err=True))
    output.parent.mkdir(parents=True, exist_ok=True)
    save_anchors(anchors, output)
    click.echo(f"{len(anchors.anchors)} anchors written to {output}")
