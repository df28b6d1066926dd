"""Code to be judged, without its author."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Candidate:
    """An unpacked submission. `source_dir` is read, never written."""

    source_dir: Path
    sha256: str | None = None


@dataclass(frozen=True)
class Build:
    """What came of building a candidate.

    `package_dir` is the fresh target folder that holds `cann_bench` and nothing
    else; None where the build failed. `log` is raw output, capped. `set_aside`
    maps an operator that was put into quarantine to its own log excerpt.
    """

    package_dir: Path | None
    log: bytes
    seconds: float
    message: str = ""
    prebuilt: bool = False
    set_aside: dict[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether there is a package to run."""
        return self.package_dir is not None
