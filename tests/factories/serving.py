"""Serves the portal with the real server: in a thread of the test process, or as a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

from app.settings import AppSettings
from local_stack.programs import API_MEMORY, API_OPTIONS

READY_S = 30.0


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The app's address on a free port of this machine while the block runs."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=3))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + READY_S
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server is not ready"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=READY_S)
        listener.close()


@contextmanager
def portal_process(settings: AppSettings, log: Path) -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    """The portal as its own process with the stack's options, its output in `log`; stopped in good order afterwards."""
    environment = {
        "HAPBOARD_DATABASE_URL": settings.database_url,
        "HAPBOARD_BROKER_URL": settings.broker_url,
        "HAPBOARD_STORAGE_DIR": str(settings.storage_dir),
        "HAPBOARD_MAX_UPLOAD_BYTES": str(settings.max_upload_bytes),
        "HAPBOARD_SECRET_KEY": settings.secret_key.get_secret_value(),
    }
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "app.main:create_app", "--port", str(port), *API_OPTIONS]
    with log.open("wb") as output:
        running = subprocess.Popen(
            command, env={**os.environ, **environment, **API_MEMORY}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            _wait_until_ready(http)
            yield http, running
        running.terminate()
        assert running.wait(timeout=20) in {0, -signal.SIGTERM}
    finally:
        running.kill()
        running.wait()


def _wait_until_ready(http: httpx.Client) -> None:
    deadline = time.monotonic() + 2 * READY_S
    while True:
        try:
            assert http.get("/healthz").status_code == 200
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the portal is not ready within a minute"
            time.sleep(0.1)
        else:
            return
