"""Boards, results, operators, queue and workers over HTTP; and that nothing hidden gets out."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.lifecycle import RunStatus
from app.models import Board, CaseResult, HiddenCaseResult, Run, Submission
from kernel_eval.model import Verdict
from tests.app.conftest import BOARD, Stage
from tests.factories import portal_data
from tests.factories.judged_reports import Kernel
from tests.factories.portal_data import START, everywhere

pytestmark = [pytest.mark.database, pytest.mark.queue]
API = "/api/v1"


@pytest.fixture(scope="module")
def full(stage: Stage) -> Stage:
    """The stage with five entries judged and published, a day apart."""
    suite = portal_data.small_suite()
    with stage.owner.session() as session:
        board = session.scalars(select(Board)).one()
        for number, entrant in enumerate(portal_data.usual_entrants(suite), start=1):
            portal_data.publish(session, board, suite, entrant, number, START + timedelta(days=number))
    return stage


def get(stage: Stage, path: str, **params: Any) -> Any:
    answer = stage.http.get(API + path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_board_says_what_it_pins(full: Stage) -> None:
    (board,) = get(full, "/boards")
    assert board == get(full, f"/boards/{BOARD}")
    assert board["suite"] == "cann-bench-small"
    assert len(board["suite_digest"]) == 64
    assert board["hidden_digest"]
    assert board["level_maxima"] == {"L1": 800.0}
    assert board["entries"] == 5
    assert board["fingerprint"]


def test_standings_are_ranked_with_baseline_and_limit_pinned(full: Stage) -> None:
    view = get(full, f"/boards/{BOARD}/standings")
    assert [(row["kind"], row["total"]) for row in view["pinned"]] == [("limit", 800.0), ("baseline", 600.0)]
    totals = [row["total"] for row in view["rows"]]
    assert totals == sorted(totals, reverse=True)
    assert [row["rank"] for row in view["rows"]] == [1, 2, 3, 4, 5]
    first = view["rows"][0]
    assert first["entry"]["agent"] == "KernelSmith"
    assert first["total"] == pytest.approx(sum(place["score"] for place in first["operators"].values()), abs=0.11)
    assert first["attempts"] == 1
    assert any("provisional" in row["badges"] for row in view["rows"])


def test_paging_gives_the_same_rows_once_each(full: Stage) -> None:
    whole = [row["entry"]["id"] for row in get(full, f"/boards/{BOARD}/standings")["rows"]]
    paged: list[int] = []
    params: dict[str, Any] = {"limit": 2}
    while True:
        view = get(full, f"/boards/{BOARD}/standings", **params)
        paged += [row["entry"]["id"] for row in view["rows"]]
        if view["next_cursor"] is None:
            break
        params["cursor"] = view["next_cursor"]
    assert paged == whole


def test_filters_and_the_board_as_of_a_date(full: Stage) -> None:
    path = f"/boards/{BOARD}/standings"
    assert {row["entry"]["dsl"] for row in get(full, path, dsl="triton")["rows"]} == {"triton"}
    only = get(full, path, operator="exp")
    assert all(set(row["operators"]) == {"exp"} for row in only["rows"])
    assert only["pinned"][1]["total"] == 75.0
    early = get(full, path, as_of=(START + timedelta(days=2, hours=12)).isoformat())
    assert len(early["rows"]) == 2
    assert get(full, path, as_of="2020-01-01T00:00:00")["rows"] == []
    assert full.http.get(API + path, params={"level": "L9"}).status_code == 422
    assert full.http.get(API + path, params={"operator": "nope"}).status_code == 404
    assert full.http.get(API + path, params={"cursor": "%%"}).status_code == 422
    assert full.http.get(f"{API}/boards/nope/standings").status_code == 404


def test_page_api_and_export_agree_on_the_order(full: Stage) -> None:
    rows = get(full, f"/boards/{BOARD}/standings")["rows"]
    text = full.http.get(f"{API}/boards/{BOARD}/standings.csv")
    assert text.headers["content-type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(text.text)))
    assert [(line["rank"], line["entry"], float(line["total"])) for line in lines] == [
        (str(row["rank"]), row["entry"]["name"], row["total"]) for row in rows
    ]


def test_an_unchanged_board_is_not_sent_again(full: Stage) -> None:
    path = f"{API}/boards/{BOARD}/standings"
    etag = full.http.get(path).headers["etag"]
    again = full.http.get(path, headers={"If-None-Match": etag})
    assert again.status_code == 304
    assert again.content == b""
    assert full.http.get(path, params={"limit": 1}, headers={"If-None-Match": etag}).status_code == 200


def test_an_operators_ranking_is_by_its_own_score(full: Stage) -> None:
    view = get(full, f"/boards/{BOARD}/operators/exp/standings")
    scores = [row["score"] for row in view["rows"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 5
    assert full.http.get(f"{API}/boards/{BOARD}/operators/nope/standings").status_code == 404


def test_a_result_tells_everything_that_may_be_told(full: Stage) -> None:
    own = get(full, f"/boards/{BOARD}/standings")["rows"][0]["submission"]
    view = get(full, f"/results/{own}")
    assert view["id"] == own
    assert view["url"] == f"http://board.example/results/{own}"
    assert view["citation"]["bibtex"].startswith("@misc{")
    assert len(view["artifact_sha256"]) == 64
    assert view["environment"]["torch"]
    assert view["total"] == pytest.approx(sum(view["levels"].values()))
    operator = view["operators"][0]
    points = operator["compile_points"] + operator["correct_points"] + operator["performance_points"]
    assert points == pytest.approx(operator["score"], abs=0.06)
    assert len(operator["cases"]) == 20
    assert operator["cases"][0]["samples_us"]
    assert operator["hidden_correct_percent"] == 100
    lines = list(csv.DictReader(io.StringIO(full.http.get(f"{API}/results/{own}.csv").text)))
    assert len(lines) == 160
    assert full.http.get(f"{API}/results/{own}-r2").status_code == 404


def test_a_wrong_case_shows_its_worst_element(full: Stage) -> None:
    rows = get(full, f"/boards/{BOARD}/standings")["rows"]
    own = next(row["submission"] for row in rows if row["entry"]["agent"] == "Tilewright")
    mish = next(entry for entry in get(full, f"/results/{own}")["operators"] if entry["operator"] == "mish")
    wrong = next(case for case in mish["cases"] if case["verdict"] == "wrong_values")
    assert wrong["worst"] == {"output": 0, "tensor": 0, "index": 1041, "golden": "0.5", "found": "0.25"}


def test_operators_with_their_public_cases_and_anchors(full: Stage) -> None:
    names = [entry["name"] for entry in get(full, "/operators")]
    assert len(names) == 8
    exp = get(full, "/operators/exp")
    assert exp["desc_en"]
    assert exp["desc_zh"]
    assert exp["public_cases"] == 20
    cases = get(full, "/operators/exp/cases")["cases"]
    assert [case["case_id"] for case in cases] == list(range(1, 21))
    assert full.http.get(f"{API}/operators/GELU").json()["detail"].startswith("There is no operator 'GELU'.")
    elsewhere = full.http.get(f"{API}/operators/gelu", params={"suite": "other"}).json()["detail"]
    assert elsewhere.startswith("Suite 'other' has no operator 'gelu'.")
    assert get(full, "/operators", suite="other") == []


def test_workers_and_the_queue_are_seen(full: Stage) -> None:
    (worker,) = get(full, "/workers")["workers"]
    assert worker["name"] == "eval-1"
    assert worker["alive"]
    (queue,) = get(full, "/queue")["queues"]
    assert queue["hardware"] == "cpu"
    assert queue["median_run_s"] == 250
    private = full.submit(mode="practice", visibility="private").json()
    waiting = get(full, "/queue")["queues"][0]["waiting"]
    assert [entry["submission"] for entry in waiting] == [None]
    shown = full.submit().json()
    assert shown["wait"]["position"] == 2
    assert shown["wait"]["expected_low_s"] == 500
    assert private["id"] not in json.dumps(get(full, "/queue"))
    for own in (private["id"], shown["id"]):
        assert full.http.post(f"{API}/submissions/{own}/cancel", headers=full.headers()).status_code == 200


def test_health_and_entries(full: Stage) -> None:
    assert full.http.get("/healthz").json()["status"] == "ok"
    entry = get(full, f"/boards/{BOARD}/standings")["rows"][0]["entry"]
    assert get(full, f"/entries/{entry['id']}") == entry
    history = get(full, f"/entries/{entry['id']}/history")
    assert len(history["changes"]) == 8
    assert {change["reason"] for change in history["changes"]} == {"first score"}
    for path in ("999999", "999999/history", "99999999999999999999"):
        assert full.http.get(f"{API}/entries/{path}").status_code in {404, 422}


def everything_told(stage: Stage) -> str:
    """Every answer that anybody can get, headers included."""
    with stage.owner.session() as session:
        query = select(Submission.public_id).join(Run).where(Run.status == RunStatus.FINISHED)
        ids = list(session.scalars(query))
        names = sorted(set(session.scalars(select(CaseResult.operator))))
    paths = [
        "/boards",
        f"/boards/{BOARD}/standings",
        f"/boards/{BOARD}/standings.csv",
        "/queue",
        "/workers",
        "/operators",
    ]
    paths += [f"/boards/{BOARD}/operators/{name}/standings" for name in names]
    paths += [f"/operators/{name}{end}" for name in names for end in ("", "/cases")]
    for own in ids:
        paths += [f"/submissions/{own}{end}" for end in ("", "/log", "/events")] + [
            f"/results/{own}",
            f"/results/{own}.csv",
        ]
    answers = [stage.http.get(API + path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(f"{answer.headers} {answer.text}" for answer in answers)


def test_no_answer_holds_a_figure_of_a_hidden_case(full: Stage) -> None:
    told = everything_told(full)
    with full.owner.session() as session:
        columns = (HiddenCaseResult.candidate_us, HiddenCaseResult.hap, HiddenCaseResult.candidate_mad_us)
        rows = session.execute(select(*columns).where(HiddenCaseResult.candidate_us.is_not(None))).all()
    assert len(rows) > 1000
    counted = Counter(value for row in rows for value in row if value is not None)
    figures = {value for value, times in counted.items() if times == 1}
    assert len(figures) > 3000
    numbers = set(json_numbers(told))
    assert len(numbers) > 3000
    assert figures & numbers == set()


def json_numbers(text: str) -> Iterator[float]:
    """Every number with a fraction that stands in the text."""
    for word in text.replace(",", " ").replace("]", " ").replace("}", " ").replace(":", " ").replace("[", " ").split():
        if "." in word:
            try:
                yield float(word)
            except ValueError:
                continue


def test_what_fails_on_hidden_cases_alone_is_told_by_a_coarse_count(full: Stage) -> None:
    suite = portal_data.small_suite()
    hidden_only = Kernel(0.5, {30: Verdict.CRASHED, 40: Verdict.WRONG_VALUES})
    entrant = portal_data.Entrant("zed", "Hidden fault", "", "", "cpp", everywhere(suite, 0.5, exp=hidden_only))
    with full.owner.session() as session:
        board = session.scalars(select(Board)).one()
        own = portal_data.publish(session, board, suite, entrant, 90, START + timedelta(days=9)).public_id
    view = get(full, f"/results/{own}")
    exp = next(operator for operator in view["operators"] if operator["operator"] == "exp")
    assert (exp["public_passed"], exp["hidden_correct_percent"], exp["solved"]) == (20, 95, False)
    assert (exp["verdict"], view["verdict"]) == ("hidden_failed", "hidden_failed")
    ranked = get(full, f"/boards/{BOARD}/standings")["rows"]
    row = next(row for row in ranked if row["submission"] == own)
    assert {
        name: placed["verdict"] for name, placed in row["operators"].items() if placed["verdict"] != "accepted"
    } == {"exp": "hidden_failed"}
    page = full.http.get(f"/submissions/{own}", headers={"Accept": "text/html"}).text
    assert page.count("fails hidden cases") == 1
    assert "test the corners that the public cases leave out" in page
    assert {field for field in exp if "hidden" in field} == {"hidden_correct_percent", "hidden_total"}
    assert "crashed" not in json.dumps(view)
    assert "wrong_values" not in json.dumps(view)
    assert "SIGSEGV" not in full.http.get(f"{API}/submissions/{own}/log").text
