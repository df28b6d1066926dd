"""An operator's public cases and their anchors, before and after a first run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.models import Board
from tests.app.conftest import BOARD, Stage
from tests.app.web.markup import Page
from tests.factories import portal_data
from tests.factories.portal_data import START, Entrant, everywhere

pytestmark = [pytest.mark.database, pytest.mark.queue]
UNMEASURED = "not measured yet"


def cases(stage: Stage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.http.get("/api/v1/operators/exp/cases").json()["cases"]
    return found


def page(stage: Stage) -> str:
    return stage.http.get(f"/boards/{BOARD}/operators/exp", headers={"Accept": "text/html"}).text


def test_a_baseline_is_shown_as_a_time_only_once_a_run_has_measured_it(stage: Stage) -> None:
    assert {case["baseline_provenance"] for case in cases(stage)} == {"derived"}
    before = page(stage)
    assert before.count(UNMEASURED) == 20
    assert "measured by the first run that plays its case" in before
    suite = portal_data.small_suite()
    with stage.owner.session() as session:
        board = session.scalars(select(Board)).one()
        entrant = Entrant("ada", "First", "", "", "cpp", everywhere(suite, 0.4))
        portal_data.publish(session, board, suite, entrant, 1, START + timedelta(days=1))
    measured = cases(stage)
    assert {case["baseline_provenance"] for case in measured} == {"measured"}
    assert all(case["limit_us"] < case["baseline_us"] for case in measured)
    after = page(stage)
    assert UNMEASURED not in after
    assert "measured by the first run" not in after
    assert Page(after).faults == []
