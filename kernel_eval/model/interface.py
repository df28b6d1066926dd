"""What a submission offers to be called, as its own process says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Place(StrEnum):
    """Where an interface was found, in the order of looking."""

    REGISTERED = "torch.ops.cann_bench"
    EXPORTED = "cann_bench"


@dataclass(frozen=True)
class Interface:
    """A callable of a submission. `signature` begins at the bracket; it is untrusted text, made printable."""

    place: Place
    name: str
    signature: str

    def __str__(self) -> str:
        return f"{self.place}.{self.name}{self.signature}"
