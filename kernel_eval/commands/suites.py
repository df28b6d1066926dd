"""`suite validate|generate|digest` and `hidden generate`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from kernel_eval.commands.importing import import_command
from kernel_eval.commands.options import DEFAULT_SUITE, FILE, FOLDER, open_suite
from kernel_eval.errors import UsageError
from kernel_eval.suite import default_bench_data

BENCH_DATA = click.option("--bench-data", type=FOLDER, help="Folder of the task set. [default: of this checkout]")
NAME = click.argument("name", default=DEFAULT_SUITE)
LEAST_SECRET_BYTES = 16


@click.group("suite", commands=[import_command])
def suite() -> None:
    """Check and make task sets."""


@suite.command("validate")
@NAME
@BENCH_DATA
def validate_command(name: str, bench_data: Path | None) -> None:
    """Check every file of a suite and the coverage of its cases (of imported ones the files alone); name all faults."""
    from kernel_eval.suite.validate import validate_suite

    loaded = open_suite(name, bench_data)
    if all(operator.foreign is None for operator in loaded.operators):
        validate_suite(loaded)
    click.echo(
        f"{loaded.name} {loaded.version}: {len(loaded.operators)} operators, {len(loaded.cases)} cases, no fault"
    )


@suite.command("generate")
@NAME
@BENCH_DATA
def generate_command(name: str, bench_data: Path | None) -> None:
    """Write the public case tables of a suite anew from its own seed."""
    from kernel_eval.suite.imported.store import is_imported
    from kernel_eval.suite.public import write_public_tables

    home = bench_data or default_bench_data()
    if is_imported(home, name):
        raise UsageError(f"{name} was imported: its cases are its own, none can be generated")
    for path in write_public_tables(home, name):
        click.echo(path)


@suite.command("digest")
@NAME
@BENCH_DATA
def digest_command(name: str, bench_data: Path | None) -> None:
    """Print the digest of a suite's files."""
    click.echo(open_suite(name, bench_data).digest)


@click.group("hidden")
def hidden() -> None:
    """Hidden cases, made from a secret."""


@hidden.command("generate")
@click.option("--suite", "name", default=DEFAULT_SUITE, show_default=True)
@BENCH_DATA
@click.option("--secret-file", type=FILE, required=True, help="File of at least 16 random bytes; keep it to yourself.")
@click.option("--season", required=True, help="Name of the season, such as 2026-1.")
@click.option("--output", type=FOLDER, required=True, help="Folder for the hidden cases, readable by you alone.")
def generate_hidden_command(name: str, bench_data: Path | None, secret_file: Path, season: str, output: Path) -> None:
    """Generate a season's hidden cases; prints the public manifest, which holds digests only."""
    from kernel_eval.suite.hidden import generate_hidden

    try:
        secret = secret_file.read_bytes()
    except OSError as fault:
        raise UsageError(f"--secret-file {secret_file}: {fault.strerror}") from fault
    if len(secret) < LEAST_SECRET_BYTES:
        raise UsageError(f"--secret-file {secret_file}: {len(secret)} bytes are too few; write 32 random bytes into it")
    manifest = generate_hidden(open_suite(name, bench_data), secret, output, season)
    click.echo(json.dumps({"season": season, "digest": manifest.digest, "folder": str(output)}, indent=1))
