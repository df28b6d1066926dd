"""What is on hold counts nowhere, and every place says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.models import Board
from tests.app.conftest import BOARD, Stage
from tests.factories import portal_data
from tests.factories.judged_reports import Kernel
from tests.factories.portal_data import START, Entrant, everywhere

pytestmark = [pytest.mark.database, pytest.mark.queue]
API = "/api/v1"
TOO_FAST = Kernel(0.8, beyond=frozenset(range(1, 8)))
"""More than 5 % of its cases are faster than the limit."""


@pytest.fixture(scope="module")
def own(stage: Stage) -> str:
    """A published submission of which one operator is on hold."""
    suite = portal_data.small_suite()
    entrant = Entrant("ada", "Too fast", "", "", "cpp", everywhere(suite, 0.5, exp=TOO_FAST))
    with stage.owner.session() as session:
        board = session.scalars(select(Board)).one()
        return portal_data.publish(session, board, suite, entrant, 1, START + timedelta(days=1)).public_id


def get(stage: Stage, path: str, **params: Any) -> Any:
    answer = stage.http.get(API + path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_result_list_board_and_citation_give_one_total_without_it(stage: Stage, own: str) -> None:
    result = get(stage, f"/results/{own}")
    by_name = {operator["operator"]: operator for operator in result["operators"]}
    assert by_name["exp"]["publication"] == "held"
    (row,) = get(stage, f"/boards/{BOARD}/standings")["rows"]
    (listed,) = get(stage, "/submissions")["submissions"]
    counting = sum(operator["score"] for name, operator in by_name.items() if name != "exp")
    assert result["total"] == row["total"] == listed["total"] == pytest.approx(counting)
    assert result["levels"] == row["levels"]
    assert result["solved"] == row["solved"] == 7
    assert result["held_total"] == by_name["exp"]["score"] > 75
    for cited in (result["citation"]["text"], result["citation"]["bibtex"]):
        assert f"total score {row['total']:.1f} (1 operator on hold)" in cited


def test_the_row_names_what_is_held_from_the_day_it_was_judged(stage: Stage, own: str) -> None:
    (row,) = get(stage, f"/boards/{BOARD}/standings")["rows"]
    assert (row["held"], "exp" in row["operators"]) == (["exp"], False)
    assert (row["attempts"], row["submission"]) == (1, own)
    assert get(stage, f"/boards/{BOARD}/standings", as_of=START.isoformat())["rows"] == []
    (then,) = get(stage, f"/boards/{BOARD}/standings", as_of=(START + timedelta(days=2)).isoformat())["rows"]
    assert (then["held"], then["attempts"]) == (["exp"], 1)


def test_both_pages_say_on_hold(stage: Stage, own: str) -> None:
    html = {"Accept": "text/html"}
    page = stage.http.get(f"/submissions/{own}", headers=html).text
    assert "more points (exp) are on hold: they count neither here nor on the board" in page
    board = stage.http.get(f"/boards/{BOARD}", headers=html).text
    assert "exp, Too fast: on hold" in board
    assert ">on hold<" in board
    assert "exp, Too fast: not attempted" not in board


def test_a_result_without_anything_on_hold_has_no_word_of_it(stage: Stage) -> None:
    suite = portal_data.small_suite()
    entrant = Entrant("lin", "Honest", "", "", "cpp", everywhere(suite, 0.5))
    with stage.owner.session() as session:
        board = session.scalars(select(Board)).one()
        other = portal_data.publish(session, board, suite, entrant, 2, START + timedelta(days=3)).public_id
    result = get(stage, f"/results/{other}")
    assert result["held_total"] is None
    assert "on hold" not in result["citation"]["text"]
    assert "are on hold" not in stage.http.get(f"/submissions/{other}", headers={"Accept": "text/html"}).text
