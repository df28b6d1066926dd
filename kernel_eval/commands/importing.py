"""`suite import`: another benchmark's task set as a suite of this one."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernel_eval.commands.options import FOLDER, default_cache_dir
from kernel_eval.errors import UsageError
from kernel_eval.suite import default_bench_data

if TYPE_CHECKING:
    from kernel_eval.suite.imported.gathered import Gathered

FORMATS = ("task-tree", "modules")
MOST_NOTES = 20
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


@click.command("import")
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="What the suite is called here.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Whose format it is. [default: recognised]")
@click.option("--version", "version", default="1.0.0", show_default=True, help="Version of the suite.")
@click.option("--ignore-unknown-keys", is_flag=True, help="Leave out keys that are not understood, with a note each.")
@click.option("--replace", is_flag=True, help="Take the place of a suite that was imported by this name.")
@click.option("--bench-data", type=FOLDER, help="Folder of the task set. [default: of this checkout]")
def import_command(
    folder: Path,
    name: str,
    form: str | None,
    version: str,
    ignore_unknown_keys: bool,
    replace: bool,
    bench_data: Path | None,
) -> None:
    """Import the task set in FOLDER; nothing of it is executed outside a sandbox, and all its faults are named at once.

    Understood are task trees (level*/OPERATOR/proto.yaml, cases.yaml or cases.csv, golden.py, desc.md, with
    metadata/HARDWARE.json) and KernelBench-style modules (Python files with Model, get_inputs, get_init_inputs).
    """
    from kernel_eval.suite.faults import printable
    from kernel_eval.suite.imported.store import keep, refuse_name

    if not VERSION.fullmatch(version):
        raise UsageError(f"--version {version!r:.80}: use letters, digits, '.', '_', '+' and '-', at most 40")
    home = bench_data or default_bench_data()
    refuse_name(home, name, replace=replace)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    gathered = _gather(folder, form, strict=not ignore_unknown_keys)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    suite = keep(gathered, home, name, version, now, replace=replace)
    for note in gathered.notes[:MOST_NOTES]:
        click.echo(f"kernel-eval: note: {printable(note)}", err=True)
    if len(gathered.notes) > MOST_NOTES:
        click.echo(f"kernel-eval: note: and {len(gathered.notes) - MOST_NOTES} more", err=True)
    times = ", ".join(f"{hardware} ({len(found)})" for hardware, found in sorted(gathered.times.items()))
    click.echo(f"{suite.name} {suite.version}: {len(suite.operators)} operators, {len(suite.cases)} cases")
    click.echo(f"  digest   {suite.digest}\n  anchors  {times or 'none'}")


def _gather(folder: Path, form: str | None, *, strict: bool) -> Gathered:
    from kernel_eval.suite.imported.task_tree import gather_task_tree, looks_like_task_tree

    if form == "task-tree" or (form is None and looks_like_task_tree(folder)):
        return gather_task_tree(folder, strict=strict)
    from kernel_eval.golden.described import import_modules
    from kernel_eval.settings import Settings

    with tempfile.TemporaryDirectory(prefix="kernel-eval-") as work:
        return import_modules(folder, Settings(work_dir=Path(work), cache_dir=default_cache_dir()))
