"""People choose names: none of them breaks a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.models import Board
from local_stack.valkey import Valkey
from tests.app.conftest import Stage
from tests.e2e.conftest import PHONE, WIDE, OpenPage
from tests.factories import portal_data
from tests.factories.filled_portal import filled_portal
from tests.factories.portal_data import START, Entrant, everywhere
from tests.factories.servers import DatabaseFactory

pytestmark = [pytest.mark.browser, pytest.mark.database, pytest.mark.queue]

BOARD = "/boards/cann-bench-small-cpu"
NUMBER = 300
LONGEST = "W" * 80
"""The longest and widest name that the form takes, without a place to break it."""


@pytest.fixture(scope="module")
def filled(
    database_factory: DatabaseFactory, valkey_server: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A portal of this module's own, on which an entry stands whose every name is as long as may be."""
    suite = portal_data.small_suite()
    entrant = Entrant(LONGEST, LONGEST, LONGEST, LONGEST, "cpp", everywhere(suite, 0.3))
    with filled_portal(database_factory, valkey_server.url, tmp_path_factory.mktemp("storage")) as portal:
        with portal.owner.session() as session:
            board = session.scalars(select(Board)).one()
            portal_data.publish(session, board, suite, entrant, NUMBER, START - timedelta(days=1))
        yield portal


@pytest.mark.parametrize("size", [PHONE, WIDE], ids=["phone", "wide"])
def test_no_page_scrolls_sideways_for_a_name(open_page: OpenPage, size: tuple[int, int]) -> None:
    page = open_page(BOARD, size=size)
    wide = []
    for path in (
        BOARD,
        f"{BOARD}/operators/exp",
        f"/submissions/HB-DEMO-2026-{NUMBER:06d}",
        "/queue",
        f"{BOARD}?q={LONGEST}",
    ):
        page.goto(path)
        content, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if content > screen:
            wide.append((path, content))
        assert LONGEST in page.content() or path == "/queue"
    assert wide == []
