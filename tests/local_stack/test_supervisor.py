"""The one-command stack: starts in order, mends itself, keeps its data, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from kernel_eval.hap import save_peaks
from kernel_eval.sandbox.selftest import check_host
from local_stack.layout import PROJECT
from tests.factories.hosts import tiny_bench_data, within
from tests.factories.judged_reports import PEAKS

pytestmark = [pytest.mark.database, pytest.mark.queue, pytest.mark.sandbox]


class Stack:
    """A stack of its own below a temporary folder, run as a person would run it."""

    def __init__(self, folder: Path) -> None:
        self.var = folder / "var"
        self.log = folder / "up.log"
        worker = self.var / "worker"
        worker.mkdir(parents=True)
        save_peaks(PEAKS, worker / "peaks-cpu-2.json")
        self.environment = {
            **os.environ,
            "HAPBOARD_BENCH_DATA": str(tiny_bench_data(folder / "bench_data")),
            "HAPBOARD_WORKER_SUITE": "tiny",
            "HAPBOARD_WORKER_THREADS": "2",
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "local_stack", "--var", str(self.var), *arguments]

    def up(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            started = subprocess.Popen(
                self.command("up", "--no-example"), env=self.environment, stdout=log, stderr=log, cwd=PROJECT
            )
        assert within(120, lambda: bool(self.status()["ready"]) or started.poll() is not None), self.said()
        assert started.poll() is None, self.said()
        return started

    def down(self) -> str:
        return subprocess.run(self.command("down"), capture_output=True, text=True, check=True, cwd=PROJECT).stdout

    def status(self) -> dict[str, object]:
        try:
            state = json.loads((self.var / "state.json").read_text())
        except FileNotFoundError:
            return {"ready": False, "pids": {}, "address": ""}
        assert isinstance(state, dict)
        return state

    def pids(self) -> dict[str, int]:
        pids = self.status()["pids"]
        assert isinstance(pids, dict)
        return pids

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.status()['address']}{path}", timeout=10)

    def said(self) -> str:
        logs = [self.log, *sorted((self.var / "log").glob("*.log"))]
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)

    def left_over(self) -> list[str]:
        """Command lines of processes that still know this stack's folder."""
        found = []
        for process in psutil.process_iter(["cmdline", "environ"]):
            text = " ".join([*(process.info["cmdline"] or []), *(process.info["environ"] or {}).values()])
            if str(self.var) in text and process.pid != os.getpid() and "pytest" not in text:
                found.append(text[:200])
        return found


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    missing = check_host()
    if missing:
        pytest.skip(f"no sandbox here: {missing[0].part}")
    folder = tmp_path_factory.mktemp("stack")
    made = Stack(folder)
    yield made
    made.down()
    shutil.rmtree(folder, ignore_errors=True)


def test_it_starts_mends_itself_and_stops_without_a_trace(stack: Stack) -> None:
    supervisor = stack.up()
    assert stack.get("/healthz").status_code == 200
    assert stack.get("/api/v1/boards").json()[0]["slug"] == "tiny-cpu"
    for secret in ("secrets.json", "season-secret", "token"):
        assert (stack.var / secret).stat().st_mode & 0o777 == 0o600
    if os.geteuid() == 0:
        owners = {name: Path(f"/proc/{pid}").stat().st_uid for name, pid in stack.pids().items()}
        assert owners["worker"] == 0
        assert 0 not in {owners[name] for name in ("api", "postgres", "valkey")}
        assert len({owners[name] for name in ("api", "postgres", "valkey")}) == 3

    before = stack.pids()
    os.kill(before["api"], signal.SIGKILL)
    os.kill(before["valkey"], signal.SIGKILL)
    assert within(60, lambda: stack.pids()["api"] != before["api"]), stack.said()
    assert within(30, lambda: _answers(stack)), stack.said()

    began = time.monotonic()
    assert stack.down() == "stopped; the data stay\n"
    assert supervisor.wait(5) == 0
    assert time.monotonic() - began < 40
    assert stack.left_over() == []
    assert "Traceback" not in stack.log.read_text()


def test_a_second_start_keeps_data_keys_and_address(stack: Stack) -> None:
    keys, address = (stack.var / "secrets.json").read_bytes(), stack.status()["address"]
    supervisor = stack.up()
    assert (stack.var / "secrets.json").read_bytes() == keys
    assert stack.status()["address"] == address
    assert len(stack.get("/api/v1/boards").json()) == 1
    again = subprocess.run(stack.command("up"), capture_output=True, text=True, check=False, cwd=PROJECT)
    assert again.returncode == 0
    assert "Already running" in again.stdout

    os.kill(supervisor.pid, signal.SIGKILL)
    supervisor.wait()
    assert within(30, lambda: stack.left_over() == []), stack.left_over()
    assert stack.down() == "nothing is running\n"


def _answers(stack: Stack) -> bool:
    try:
        return stack.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False
