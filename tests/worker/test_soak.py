"""Faults at random while submissions are judged: nothing is lost, nothing is judged twice into the ranking."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from app.lifecycle import SETTLED, RunStatus
from app.models import HiddenCaseResult, OperatorResult, Run, Submission
from app.queue import EVALUATE, celery_sender, queue_of
from kernel_eval.sandbox.hierarchy import find_hierarchy
from kernel_eval.sandbox.selftest import check_host
from local_stack.database import OWNER, WORKER, Database
from local_stack.valkey import Valkey
from tests.factories.hosts import Host, candidate, make_host, stop, within

pytestmark = [pytest.mark.soak, pytest.mark.database, pytest.mark.queue, pytest.mark.sandbox, pytest.mark.timeout(3600)]

SUBMISSIONS = 20
FAULT_EVERY_S = 12.0
SEED = 20261130


class Chaos:
    """A host's processes, and faults that befall them."""

    def __init__(self, host: Host, broker: Valkey) -> None:
        self._host = host
        self._broker = broker
        self._random = random.Random(SEED)
        self.processes = {name: host.start(*name.split()) for name in ("worker run", "worker.sweep")}

    def strike(self) -> str:
        """One fault at random; its name. Whatever was killed is started again, as a supervisor does."""
        fault = self._random.choice(
            [self.kill_child, self.kill_worker, self.kill_sweeper, self.kill_broker, self.repeat]
        )
        fault()
        for name, process in self.processes.items():
            if process.poll() is not None:
                self.processes[name] = self._host.start(*name.split())
        return fault.__name__

    def kill_child(self) -> None:
        children = self._children()
        if children:
            children[0].kill()

    def kill_worker(self) -> None:
        worker = self.processes["worker run"]
        children = self._children()
        worker.kill()
        worker.wait()
        for child in children:
            child.kill()

    def kill_sweeper(self) -> None:
        self.processes["worker.sweep"].kill()
        self.processes["worker.sweep"].wait()

    def kill_broker(self) -> None:
        assert self._broker.pid is not None
        os.kill(self._broker.pid, signal.SIGKILL)
        self._broker.stop()
        self._broker.start(self._broker.port)

    def repeat(self) -> None:
        sender = celery_sender(self._host.environment["HAPBOARD_BROKER_URL"])
        for run_id in (1, 2, 3):
            sender.send_task(EVALUATE, kwargs={"run_id": run_id}, queue=queue_of("cpu"))
        sender.close()

    def end(self) -> None:
        for process in self.processes.values():
            stop(process)

    def _children(self) -> list[psutil.Process]:
        process: subprocess.Popen[bytes] = self.processes["worker run"]
        return psutil.Process(process.pid).children() if process.poll() is None else []


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path / "valkey", "plain-word")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def host(tmp_path: Path, database: Database, broker: Valkey) -> Host:
    missing = check_host()
    if missing:
        pytest.skip(f"no sandbox here: {missing[0].part}")
    folder = tmp_path / "host"
    folder.mkdir()
    return make_host(folder, database.url(OWNER), database.url(WORKER), broker.url)


def test_every_submission_ends_with_exactly_one_result(host: Host, broker: Valkey) -> None:
    chaos = Chaos(host, broker)
    struck: list[str] = []
    try:
        runs = [host.submit(candidate(pause_s=0.05 * number)) for number in range(SUBMISSIONS)]
        allow_many_attempts(host)
        deadline = time.monotonic() + 3000
        while waiting(host) and time.monotonic() < deadline:
            time.sleep(FAULT_EVERY_S)
            if len(struck) < 3 * SUBMISSIONS:
                struck.append(chaos.strike())
        assert not waiting(host), host.logs()[-5000:]
    finally:
        chaos.end()
    assert len(set(struck)) > 3
    for run_id in runs:
        assert host.run(run_id).status is RunStatus.FINISHED, host.run(run_id).error
        with host.session() as session:
            results = session.scalar(
                select(func.count()).select_from(OperatorResult).where(OperatorResult.run_id == run_id)
            )
            hidden = session.scalar(
                select(func.count()).select_from(HiddenCaseResult).where(HiddenCaseResult.run_id == run_id)
            )
        assert (results, hidden) == (1, 4)
    with host.session() as session:
        assert {row.status for row in session.scalars(select(Submission))} <= SETTLED
    assert within(20, lambda: nothing_left(host))


def allow_many_attempts(host: Host) -> None:
    """The faults of this test come far more often than real ones."""
    with host.session() as session:
        for run in session.scalars(select(Run)):
            run.max_attempts = 100


def waiting(host: Host) -> int:
    with host.session() as session:
        query = select(func.count()).where(Run.status.in_((RunStatus.QUEUED, RunStatus.RUNNING)))
        return session.scalar(query) or 0


def nothing_left(host: Host) -> bool:
    """No work folder, no control group of a worker of ours, after one more sweep."""
    with host.running("worker.sweep"):
        time.sleep(3)
    groups = [path.name for path in find_hierarchy().kill.glob("hapboard-*") if not _owner_lives(path.name)]
    return not list(host.settings.work_folder.iterdir()) and not groups


def _owner_lives(name: str) -> bool:
    return psutil.pid_exists(int(name.split("-")[2]))
