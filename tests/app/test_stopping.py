"""The server is told to stop while requests are open: each ends cleanly, and nothing of it looks like a fault."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from app.settings import AppSettings
from tests.app.conftest import Stage
from tests.factories.serving import portal_process

pytestmark = [pytest.mark.database, pytest.mark.queue]

FAULTY = ("Traceback", "CancelledError", "Exception in", '"level": "error"', "graceful shutdown exceeded")


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_waiting_requests_are_answered_when_the_server_stops(
    stage: Stage, app_settings: AppSettings, tmp_path: Path, number: signal.Signals
) -> None:
    own = stage.submit().json()["id"]
    log = tmp_path / "api.log"

    with portal_process(app_settings, log) as (http, running), ThreadPoolExecutor(8) as pool:
        polls = [pool.submit(http.get, f"/api/v1/submissions/{own}", params={"wait": 25}) for _ in range(4)]
        streams = [pool.submit(http.get, f"/api/v1/submissions/{own}/events") for _ in range(3)]
        time.sleep(1.5)
        running.send_signal(number)
        assert running.wait(10) in {0, -number}
        assert {(poll.result().status_code, poll.result().json()["status"]) for poll in polls} == {(200, "queued")}
        for stream in streams:
            assert "event: queued" in stream.result().text
            assert "event: settled" not in stream.result().text
    said = log.read_text()
    assert [word for word in FAULTY if word in said] == [], said


def test_an_upload_that_takes_too_long_is_told_that_the_server_stops(
    stage: Stage, app_settings: AppSettings, tmp_path: Path
) -> None:
    files, log = stage.kept_files(), tmp_path / "api.log"

    def slowly() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="x.tar"\r\n\r\n'
        for _ in range(300):
            yield b"x"
            time.sleep(0.05)

    headers = {**stage.headers(), "Content-Type": "multipart/form-data; boundary=b"}
    with portal_process(app_settings, log) as (http, running), ThreadPoolExecutor(1) as pool:
        upload = pool.submit(lambda: http.post("/api/v1/submissions", content=slowly(), headers=headers))
        time.sleep(1.0)
        running.terminate()
        assert running.wait(10) in {0, -signal.SIGTERM}
        try:
            answer = upload.result()
        except httpx.TransportError:
            answer = None  # the connection ended while it still sent
    assert answer is None or (answer.status_code, answer.json()["title"]) == (503, "Stopping")
    said = log.read_text()
    assert [word for word in FAULTY[:3] if word in said] == [], said
    assert stage.kept_files() == files
