"""Options that several commands share, and what they select."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from kernel_eval.errors import UsageError
from kernel_eval.model import Level, Split, Suite
from kernel_eval.suite import default_bench_data, load_suite

DEFAULT_SUITE = "cann-bench-small"
Function = TypeVar("Function", bound=Callable[..., Any])

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def default_cache_dir() -> Path:
    """Where goldens and probed peaks are kept: `HAPBOARD_CACHE_DIR`, or the user's cache folder."""
    configured = os.environ.get("HAPBOARD_CACHE_DIR")
    if configured:
        return Path(configured)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hapboard"


def suite_options(function: Function) -> Function:
    """`--suite` and `--bench-data`."""
    function = click.option(
        "--suite", "suite_name", default=DEFAULT_SUITE, show_default=True, help="Name of the suite."
    )(function)
    return click.option("--bench-data", type=FOLDER, help="Folder of the task set. [default: of this checkout]")(
        function
    )


def selection_options(function: Function) -> Function:
    """`--level`, `--operator`, `--case-id`, each repeatable."""
    function = click.option("-c", "--case-id", "case_ids", type=int, multiple=True, help="Only this case; repeatable.")(
        function
    )
    function = click.option(
        "-o", "--operator", "operators", multiple=True, help="Only this operator, by name or title; repeatable."
    )(function)
    return click.option("-l", "--level", "levels", multiple=True, help="Only this level, 1 to 4; repeatable.")(function)


def open_suite(suite_name: str, bench_data: Path | None) -> Suite:
    """The suite, or `UsageError` (`SuiteInvalid`) with all its faults."""
    return load_suite(bench_data or default_bench_data(), suite_name)


def select(
    suite: Suite,
    levels: Sequence[str],
    operators: Sequence[str],
    case_ids: Sequence[int],
    splits: frozenset[Split] | None = None,
) -> Suite:
    """The part of the suite that the options name; `UsageError` where nothing is left."""
    chosen = suite.select(
        frozenset(_level(word) for word in levels) or None,
        frozenset(_operator(suite, word) for word in operators) or None,
        frozenset(case_ids) or None,
        splits,
    )
    if not chosen.cases:
        raise UsageError(f"{suite.name}: no case is left by --level, --operator and --case-id together")
    return chosen


def _level(word: str) -> Level:
    digits = word.lower().removeprefix("level").removeprefix("l")
    try:
        return Level(f"L{digits}")
    except ValueError:
        raise UsageError(f"--level {word}: levels are 1, 2, 3 and 4") from None


def _operator(suite: Suite, word: str) -> str:
    for operator in suite.operators:
        if word.lower() in (operator.name, operator.title.lower(), operator.function.lower()):
            return operator.name
    names = ", ".join(operator.name for operator in suite.operators)
    raise UsageError(f"--operator {word}: {suite.name} has {names}")
