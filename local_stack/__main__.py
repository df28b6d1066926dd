"""The one-command stack: `python -m local_stack up | down | demo | status`.

Exit codes: 0 done, 1 a part failed, 2 nothing to talk to, 3 this host can't judge.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from local_stack import example
from local_stack.client import Client
from local_stack.console import Screen, plain_console
from local_stack.layout import PROJECT, Layout
from local_stack.process import StackError
from local_stack.state import load_state, sole_supervisor
from local_stack.supervisor import EXIT_INCOMPLETE, SandboxMissing, Stack, make_stack, stop_other

EXIT_FAILED, EXIT_NOTHING = 1, 2
TEND_S = 1.0


class Interrupted(BaseException):
    """SIGINT or SIGTERM: stop in good order. No `Exception`, so that nothing swallows it."""


@click.group(help=__doc__)
@click.option(
    "--var", type=click.Path(path_type=Path), envvar="HAPBOARD_VAR", default=PROJECT / "var", help="The stack's folder."
)
@click.pass_context
def main(context: click.Context, var: Path) -> None:
    """The group of commands."""
    context.obj = Layout(var.absolute())


@main.command()
@click.option("--no-example", is_flag=True, help="Start the stack without judging the example.")
@click.pass_obj
def up(layout: Layout, no_example: bool) -> None:
    """Start everything and judge the example; Ctrl-C stops everything."""
    os.umask(0o022)
    screen = Screen()
    if (state := load_state(layout)).running:
        screen.say(f"Already running: [bold]{state.address}[/]   (stop it with: make down)")
        return
    layout.var.mkdir(parents=True, exist_ok=True)
    with sole_supervisor(layout):
        sys.exit(_supervise(make_stack(layout, screen), no_example))


@main.command()
@click.pass_obj
def down(layout: Layout) -> None:
    """Stop the running stack; its data stay."""
    stopped = stop_other(layout)
    click.echo("stopped; the data stay" if stopped else "nothing is running")


@main.command()
@click.pass_obj
def status(layout: Layout) -> None:
    """Print what runs where as JSON."""
    state = load_state(layout)
    found = {"running": state.running, "ready": state.running and state.ready, "address": state.address}
    click.echo(json.dumps(found | {"pids": state.pids, "ports": state.ports}, indent=2))


@main.command()
@click.pass_obj
def demo(layout: Layout) -> None:
    """Submit the example to the running stack and print the result as JSON."""
    state = load_state(layout)
    if not state.running or not state.ready:
        click.echo("no stack is running: start it with `make up` in another terminal", err=True)
        sys.exit(EXIT_NOTHING)
    screen = Screen(plain_console(stderr=True))
    client = Client(state.address, layout.token.read_text().strip())
    outcome = example.judge_again(client, state.board, screen, f"demo-{secrets.token_hex(8)}")
    click.echo(json.dumps(outcome.result or outcome.submission, indent=2, ensure_ascii=False))
    sys.exit(0 if outcome.result else EXIT_FAILED)


def _supervise(stack: Stack, no_example: bool) -> int:
    """Starts, tends and stops the stack, whatever happens in between; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        _run(stack, no_example)
    except Interrupted:
        return 0
    except SandboxMissing as missing:
        stack.screen.fault("This machine can't judge, so nothing untrusted is run:")
        for line in str(missing).splitlines():
            stack.screen.fault(line)
        return EXIT_INCOMPLETE
    except StackError as fault:
        stack.screen.fault(str(fault))
        return EXIT_FAILED
    finally:
        _stop(stack)
    return 0


def _run(stack: Stack, no_example: bool) -> None:
    screen = stack.screen
    programs = stack.start()
    client = Client(programs.address, example.ensure_token(stack.layout, programs))
    if not no_example:
        example.show(example.judge_once(stack.layout, client, stack.board, screen), screen)
    screen.say(f"\n  Board    [bold cyan]{programs.address}/boards/{stack.board}[/]")
    screen.say(f"  Submit   .venv/bin/hapboard submit examples/cpu_cpp --board {stack.board} --wait")
    screen.say(f"  Token    {stack.layout.token}\n  Stop     Ctrl-C, or `make down`\n")
    while True:
        time.sleep(TEND_S)
        stack.tend()


def _stop(stack: Stack) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with stack.screen.step("Stopped"):
        stack.stop()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted


def guarded(command: Callable[[], None]) -> int:
    """Runs the command line; faults on purpose become one line and an exit code."""
    try:
        command()
    except StackError as fault:
        click.echo(str(fault), err=True)
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
