"""Evaluation hosts for tests: a suite of one operator, a board, small candidates, real worker processes."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.session import Database, make_engine, session_scope
from app.entries.service import entry_for
from app.lifecycle import SubmissionStatus
from app.models import Artifact, Board, Mode, Run, Submission, User, Visibility
from app.queue import Dispatcher, celery_sender
from app.runs import service
from app.storage import FileStore
from app.submissions.happenings import advance
from kernel_eval.hap import save_peaks
from kernel_eval.suite import default_bench_data
from tests.factories.archives import tar_gz
from tests.factories.judged_reports import PEAKS
from worker.devices import peaks_path
from worker.hidden import ensure_hidden
from worker.register import register
from worker.settings import WorkerSettings

PROJECT = Path(__file__).resolve().parents[2]
OPERATOR = "exp"
SUITE_FILE = 'name = "tiny"\nversion = "1.0.0"\nscale = "small"\nseed = "tiny"\n\n[operators]\nL1 = ["exp"]\n'
WHEEL_MAKER = """#!/bin/sh
set -eu
mkdir -p dist
python3 - <<'END'
import zipfile
info = "cann_bench-1.0.0.dist-info"
with zipfile.ZipFile("dist/cann_bench-1.0.0-py3-none-any.whl", "w") as wheel:
    wheel.write("cann_bench/__init__.py")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: cann-bench\\nVersion: 1.0.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
END
"""
RIGHT_EXP = """import math, time
import torch

def exp(x, base=-1.0, scale=1.0, shift=0.0):
    time.sleep({pause_s})
    exponent = scale * x.double() + shift
    if base > 0:
        exponent = exponent * math.log(base)
    return torch.exp(exponent).to(x.dtype)
"""


def candidate(pause_s: float = 0.0, **files: str) -> bytes:
    """A .tar.gz of a small Python submission that computes `exp` rightly, `pause_s` seconds per call."""
    content = {"build.sh": WHEEL_MAKER, "cann_bench/__init__.py": RIGHT_EXP.format(pause_s=pause_s), **files}
    return tar_gz({name: text.encode() for name, text in content.items()})


@dataclass
class Host:
    """One evaluation host's folders and settings, on a database and a broker of the test."""

    folder: Path
    owner_url: str
    environment: dict[str, str]
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def settings(self) -> WorkerSettings:
        """The host's settings, as its processes read them."""
        values = {name.removeprefix("HAPBOARD_").lower(): value for name, value in self.environment.items()}
        chosen = {key: value for key, value in values.items() if key in WorkerSettings.model_fields}
        return WorkerSettings(**{**chosen, "worker_case_ids": _numbers_of(chosen.get("worker_case_ids", "[]"))})

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session as the database's owner."""
        engine = make_engine(self.owner_url, pool_size=1)
        try:
            with session_scope(engine) as session:
                yield session
        finally:
            engine.dispose()

    def submit(self, archive: bytes) -> int:
        """Stores and queues a submission and sends its message; the run's id."""
        with FileStore(self.settings.storage_dir).stage(1 << 24) as staged:
            staged.write(archive)
            FileStore(self.settings.storage_dir).keep(staged)
            sha256, size = staged.sha256, staged.size_bytes
        with self.session() as session:
            run_id = self._queue(session, sha256, size, next(self._numbers))
        self.send_messages()
        return run_id

    def send_messages(self) -> None:
        """Sends what stands in the outbox."""
        engine, sender = (
            make_engine(self.owner_url, pool_size=1),
            celery_sender(self.environment["HAPBOARD_BROKER_URL"]),
        )
        try:
            Dispatcher(engine, sender).send_pending()
        finally:
            sender.close()
            engine.dispose()

    def run(self, run_id: int) -> Run:
        """The run as it is now."""
        with self.session() as session:
            return session.get_one(Run, run_id)

    def submission(self, run_id: int) -> Submission:
        """The run's submission as it is now."""
        with self.session() as session:
            return session.get_one(Submission, session.get_one(Run, run_id).submission_id)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts `python -m <command>` with the host's settings."""
        log = (self.folder / f"{'-'.join(command)}.log").open("ab")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", *command],
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=PROJECT,
                start_new_session=True,
            )

    @contextmanager
    def running(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the host, stopped in good order afterwards."""
        process = self.start(*command)
        try:
            yield process
        finally:
            stop(process)

    def logs(self) -> str:
        """What the host's processes wrote."""
        return "\n".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))

    def _queue(self, session: Session, sha256: str, size: int, number: int) -> int:
        now = datetime.now(UTC)
        board = session.scalars(select(Board)).one()
        user = User(name=f"user-{secrets.token_hex(4)}")
        session.add(user)
        session.flush()
        entry = entry_for(session, user.id, user.name, agent="tester", model="", harness="", dsl="cpp")
        if session.get(Artifact, sha256) is None:
            session.add(Artifact(sha256=sha256, size_bytes=size, filename="kernels.tar.gz", stored_at=now))
        session.flush()
        submission = Submission(
            public_id=f"HB-TEST-2026-{number:06d}",
            user_id=user.id,
            entry_id=entry.id,
            board_id=board.id,
            artifact_sha256=sha256,
            filename="kernels.tar.gz",
            status=SubmissionStatus.RECEIVED,
            mode=Mode.RANKED,
            visibility=Visibility.PUBLIC,
            idempotency_key=None,
            request_digest=sha256,
            received_at=now,
        )
        session.add(submission)
        session.flush()
        run = service.enqueue(session, submission, now)
        advance(session, submission, SubmissionStatus.QUEUED, now)
        return run.id


