"""A guard that fails must not fail silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kernel_eval.model import Flag, FlagId, Severity


def guarded(guard: str, operator: str, look: Callable[[], Iterable[Flag]]) -> tuple[Flag, ...]:
    """What `look` finds; where it errors, the flag `guard_error` instead.

    `operator` is empty for a guard over the whole submission. Whatever a guard
    trips over was brought by the submission, so any exception is evidence.
    """
    try:
        return tuple(look())
    except Exception as fault:  # noqa: BLE001 -- see the docstring: fails shut, into a flag
        message = f"the guard {guard} could not finish: {type(fault).__name__}: {fault}"[:500]
        return (Flag(FlagId.GUARD_ERROR, Severity.REVIEW, operator, None, message, {"guard": guard}),)
