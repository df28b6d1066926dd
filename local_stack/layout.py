"""Where the stack keeps what: one folder, and nothing outside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLE = PROJECT / "examples" / "cpu_cpp"


@dataclass(frozen=True)
class Layout:
    """Paths below the stack's folder (`var/` of the checkout unless told otherwise)."""

    var: Path = PROJECT / "var"

    @property
    def is_default(self) -> bool:
        """Whether this is the checkout's own stack."""
        return self.var == PROJECT / "var"

    @property
    def secrets(self) -> Path:
        """Passwords and keys, mode 0600."""
        return self.var / "secrets.json"

    @property
    def season_secret(self) -> Path:
        """The secret that hidden cases are generated from, mode 0600, for the worker alone."""
        return self.var / "season-secret"

    @property
    def token(self) -> Path:
        """The first user's API token, mode 0600."""
        return self.var / "token"

    @property
    def state(self) -> Path:
        """What runs where, while it runs; the ports also afterwards."""
        return self.var / "state.json"

    @property
    def example(self) -> Path:
        """The public id of the example's submission."""
        return self.var / "example.json"

    @property
    def lock(self) -> Path:
        """Locked by the one supervisor of this folder."""
        return self.var / "lock"

    @property
    def postgres(self) -> Path:
        """PostgreSQL's folder."""
        return self.var / "postgres"

    @property
    def valkey(self) -> Path:
        """Valkey's folder."""
        return self.var / "valkey"

    @property
    def storage(self) -> Path:
        """Uploads, by SHA-256."""
        return self.var / "storage"

    @property
    def worker(self) -> Path:
        """The worker's own folder: work folders, caches, the host's peaks."""
        return self.var / "worker"

    def log(self, name: str) -> Path:
        """The log file of a part."""
        return self.var / "log" / f"{name}.log"
