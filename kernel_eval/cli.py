"""The command line `kernel-eval`: the judge without the portal.

Both forms of the published evaluator are understood: `kernel-eval eval …` and
`kernel-eval --action eval …`. Exit codes: 0 judged and all passed, 1 judged and
something failed, 2 usage, 3 a fault of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

import kernel_eval
from kernel_eval.commands.anchors import baseline
from kernel_eval.commands.checking import check_command
from kernel_eval.commands.evaluate import evaluate_command
from kernel_eval.commands.goldens import golden
from kernel_eval.commands.hardware import hardware
from kernel_eval.commands.limits import limits_command
from kernel_eval.commands.listing import config_command, describe_command, list_command
from kernel_eval.commands.scoring import score_command
from kernel_eval.commands.suites import hidden, suite
from kernel_eval.errors import EvaluationStopped, JudgeError, UsageError

ACTIONS = ("eval", "list", "info", "config")
USAGE, OURS, STOPPED = 2, 3, 130


@click.group(
    commands=[
        evaluate_command,
        list_command,
        describe_command,
        config_command,
        check_command,
        score_command,
        limits_command,
        hardware,
        suite,
        hidden,
        baseline,
        golden,
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="The form `kernel-eval --action eval …` of the published evaluator means the same.",
)
@click.version_option(kernel_eval.__version__, prog_name="kernel-eval")
def command() -> None:
    """Judge kernels: build, run in a sandbox, check against a golden, time, score against the hardware."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    words = _as_subcommand(list(sys.argv[1:] if arguments is None else arguments))
    try:
        result = command.main(words, prog_name="kernel-eval", standalone_mode=False)
    except click.ClickException as fault:
        fault.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt, EvaluationStopped):
        click.echo("stopped", err=True)
        return STOPPED
    except UsageError as fault:
        return _complain(fault, USAGE)
    except JudgeError as fault:
        return _complain(fault, OURS)
    return result if isinstance(result, int) else 0


def run() -> NoReturn:
    """Be the process `kernel-eval`: one command, then the end.

    Taking torch down in good order lasts a second and is of no use to anybody, so a process that has loaded it
    leaves at once. Everything that must be cleared away is cleared by then: the commands hold it in `with` blocks.
    """
    code = main()
    with suppress(OSError):  # nobody reads any more: Python's own end deals with it
        sys.stdout.flush()
        sys.stderr.flush()
        if "torch" in sys.modules:
            os._exit(code)
    sys.exit(code)


def _complain(fault: Exception, code: int) -> int:
    for line in str(fault).splitlines():
        click.echo(f"kernel-eval: {line}", err=True)
    return code


def _as_subcommand(words: list[str]) -> list[str]:
    """Bring `--action eval` or `--action=eval`, wherever it stands, to the front as a subcommand."""
    for at, word in enumerate(words):
        if word == "--action" and at + 1 < len(words):
            action, rest = words[at + 1], words[:at] + words[at + 2 :]
        elif word.startswith("--action="):
            action, rest = word.partition("=")[2], words[:at] + words[at + 1 :]
        else:
            continue
        if action not in ACTIONS:
            raise SystemExit(_complain(UsageError(f"--action {action}: choose one of {', '.join(ACTIONS)}"), USAGE))
        return [action, *rest]
    return words
