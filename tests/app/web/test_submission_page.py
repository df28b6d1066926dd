"""A submission's page while it waits, runs, and is published."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from app.models import Mode, Visibility
from app.runs.schemas import ResultView
from app.web.site import breakable
from app.web.views.submission import inconclusive
from tests.app.web.markup import Page
from tests.factories import portal_data

pytestmark = [pytest.mark.database, pytest.mark.queue]


def get(client: httpx.Client, path: str) -> Page:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def steps(page: Page) -> list[tuple[str, str]]:
    found = [e for e in page.all("li") if e.inside[-1] == "ol" and e.attributes.get("class")]
    return [(" ".join(e.text.split()), e.attributes["class"]) for e in found]


def test_a_running_submission_shows_how_far_it_is(reader: httpx.Client) -> None:
    found = steps(get(reader, "/submissions/HB-DEMO-2026-000041"))
    assert [state for _, state in found] == ["done", "done", "done", "now", "todo", "todo"]
    assert found[3][0].startswith("Public cases 96 of 160")


def test_a_queued_one_shows_its_position_and_escapes_its_note(reader: httpx.Client) -> None:
    answer = reader.get("/submissions/HB-DEMO-2026-000042")
    assert steps(Page(answer.text))[1][0].startswith("Queued position 1")
    assert "A wider &lt;tile&gt;." in answer.text


def test_the_changing_part_is_served_alone(reader: httpx.Client) -> None:
    answer = reader.get("/submissions/HB-DEMO-2026-000041/status")
    page = Page(answer.text)
    assert next(page.all("div")).attributes["data-settled"] == "false"
    assert not list(page.all("html"))
    assert "build ended after 18.4 s" in answer.text


def test_a_published_one_shows_axes_strip_failures_hidden_summary_and_citation(reader: httpx.Client) -> None:
    page = get(reader, "/submissions/HB-DEMO-2026-000002")
    assert {state for _, state in steps(page)} == {"done"}
    assert sum(e.attributes.get("class") == "three-axis" for e in page.all("svg")) == 8
    assert sum(e.attributes.get("class") == "case-strip" for e in page.all("svg")) == 8
    mish = next(e.text for e in page.all("details") if e.attributes.get("id") == "mish")
    assert "output 0 is float16, the case declares float32. Cast inside your kernel." in mish
    assert "About 95 % of the 80 hidden cases are correct; operator score" in mish
    assert "@misc{hbdemo2026000002" in page.source
    assert "http://board.example/results/HB-DEMO-2026-000002" in page.source


def test_a_result_from_an_unsteady_host_is_called_inconclusive(reader: httpx.Client) -> None:
    said = "half of a control kernel's times lay within ± 5.0 % of their median"
    notes = [
        e for e in get(reader, "/submissions/HB-DEMO-2026-000002").all("p") if "ours" in e.attributes.get("class", "")
    ]
    assert [said in note.text for note in notes] == [True]
    assert "nconclusive" not in get(reader, "/submissions/HB-DEMO-2026-000001").source
    unsteady, steady = (reader.get(f"/api/v1/results/HB-DEMO-2026-{number:06d}").json() for number in (2, 1))
    assert (unsteady["inconclusive"], unsteady["control_spread"]) == (True, pytest.approx(0.05))
    assert (steady["inconclusive"], steady["control_spread"]) == (False, pytest.approx(0.1 / 21))


@pytest.mark.parametrize(
    ("spread", "unsure", "said"),
    [(0.01, False, ""), (None, False, ""), (0.031, True, "within ± 3.1 %"), (None, True, "too few cases")],
)
def test_only_an_inconclusive_result_says_why(spread: float | None, unsure: bool, said: str) -> None:
    result = ResultView.model_construct(control_spread=spread, inconclusive=unsure)
    found = inconclusive(result, lambda text: text)
    assert said in found
    assert bool(found) == bool(said)


def test_a_failed_build_shows_the_reason_the_log_and_what_to_do(reader: httpx.Client) -> None:
    page = get(reader, "/submissions/HB-DEMO-2026-000003")
    gelu = next(e.text for e in page.all("details") if e.attributes.get("id") == "gelu")
    assert "error: expected ';' before 'return' at csrc/gelu.cpp:41" in gelu
    assert "ninja: build stopped" in gelu
    assert "the log excerpt shows its last lines" in gelu


def test_a_case_above_the_limit_is_shown_uncapped_and_flagged(reader: httpx.Client) -> None:
    page = get(reader, "/submissions/HB-DEMO-2026-000004")
    assert "Under review" in page.source
    exp = next(e for e in page.all("details") if e.attributes.get("id") == "exp")
    assert "faster than the limit (#4)" in exp.text
    assert any(e.attributes.get("class") == "dot hap-over" for e in page.all("circle"))


def test_a_result_has_its_own_lasting_address(reader: httpx.Client) -> None:
    page = get(reader, "/results/HB-DEMO-2026-000001")
    assert "KernelSmith" in page.source
    exp = next(e.text for e in page.all("details") if e.attributes.get("id") == "exp")
    assert "unstable timing (#6): the times of the processes lie far apart" in " ".join(exp.split())
    assert reader.get("/results/HB-DEMO-2026-000041").status_code == 404


def test_a_private_submission_is_its_owners_alone(filled, reader: httpx.Client, submitter: httpx.Client) -> None:
    entrant = portal_data.usual_entrants(portal_data.small_suite())[1]
    with filled.owner.session() as session:
        board = portal_data.add_board(session, portal_data.small_suite(), filled.storage)
        portal_data.add_submission(
            session, board, entrant, 77, datetime.now(UTC), mode=Mode.PRACTICE, visibility=Visibility.PRIVATE
        )
    assert reader.get("/submissions/HB-DEMO-2026-000077").status_code == 404
    own = get(submitter, "/submissions/HB-DEMO-2026-000077")
    assert "Practice" in own.source
    assert len(steps(own)) == 5
    queue = reader.get("/queue").text
    assert "HB-DEMO-2026-000077" not in queue
    assert "private" in queue


def test_the_owner_cancels_and_nobody_else_can(filled, reader: httpx.Client, submitter: httpx.Client) -> None:
    entrant = portal_data.usual_entrants(portal_data.small_suite())[1]
    with filled.owner.session() as session:
        board = portal_data.add_board(session, portal_data.small_suite(), filled.storage)
        portal_data.add_submission(session, board, entrant, 78, datetime.now(UTC))
    path = "/submissions/HB-DEMO-2026-000078"
    assert "Cancel this submission" not in get(reader, path).source
    own = get(submitter, path)
    token = next(e.attributes["value"] for e in own.all("input") if e.attributes["name"] == "csrf_token")
    assert reader.post(f"{path}/cancel", data={"csrf_token": token}).status_code == 401
    assert submitter.post(f"{path}/cancel", data={"csrf_token": "wrong"}).status_code == 403
    done = submitter.post(f"{path}/cancel", data={"csrf_token": token})
    assert done.status_code == 200
    outcome, state = steps(Page(done.text))[-1]
    assert outcome.startswith("Cancelled ")
    assert state == "stopped"


def test_a_long_operator_name_may_go_on_behind_its_underscores_alone(reader: httpx.Client) -> None:
    assert breakable("foreach_<norm>_2") == "foreach_<wbr>&lt;norm&gt;_<wbr>2"
    page = get(reader, "/submissions/HB-DEMO-2026-000001")
    names = [e.text for e in page.all("span") if e.attributes.get("class") == "operator-name"]
    assert "foreach_addcdiv_scalar" in names
