"""`hardware probe`: what this machine reaches at its best."""

from __future__ import annotations

from pathlib import Path

import click

from kernel_eval.commands.options import FILE
from kernel_eval.settings import Settings


@click.group("hardware")
def hardware() -> None:
    """Measure the machine."""


@hardware.command("probe")
@click.option("--threads", type=click.IntRange(1), help="Cores a candidate gets. [default: all]")
@click.option("--output", type=FILE, help="Write the peaks here as well, for `--peaks`.")
def probe_command(threads: int | None, output: Path | None) -> None:
    """Probe memory, cache and arithmetic peaks; JSON on standard output."""
    from kernel_eval.device.cpu_probe import probe
    from kernel_eval.hap import peaks_to_json, save_peaks

    peaks = probe(threads or Settings(work_dir=Path("."), cache_dir=Path(".")).threads)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        save_peaks(peaks, output)
    click.echo(peaks_to_json(peaks))
    if not peaks.stable:
        click.echo("kernel-eval: the machine was too busy for a steady probe; run it again when idle", err=True)
