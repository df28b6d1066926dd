"""This season's hidden cases: generated once from the season's secret, then read and verified."""

from __future__ import annotations

from pathlib import Path

from kernel_eval.errors import InternalError
from kernel_eval.model import Suite
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.hidden import generate_hidden, overlay_hidden
from worker.settings import WorkerSettings

SECRET_BYTES = 32


def season_suite(settings: WorkerSettings) -> Suite:
    """The suite with its hidden cases; raises where they are missing or were changed."""
    suite = load_suite(default_bench_data(), settings.worker_suite)
    folder = settings.hidden_folder(suite.digest)
    if not folder.is_dir():
        raise InternalError(f"no hidden cases for {suite.name}: run `python -m worker hidden` on this host first")
    return overlay_hidden(suite, folder)


def ensure_hidden(settings: WorkerSettings) -> Suite:
    """The suite with its hidden cases, which are generated where there are none yet."""
    suite = load_suite(default_bench_data(), settings.worker_suite)
    folder = settings.hidden_folder(suite.digest)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        generate_hidden(suite, season_secret(settings.worker_season_secret), folder, settings.worker_season)
    return overlay_hidden(suite, folder)


def season_secret(path: Path) -> bytes:
    """The season's secret; refused where others may read it or it is too short."""
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except OSError as fault:
        raise InternalError(f"the season's secret {path} can't be read: {fault.strerror}") from fault
    if mode & 0o077:
        raise InternalError(f"the season's secret {path} can be read by others: chmod 600 {path}")
    if len(content) < SECRET_BYTES:
        raise InternalError(f"the season's secret {path} has {len(content)} bytes; at least {SECRET_BYTES} are needed")
    return content