def make_host(
    folder: Path, owner_url: str, worker_url: str, broker_url: str, chosen: Mapping[str, str] | None = None
) -> Host:
    """A host with a registered board of one operator; `chosen` overrides settings of its processes."""
    bench_data = tiny_bench_data(folder / "bench_data")
    secret = folder / "season-secret"
    secret.touch(mode=0o600)
    secret.write_bytes(secrets.token_bytes(32))
    (folder / "storage").mkdir()
    environment = {
        "HAPBOARD_DATABASE_URL": worker_url,
        "HAPBOARD_BROKER_URL": broker_url,
        "HAPBOARD_STORAGE_DIR": str(folder / "storage"),
        "HAPBOARD_BENCH_DATA": str(bench_data),
        "HAPBOARD_WORKER_DIR": str(folder / "worker"),
        "HAPBOARD_WORKER_HIDDEN_DIR": str(folder / "hidden"),
        "HAPBOARD_WORKER_SEASON_SECRET": str(secret),
        "HAPBOARD_WORKER_SUITE": "tiny",
        "HAPBOARD_WORKER_THREADS": "2",
        "HAPBOARD_WORKER_CASE_IDS": "[1, 2, 3, 4]",
        "HAPBOARD_WORKER_TIMED": "false",
        "HAPBOARD_WORKER_LEASE_S": "3",
        "HAPBOARD_WORKER_HEARTBEAT_S": "0.5",
        "HAPBOARD_WORKER_SWEEP_S": "0.3",
        "OMP_WAIT_POLICY": "passive",
        **(chosen or {}),
    }
    host = Host(folder, owner_url, environment)
    _register(host, bench_data)
    return host


def stop(process: subprocess.Popen[bytes], seconds: float = 30.0) -> None:
    """SIGTERM, and SIGKILL for the whole group where that does not help."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


def _register(host: Host, bench_data: Path) -> None:
    settings = host.settings
    settings.worker_dir.mkdir()
    save_peaks(PEAKS, peaks_path(settings))
    previous = os.environ.get("HAPBOARD_BENCH_DATA")
    os.environ["HAPBOARD_BENCH_DATA"] = str(bench_data)
    try:
        suite = ensure_hidden(settings)
    finally:
        if previous is None:
            del os.environ["HAPBOARD_BENCH_DATA"]
        else:
            os.environ["HAPBOARD_BENCH_DATA"] = previous
    engine = make_engine(settings.database_url, pool_size=1)
    with Database(engine).session() as session:
        register(session, settings, suite, PEAKS, datetime.now(UTC))
    engine.dispose()


def tiny_bench_data(folder: Path) -> Path:
    """A task set with a suite `tiny` of one operator."""
    whole = default_bench_data()
    shutil.copytree(whole / "level1" / OPERATOR, folder / "level1" / OPERATOR)
    (folder / "suites").mkdir()
    (folder / "suites" / "tiny.toml").write_text(SUITE_FILE)
    return folder


def _numbers_of(text: str) -> frozenset[int]:
    return frozenset(int(part) for part in text.strip("[]").split(",") if part.strip())
