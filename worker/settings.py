"""Settings of an evaluation host, from environment variables with the prefix HAPBOARD_."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT = Path(__file__).resolve().parents[1]


class WorkerSettings(BaseSettings):
    """What a worker needs to know. The database's role is the worker's own."""

    model_config = SettingsConfigDict(env_prefix="HAPBOARD_", extra="ignore", frozen=True)

    database_url: str
    broker_url: str
    storage_dir: Path
    worker_dir: Path = PROJECT / "var" / "worker"
    """Work folders, caches, the host's peaks; on a disk with room for a few GiB."""
    worker_hidden_dir: Path = PROJECT / "hidden_cases"
    worker_season_secret: Path = PROJECT / "var" / "season-secret"
    """File with the season's secret; no other process may read it."""
    worker_name: str = Field(default_factory=socket.gethostname)
    worker_hardware: str = "cpu"
    worker_suite: str = "cann-bench-small"
    worker_season: str = "1"
    worker_threads: int = Field(default_factory=lambda: len(os.sched_getaffinity(0)), gt=0)
    worker_lease_s: float = Field(default=30.0, gt=0)
    worker_heartbeat_s: float = Field(default=5.0, gt=0)
    worker_sweep_s: float = Field(default=5.0, gt=0)
    worker_tick_s: float = Field(default=30.0, gt=0)
    """Progress on hidden cases is told this seldom, so that it times none of them."""
    worker_timed: bool = True
    """False judges correctness alone; nothing is ranked by it."""
    worker_operators: frozenset[str] = frozenset()
    worker_case_ids: frozenset[int] = frozenset()
    """Restrict what is judged, for trials of the service on a board of their own; empty means everything."""
    log_json: bool = True

    @property
    def lease(self) -> timedelta:
        """For how long a lease stands without a heartbeat."""
        return timedelta(seconds=self.worker_lease_s)

    @property
    def is_trial(self) -> bool:
        """Whether only a part is judged, so that no result may stand beside whole ones."""
        return bool(self.worker_operators or self.worker_case_ids) or not self.worker_timed

    @property
    def board(self) -> str:
        """The board that this worker serves."""
        return f"{self.worker_suite}-{self.worker_hardware}{'-trial' if self.is_trial else ''}"

    def hidden_folder(self, suite_digest: str) -> Path:
        """The season's hidden cases of that suite; another version of it has others."""
        return self.worker_hidden_dir / self.worker_suite / f"season-{self.worker_season}-{suite_digest[:12]}"

    @property
    def work_folder(self) -> Path:
        """One folder per attempt below it."""
        return self.worker_dir / "work"

    @property
    def cache_folder(self) -> Path:
        """Goldens and builds that may be used again."""
        return self.worker_dir / "cache"

    @property
    def scratch_folder(self) -> Path:
        """The process pool's own files, one folder per worker."""
        return self.worker_dir / "scratch"
