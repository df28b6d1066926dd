"""A worker's commands: `python -m worker probe | hidden | register | check | run`.

Exit codes: 0 done, 2 settings are missing or wrong, 3 this host can't judge.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime

import click
from pydantic import ValidationError

from app import logs
from app.db.session import Database, make_engine
from kernel_eval.errors import JudgeError
from worker import devices, hidden
from worker.register import register as register_board
from worker.settings import WorkerSettings

EXIT_USAGE, EXIT_OURS = 2, 3


@click.group(help=__doc__)
def main() -> None:
    """The group of commands."""


@main.command()
def probe() -> None:
    """Measure this host's peaks, unless they are known."""
    peaks = devices.host_peaks(WorkerSettings())
    click.echo(f"{peaks.cpu_model}, {peaks.threads} threads, {peaks.memory_bytes_per_s / 1e9:.1f} GB/s")


@main.command("hidden")
def generate() -> None:
    """Generate the season's hidden cases, unless they exist."""
    suite = hidden.ensure_hidden(WorkerSettings())
    click.echo(f"{len(suite.operators)} operators, {len(suite.cases)} cases, digest {suite.hidden_digest}")


@main.command()
def register() -> None:
    """Register suite, operators, public cases, board and anchors in the database."""
    settings = WorkerSettings()
    suite, peaks = hidden.ensure_hidden(settings), devices.host_peaks(settings)
    with Database(make_engine(settings.database_url)).session() as session:
        board = register_board(session, settings, suite, peaks, datetime.now(UTC))
    click.echo(board.slug)


@main.command()
def check() -> None:
    """Say what of the sandbox this host lacks."""
    from kernel_eval.sandbox.selftest import check_host

    missing = check_host()
    for part in missing:
        click.echo(f"{part.part}: {part.fix}")
    sys.exit(EXIT_OURS if missing else 0)


@main.command()
def run() -> None:
    """Take leases and judge, until SIGTERM; exit 3 at once where the sandbox is incomplete."""
    from worker import service

    settings = WorkerSettings()
    logs.configure(as_json=settings.log_json)
    sys.exit(service.run(settings))


def guarded(command: Callable[[], None]) -> int:
    """Runs the command line; faults on purpose become one line and an exit code."""
    try:
        command()
    except ValidationError as fault:
        names = ", ".join(f"HAPBOARD_{str(error['loc'][0]).upper()}: {error['msg']}" for error in fault.errors())
        click.echo(f"worker: {names}", err=True)
        return EXIT_USAGE
    except JudgeError as fault:
        click.echo(f"worker: {fault}", err=True)
        return EXIT_OURS
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
