"""Handing in, looking and cancelling over HTTP."""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import func, select

from app.models import Artifact, OutboxMessage, Run, Submission
from tests.app.conftest import BOARD, GOOD_ARCHIVE, Stage, tar_of

pytestmark = [pytest.mark.database, pytest.mark.queue]


def count(stage: Stage, table: type) -> int:
    with stage.owner.session() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_a_good_upload_is_accepted_with_its_address(stage: Stage) -> None:
    answer = stage.submit(model="orca", harness="loop", note="first try")
    assert answer.status_code == 202, answer.text
    view = answer.json()
    assert answer.headers["location"] == f"http://board.example/api/v1/submissions/{view['id']}"
    assert view["id"].startswith("HB-LOCAL-")
    assert view["status"] == "queued"
    assert view["artifact_sha256"] == hashlib.sha256(GOOD_ARCHIVE).hexdigest()
    assert view["entry"]["agent"] == "Smith"
    assert [step["name"] for step in view["steps"] if step["state"] == "done"] == ["received"]
    stored = stage.storage / "sha256" / view["artifact_sha256"][:2] / view["artifact_sha256"]
    assert stored.read_bytes() == GOOD_ARCHIVE
