"""Finds out what of the sandbox is missing on this host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MissingPart:
    """A part of the sandbox that this host lacks, and what an operator of the host does about it."""

    part: str
    fix: str


def check_host() -> list[MissingPart]:
    """Every missing part; empty where the sandbox is complete."""
    raise NotImplementedError
