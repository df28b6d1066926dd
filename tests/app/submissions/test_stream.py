"""Waiting for a submission: long poll and server-sent events."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from app.runs import service as runs
from app.submissions.happenings import Happening
from tests.app.conftest import Stage
from tests.factories.leases import claim, fail_thrice

pytestmark = [pytest.mark.database, pytest.mark.queue]


def blocks(response: httpx.Response) -> Iterator[dict[str, str]]:
    """Server-sent events one by one; comments are left out."""
    block: dict[str, str] = {}
    for line in response.iter_lines():
        if line and not line.startswith(":"):
            key, _, value = line.partition(": ")
            block[key] = value
        elif block:
            yield block
            block = {}


def test_a_long_poll_answers_as_soon_as_the_submission_is_settled(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    headers = stage.headers()
    cancel = threading.Timer(0.6, lambda: stage.http.post(f"/api/v1/submissions/{own}/cancel", headers=headers))
    began = time.monotonic()
    cancel.start()
    view = stage.http.get(f"/api/v1/submissions/{own}", params={"wait": 20}).json()
    took = time.monotonic() - began
    cancel.join()
    assert view["status"] == "cancelled"
    assert 0.5 < took < 4.0


def test_a_long_poll_gives_up_in_time_and_a_settled_one_does_not_wait(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    began = time.monotonic()
    assert stage.http.get(f"/api/v1/submissions/{own}", params={"wait": 0.7}).json()["status"] == "queued"
    assert time.monotonic() - began > 0.6
    stage.http.post(f"/api/v1/submissions/{own}/cancel", headers=stage.headers())
    began = time.monotonic()
    stage.http.get(f"/api/v1/submissions/{own}", params={"wait": 20})
    assert time.monotonic() - began < 3


def test_waiting_holds_no_thread_and_no_connection(stage: Stage) -> None:
    """More waiters than threads and pooled connections together, and the portal still answers."""
    own = stage.submit().json()["id"]
    limits = httpx.Limits(max_connections=90)
    with httpx.Client(base_url=stage.http.base_url, timeout=30, limits=limits) as http:
        threads = [
            threading.Thread(target=http.get, args=(f"/api/v1/submissions/{own}",), kwargs={"params": {"wait": 6}})
            for _ in range(70)
        ]
        for thread in threads:
            thread.start()
        time.sleep(2.5)
        began = time.monotonic()
        assert stage.http.get("/healthz").status_code == 200
        assert time.monotonic() - began < 1.5
        stage.http.post(f"/api/v1/submissions/{own}/cancel", headers=stage.headers())
        for thread in threads:
            thread.join()


def test_events_tell_the_whole_way_live_and_end_with_the_outcome(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    told: list[dict[str, str]] = []

    def judge() -> None:
        lease = claim(stage, own)
        for kind, data in [
            (Happening.BUILDING, {}),
            (Happening.LOG, {"text": "g++ \x1b[31m exp.cpp"}),
            (Happening.PUBLIC_CASES, {"done": 96, "total": 160}),
            (Happening.HIDDEN_CASES, {"position": 5, "total": 8}),
        ]:
            with stage.worker.session() as session:
                runs.record_progress(session, lease, kind, datetime.now(UTC), data)
        with stage.worker.session() as session:
            runs.fail(session, lease, datetime.now(UTC), "the disk is full")
        for _ in range(runs.MAX_ATTEMPTS - 1):
            lease = claim(stage, own)
            with stage.worker.session() as session:
                runs.fail(session, lease, datetime.now(UTC), "the disk is full")

    with stage.http.stream("GET", f"/api/v1/submissions/{own}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        worker = threading.Thread(target=judge)
        worker.start()
        told = list(blocks(response))
        worker.join()
    kinds = [block["event"] for block in told]
    assert kinds[:2] == ["received", "queued"]
    assert "position" in kinds
    assert kinds[-2:] == ["failed", "settled"]
    assert {"started", "building", "public_cases", "hidden", "retrying"} <= set(kinds)
    assert "disk is full" not in str(told), "our own error text is for admins"
    ids = [int(block["id"]) for block in told if "id" in block]
    assert ids == sorted(set(ids))

    after = {"Last-Event-ID": str(ids[-2])}
    with stage.http.stream("GET", f"/api/v1/submissions/{own}/events", headers=after) as response:
        assert [block["event"] for block in blocks(response)] == ["failed", "settled"]


def test_a_failed_submission_says_that_it_is_our_fault_and_the_log_shows_only_public_things(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    fail_thrice(stage, own)
    view = stage.http.get(f"/api/v1/submissions/{own}").json()
    assert view["status"] == "failed"
    assert "not your code" in view["message"]
    assert "disk" not in view["message"]
    assert view["links"]["result"] is None
    log = stage.http.get(f"/api/v1/submissions/{own}/log")
    assert log.headers["content-type"].startswith("text/plain")
    assert "attempt 2 of 3 follows" in log.text
    assert "disk" not in log.text
