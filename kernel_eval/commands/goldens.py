"""`golden package`: a suite's goldens as a submission."""

from __future__ import annotations

from pathlib import Path

import click

from kernel_eval.commands.options import FOLDER, open_suite, suite_options


@click.group("golden")
def golden() -> None:
    """Goldens of a suite."""


@golden.command("package")
@suite_options
@click.option("--out", type=FOLDER, required=True, help="Folder to become the submission: a --source-dir.")
def package_command(suite_name: str, bench_data: Path | None, out: Path) -> None:
    """Build a wheel that registers every golden as torch.ops.cann_bench.<function>, to be judged like a submission."""
    from kernel_eval.golden.package import build_golden_wheel

    click.echo(build_golden_wheel(open_suite(suite_name, bench_data), out))
