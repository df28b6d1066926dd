"""A portal on real servers: the app's own database role, a real broker, a folder for uploads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import Engine

from app.auth.tokens import Scope
from app.db.session import Database, make_engine
from app.main import create_app
from app.settings import AppSettings
from app.users import service as users
from tests.factories import portal_data
from tests.factories.archives import tar_gz
from tests.factories.serving import serving

BOARD = "cann-bench-small-cpu"
MAX_UPLOAD_BYTES = 2 * 1024 * 1024


GOOD_ARCHIVE = tar_gz({"build.sh": b"#!/bin/bash\n", "csrc/exp.cpp": b"int x;\n"})


@dataclass(frozen=True)
class Stage:
    """A running portal with a board on it, and the ways in: HTTP, and its database as owner, app and worker."""

    http: httpx.Client
    owner: Database
    app: Database
    worker: Database
    settings: AppSettings

    @property
    def storage(self) -> Path:
        return self.settings.storage_dir

    def token(self, user: str, *scopes: Scope, lifetime: timedelta | None = timedelta(days=1)) -> str:
        """A token of a user, who is made where there is none."""
        with self.owner.session() as session:
            portal_data.user_named(session, user)
            view = users.create_token(session, user, scopes or (Scope.SUBMIT,), datetime.now(UTC), lifetime)
        return view.token

    def headers(self, user: str = "ada", **more: str) -> dict[str, str]:
        """Headers of a request by that user."""
        return {"Authorization": f"Bearer {self.token(user)}", **more}

    def submit(
        self,
        archive: bytes = GOOD_ARCHIVE,
        name: str = "kernels.tar.gz",
        user: str = "ada",
        key: str = "",
        **fields: str,
    ) -> httpx.Response:
        """Hand an archive in."""
        headers = self.headers(user, **({"Idempotency-Key": key} if key else {}))
        data = {"board": BOARD, "agent": "Smith", "dsl": "cpp", **fields}
        return self.http.post("/api/v1/submissions", data=data, files={"file": (name, archive)}, headers=headers)

    def kept_files(self) -> list[Path]:
        """Everything that lies in the store, stages included."""
        return [path for path in self.storage.rglob("*") if path.is_file()]


Engines = Callable[[str], Engine]


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    made: list[Engine] = []

    def make(url: str) -> Engine:
        made.append(make_engine(url))
        return made[-1]

    yield make
    for engine in made:
        engine.dispose()


@pytest.fixture(scope="module")
def app_settings(app_database_url: str, broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> AppSettings:
    values: dict[str, Any] = {
        "database_url": app_database_url,
        "broker_url": broker_url,
        "storage_dir": tmp_path_factory.mktemp("storage"),
        "secret_key": SecretStr("a secret of the tests, long enough to be one"),
        "max_upload_bytes": MAX_UPLOAD_BYTES,
        "public_url": "http://board.example",
    }
    return AppSettings(**values)


@pytest.fixture(scope="module")
def stage(app_settings: AppSettings, database_url: str, worker_database_url: str, engines: Engines) -> Iterator[Stage]:
    owner = Database(engines(database_url))
    with owner.session() as session:
        portal_data.add_board(session, portal_data.small_suite(), app_settings.storage_dir)
    app, worker = Database(engines(app_settings.database_url)), Database(engines(worker_database_url))
    with serving(create_app(app_settings)) as address, httpx.Client(base_url=address, timeout=30) as http:
        yield Stage(http, owner, app, worker, app_settings)
