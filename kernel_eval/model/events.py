"""What an evaluation tells while it runs. Events carry no hidden case's details outward by themselves;
whoever forwards them decides what may be shown."""

from __future__ import annotations

from dataclasses import dataclass

from kernel_eval.model.candidate import Build
from kernel_eval.model.case import Split
from kernel_eval.model.interface import Interface
from kernel_eval.model.result import CaseResult, OperatorResult


@dataclass(frozen=True)
class BuildStarted:
    """The candidate goes into the build box."""


@dataclass(frozen=True)
class BuildFinished:
    """The build ended, well or not."""

    build: Build


@dataclass(frozen=True)
class InterfacesFound:
    """What the built package offers, before anything is judged.

    `missing` names the operators without an interface, `total` is the number of operators. `fault` says why the
    package could not be asked; then nothing is known of the rest.
    """

    interfaces: tuple[Interface, ...]
    missing: tuple[str, ...]
    total: int
    fault: str = ""

    @property
    def nothing_matches(self) -> bool:
        """Whether no operator can be judged, although the package could be asked."""
        return not self.fault and len(self.missing) == self.total


@dataclass(frozen=True)
class OperatorStarted:
    """Judging of one operator begins; `position` counts from 1 to `total`."""

    operator: str
    position: int
    total: int
    cases: int


@dataclass(frozen=True)
class CaseJudged:
    """A case's correctness is known; its time may follow."""

    result: CaseResult
    split: Split
    position: int
    total: int


@dataclass(frozen=True)
class CaseTimed:
    """An accepted case was timed; `position` counts from 1 over the operator's accepted cases."""

    result: CaseResult
    split: Split
    position: int
    total: int


@dataclass(frozen=True)
class OperatorFinished:
    """All cases of an operator are judged, timed and scored."""

    result: OperatorResult


Event = BuildStarted | BuildFinished | InterfacesFound | OperatorStarted | CaseJudged | CaseTimed | OperatorFinished
