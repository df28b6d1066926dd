"""From a candidate's sources to a package folder, in the build box.

The rule (paper, section 3): `bash build.sh` without network and within limits, or a prebuilt
`dist/`; operators on which a failure can be pinned are set aside in a copy and the
rest is built again.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from kernel_eval.build.attempt import DIST, LOG_CAP_BYTES, Attempt, Wheel, attempt_build
from kernel_eval.build.blame import blamed, first_error, operator_folders
from kernel_eval.build.modules import module_package
from kernel_eval.build.wheel import MAX_WHEEL_BYTES, WHEEL_SUFFIX, WheelRefused, install_wheel
from kernel_eval.errors import UsageError
from kernel_eval.model import Build, Candidate
from kernel_eval.settings import Settings

BUILD_SCRIPT = "build.sh"
QUARANTINE = "_quarantine"
LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", "*.egg-info")


@dataclass
class _Progress:
    """What has happened over the attempts of one build."""

    started: float = field(default_factory=time.monotonic)
    log: bytes = b""
    set_aside: dict[str, str] = field(default_factory=dict)

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def failed(self, message: str) -> Build:
        return Build(None, self.log[-LOG_CAP_BYTES:], self.seconds(), message, set_aside=dict(self.set_aside))

    def succeeded(self, package_dir: Path, prebuilt: bool) -> Build:
        return Build(package_dir, self.log[-LOG_CAP_BYTES:], self.seconds(), "", prebuilt, dict(self.set_aside))


def build_candidate(candidate: Candidate, settings: Settings, work_dir: Path) -> Build:
    """Build `candidate` into a fresh folder below `work_dir` that holds `cann_bench` alone.

    Whatever the candidate does wrong is told by the `Build`'s message and log. Raises
    `UsageError` where there is nothing to build, `SandboxIncomplete` where the box is.
    """
    source = candidate.source_dir
    if not source.is_dir():
        raise UsageError(f"{source} is no folder; give the folder that holds {BUILD_SCRIPT}")
    shutil.rmtree(work_dir, ignore_errors=True)
    package_dir = work_dir / "package"
    package_dir.mkdir(parents=True)
    if (source / BUILD_SCRIPT).is_file():
        return _build(source, settings, work_dir / "source", package_dir)
    return _take_prebuilt(source, package_dir)


def _take_prebuilt(source: Path, package_dir: Path) -> Build:
    progress = _Progress()
    found = sorted((source / DIST).glob(f"*{WHEEL_SUFFIX}")) or sorted(source.glob(f"*{WHEEL_SUFFIX}"))
    modules = {} if found else module_package(source)
    if modules:
        for path, content in modules.items():
            (package_dir / path).parent.mkdir(exist_ok=True)
            (package_dir / path).write_bytes(content)
        return progress.succeeded(package_dir, prebuilt=False)
    if not found:
        raise UsageError(
            f"{source} holds neither {BUILD_SCRIPT} nor a wheel, in {DIST}/ or beside it; there is nothing to build"
        )
    wheels = tuple(_read(path) for path in found)
    return _installed(wheels, package_dir, progress, prebuilt=True)


def _read(path: Path) -> Wheel:
    size = path.stat().st_size
    if size > MAX_WHEEL_BYTES:
        return Wheel(path.name, fault=f"{path.name}: {size} bytes, allowed are {MAX_WHEEL_BYTES}")
    return Wheel(path.name, path.read_bytes())


def _build(source: Path, settings: Settings, stage: Path, package_dir: Path) -> Build:
    shutil.copytree(source, stage, symlinks=True, ignore=LEFT_OUT)
    # What is judged is what build.sh makes, not what was lying there.
    shutil.rmtree(stage / DIST, ignore_errors=True)
    progress = _Progress()
    while True:
        left_s = settings.build_timeout_s - progress.seconds()
        attempt = attempt_build(stage, settings, max(left_s, 1.0))
        progress.log += attempt.outcome.log
        if attempt.outcome.exit_code == 0:
            return _installed(attempt.wheels, package_dir, progress, prebuilt=False)
        if attempt.outcome.timed_out or not (settings.iterative_compile and _set_aside(stage, attempt, progress)):
            return progress.failed(_ending(attempt, settings))


def _set_aside(stage: Path, attempt: Attempt, progress: _Progress) -> bool:
    """Move the operators at fault out of the build's way; False where none is, or none would be left."""
    folders = operator_folders(stage)
    guilty = blamed(attempt.outcome.log, folders)
    if not guilty:
        return False
    progress.set_aside.update(guilty)
    if len(guilty) == len(folders):
        return False
    (stage / QUARANTINE).mkdir(exist_ok=True)
    for name in guilty:
        (stage / folders[name]).rename(stage / QUARANTINE / name)
    note = f"\n== set aside in {QUARANTINE}/: {', '.join(sorted(guilty))}; building the rest again\n"
    progress.log += note.encode()
    return True


def _ending(attempt: Attempt, settings: Settings) -> str:
    outcome = attempt.outcome
    if outcome.timed_out:
        return f"{BUILD_SCRIPT} was stopped after {settings.build_timeout_s:g} s, the time a build may take"
    if outcome.oom:
        return f"{BUILD_SCRIPT} ran out of memory; compile fewer files at once"
    code = outcome.exit_code or 0
    ended = f"was killed by signal {code - 128}" if code > 128 else f"ended with exit code {code}"
    error = first_error(outcome.log)
    return f"{BUILD_SCRIPT} {ended}: {error}" if error else f"{BUILD_SCRIPT} {ended}; its log says why"


def _installed(wheels: tuple[Wheel, ...], package_dir: Path, progress: _Progress, *, prebuilt: bool) -> Build:
    if not wheels:
        return progress.failed(f"{BUILD_SCRIPT} ended well but left no wheel in {DIST}/; it must make exactly one")
    if len(wheels) > 1:
        names = ", ".join(wheel.name for wheel in wheels)
        return progress.failed(f"{len(wheels)} wheels in {DIST}/ ({names}); there must be exactly one")
    wheel = wheels[0]
    if wheel.fault:
        return progress.failed(f"the wheel can't be taken: {wheel.fault}")
    try:
        install_wheel(wheel.name, wheel.data, package_dir)
    except WheelRefused as error:
        return progress.failed(str(error))
    return progress.succeeded(package_dir, prebuilt)
