"""A portal whose board is filled, and a reader of its pages."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.factories import portal_data


@pytest.fixture(scope="module")
def filled(stage) -> Iterator[object]:
    """The stage with all usual entrants published, one submission running and one queued."""
    suite = portal_data.small_suite()
    with stage.owner.session() as session:
        board = portal_data.add_board(session, suite, stage.storage)
        portal_data.fill(session, board, suite)
        entrants = portal_data.usual_entrants(suite)
        portal_data.add_submission(session, board, entrants[1], 41, portal_data.START)
        portal_data.start(session, board, portal_data.START, cases_done=96)
        portal_data.add_submission(session, board, entrants[2], 42, portal_data.START, note="A wider <tile>.")
    return stage


@pytest.fixture
def reader(filled) -> Iterator[httpx.Client]:
    """Somebody who only reads."""
    address = str(filled.http.base_url)
    with httpx.Client(base_url=address, headers={"Accept": "text/html"}, timeout=30) as client:
        yield client


@pytest.fixture
def submitter(filled) -> Iterator[httpx.Client]:
    """Ada, signed in by her token."""
    address = str(filled.http.base_url)
    with httpx.Client(base_url=address, headers={"Accept": "text/html"}, timeout=30, follow_redirects=True) as client:
        client.post("/sign-in", data={"token": filled.token("ada"), "next": "/queue"})
        yield client
