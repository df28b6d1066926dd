"""Passwords and keys of this installation: made once, readable by their owner alone."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from local_stack.database import ROLES
from local_stack.layout import Layout


@dataclass(frozen=True)
class Keys:
    """All secrets but the season's, which only the worker reads."""

    postgres: str
    roles: dict[str, str]
    broker: str
    secret_key: str


def load_keys(layout: Layout) -> Keys:
    """This installation's keys; made from the system's randomness the first time."""
    if not layout.secrets.exists():
        fresh = Keys(
            postgres=secrets.token_hex(24),
            roles={role: secrets.token_hex(24) for role in ROLES},
            broker=secrets.token_hex(24),
            secret_key=secrets.token_urlsafe(48),
        )
        write_private(layout.secrets, json.dumps(asdict(fresh), indent=2).encode())
    if not layout.season_secret.exists():
        write_private(layout.season_secret, secrets.token_bytes(32))
    return Keys(**json.loads(layout.secrets.read_text()))


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can read; whole or not at all."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.rename(path)
