"""HEAD answers as GET does, without the body."""

from __future__ import annotations

import pytest

from tests.app.conftest import BOARD, Stage

pytestmark = [pytest.mark.database, pytest.mark.queue]
PATHS = (
    "/healthz",
    "/api/v1/boards",
    f"/api/v1/boards/{BOARD}/standings",
    f"/api/v1/boards/{BOARD}/standings.csv",
    "/api/v1/operators/nothing",
    f"/boards/{BOARD}",
    "/rules",
    "/nothing-here",
)


@pytest.mark.parametrize("path", PATHS)
def test_status_and_headers_are_those_of_a_get(stage: Stage, path: str) -> None:
    changing = {"x-request-id", "date"}
    told, whole = stage.http.head(path), stage.http.get(path)
    assert told.status_code == whole.status_code
    assert told.content == b""
    assert whole.content
    assert {name: value for name, value in told.headers.items() if name not in changing} == {
        name: value for name, value in whole.headers.items() if name not in changing
    }


def test_a_stream_ends_behind_its_headers(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    answer = stage.http.head(f"/api/v1/submissions/{own}/events", timeout=5)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.content == b""


def test_what_takes_no_get_takes_no_head(stage: Stage) -> None:
    answer = stage.http.head("/api/v1/submissions/HB-DEMO-2026-000001/cancel")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_the_openapi_document_tells_of_no_head(stage: Stage) -> None:
    paths = stage.http.get("/api/v1/openapi.json").json()["paths"]
    assert {method for operations in paths.values() for method in operations} <= {
        "get",
        "post",
        "delete",
        "put",
        "patch",
    }
