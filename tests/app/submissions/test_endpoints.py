"""Handing in, looking and cancelling over HTTP."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import func, select

from app.auth.tokens import Scope
from app.models import Artifact, OutboxMessage, Run, Submission
from tests.app.conftest import BOARD, GOOD_ARCHIVE, MAX_UPLOAD_BYTES, Stage
from tests.factories.archives import tar_gz

pytestmark = [pytest.mark.database, pytest.mark.queue]


def rows(stage: Stage) -> tuple[int, ...]:
    """Numbers of submissions, runs, messages and artifacts."""
    with stage.owner.session() as session:
        tables = (Submission, Run, OutboxMessage, Artifact)
        return tuple(session.scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def faults(answer: httpx.Response) -> list[tuple[str, str]]:
    assert answer.headers["content-type"] == "application/problem+json"
    return [(error["rule"], error["where"]) for error in answer.json()["errors"]]


def test_a_good_upload_is_accepted_with_its_address(stage: Stage) -> None:
    before = rows(stage)
    answer = stage.submit(model="orca", harness="loop", note="first try")
    assert answer.status_code == 202, answer.text
    view = answer.json()
    assert answer.headers["location"] == f"http://board.example/api/v1/submissions/{view['id']}"
    assert view["id"].startswith("HB-LOCAL-")
    assert view["status"] == "queued"
    assert view["artifact_sha256"] == hashlib.sha256(GOOD_ARCHIVE).hexdigest()
    assert view["entry"]["agent"] == "Smith"
    assert view["wait"]["position"] >= 1
    assert [step["name"] for step in view["steps"] if step["state"] == "done"] == ["received"]
    stored = stage.storage / "sha256" / view["artifact_sha256"][:2] / view["artifact_sha256"]
    assert stored.read_bytes() == GOOD_ARCHIVE
    assert [after - was for was, after in zip(before, rows(stage), strict=True)] == [1, 1, 1, 1]


def test_the_same_agent_stands_with_one_entry_and_another_model_with_another(stage: Stage) -> None:
    first, again, other = stage.submit(model="one"), stage.submit(model="one"), stage.submit(model="two")
    assert first.json()["entry"]["id"] == again.json()["entry"]["id"] != other.json()["entry"]["id"]


BAD_UPLOADS = {
    "not an archive": ("x.tar.gz", b"hello, this is text", "SUB-001"),
    "empty": ("x.tar.gz", b"", "SUB-003"),
    "truncated": ("x.tar.gz", GOOD_ARCHIVE[:-20], "SUB-005"),
    "path upwards": ("x.tar.gz", tar_gz({"build.sh": b"x", "../evil": b"x"}), "SUB-010"),
    "absolute path": ("x.tar.gz", tar_gz({"build.sh": b"x", "/etc/evil": b"x"}), "SUB-009"),
    "nothing to build": ("x.tar.gz", tar_gz({"readme.md": b"x"}), "SUB-023"),
    "two folders": ("x.tar.gz", tar_gz({"a/build.sh": b"x", "b/x": b"x"}), "SUB-024"),
    "a bomb": ("x.tar.gz", tar_gz({"build.sh": b"x", "zeros": bytes(40 << 20)}), "SUB-008"),
}


@pytest.mark.parametrize("kind", list(BAD_UPLOADS))
def test_a_bad_archive_is_refused_by_its_rule_and_nothing_is_left(stage: Stage, kind: str) -> None:
    name, data, rule = BAD_UPLOADS[kind]
    before, files = rows(stage), stage.kept_files()
    answer = stage.submit(data, name)
    assert answer.status_code == 422, answer.text
    assert rule in {found for found, _ in faults(answer)}
    assert rows(stage) == before
    assert stage.kept_files() == files


def test_all_faults_of_fields_key_board_and_archive_come_at_once(stage: Stage) -> None:
    bad = tar_gz({"../a": b"x", "b\x07": b"x"})
    wrong = {"board": "nowhere", "dsl": "cobol", "agent": "a" * 81, "typo": "x", "visibility": "private"}
    answer = stage.submit(bad, key="k" * 129, **wrong)
    found = faults(answer)
    assert answer.status_code == 422
    assert {where for _, where in found} >= {*wrong, "Idempotency-Key"}
    assert {rule for rule, _ in found} >= {"SUB-010", "SUB-015", "REQ-004", "REQ-005"}
    assert all(not error["message"].startswith("Value error") for error in answer.json()["errors"])


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({}, []),
        ({"dsl": "cobol"}, [("REQ-001", "dsl")]),
        ({"mode": "fast", "visibility": "private"}, [("REQ-001", "mode")]),
        ({"visibility": "private"}, [("REQ-001", "visibility")]),
    ],
)
@pytest.mark.parametrize("archive", [GOOD_ARCHIVE, tar_gz({"board": b"x"})], ids=["good archive", "bad archive"])
@pytest.mark.parametrize("board", ["nowhere", "", "a\x07", BOARD])
def test_a_wrong_board_is_named_once_whatever_else_is_wrong(
    stage: Stage, archive: bytes, board: str, wrong: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    found = faults(answer) if (answer := stage.submit(archive, board=board, **wrong)).status_code == 422 else []
    assert [where for rule, where in found if rule != "SUB-023"].count("board") == (board != BOARD)
    assert ("SUB-023" in {rule for rule, _ in found}) == (archive != GOOD_ARCHIVE)
    assert set(expected) <= set(found)


def test_a_repeated_field_and_an_unknown_board_come_at_once(stage: Stage) -> None:
    twice = [("board", (None, "nowhere")), ("board", (None, "nowhere")), ("file", ("k.tar.gz", GOOD_ARCHIVE))]
    answer = stage.http.post("/api/v1/submissions", files=twice, headers=stage.headers())
    assert faults(answer) == [("REQ-003", "board"), ("REQ-005", "board")]


def test_a_missing_file_is_named(stage: Stage) -> None:
    files = {"board": (None, BOARD)}
    answer = stage.http.post("/api/v1/submissions", files=files, headers=stage.headers())
    assert ("REQ-002", "file") in faults(answer)


def test_a_ranked_submission_cannot_be_private(stage: Stage) -> None:
    assert stage.submit(visibility="private").status_code == 422
    assert stage.submit(visibility="private", mode="practice").status_code == 202


def test_too_large_is_refused_early_and_also_when_the_length_is_not_announced(stage: Stage) -> None:
    files = stage.kept_files()
    headers = stage.headers()
    big = stage.submit(bytes(2 * MAX_UPLOAD_BYTES), "x.tar")
    assert big.status_code == 413
    assert "2 MiB" in big.json()["detail"]

    boundary = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x.tar"\r\n\r\n'
    chunks = (piece for piece in [boundary, *[bytes(1 << 18)] * 9])
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    unannounced = stage.http.post("/api/v1/submissions", content=chunks, headers={**headers, **kind})
    assert unannounced.status_code == 413
    assert stage.kept_files() == files


def test_a_body_that_is_no_form_is_refused(stage: Stage) -> None:
    answer = stage.http.post("/api/v1/submissions", json={"board": BOARD}, headers=stage.headers())
    assert answer.status_code == 415
    cut = {"Content-Type": "multipart/form-data; boundary=b"}
    broken = stage.http.post("/api/v1/submissions", content=b"--b\r\n", headers={**stage.headers(), **cut})
    assert broken.status_code == 400


def test_the_same_key_is_one_submission_and_another_request_under_it_is_refused(stage: Stage) -> None:
    first = stage.submit(key="same")
    again = stage.submit(key="same")
    assert again.status_code == 202
    assert again.json()["id"] == first.json()["id"]
    assert (first.headers["idempotency-repeated"], again.headers["idempotency-repeated"]) == ("false", "true")
    other_fields = stage.submit(key="same", note="changed")
    other_file = stage.submit(tar_gz({"build.sh": b"other"}), key="same")
    assert other_fields.status_code == other_file.status_code == 409
    assert first.json()["id"] in other_file.json()["detail"]
    assert stage.submit(key="same", user="noor").json()["id"] != first.json()["id"]


def test_many_posts_at_once_with_one_key_are_one_submission(stage: Stage) -> None:
    stage.token("racer")
    before = rows(stage)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: stage.submit(key="race", user="racer", agent="Racer"), range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert rows(stage)[0] == before[0] + 1


def test_many_posts_at_once_are_many_submissions_with_one_file(stage: Stage) -> None:
    archive = tar_gz({"build.sh": b"many"})
    stage.token("ada")
    before, files = rows(stage), len(stage.kept_files())
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: stage.submit(archive, agent=f"Crowd {number % 2}"), range(12)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 12
    assert len(stage.kept_files()) == files + 1
    assert rows(stage)[0] == before[0] + 12


def test_handing_in_needs_a_good_token_with_the_scope(stage: Stage) -> None:
    def post(headers: dict[str, str]) -> httpx.Response:
        files = {"file": ("k.tar.gz", GOOD_ARCHIVE)}
        return stage.http.post("/api/v1/submissions", data={"board": BOARD}, files=files, headers=headers)

    nobody = post({})
    assert nobody.status_code == 401
    assert nobody.headers["www-authenticate"] == "Bearer"
    assert post({"Authorization": "Bearer None"}).status_code == 401
    assert post({"Authorization": f"Bearer hapb_12345678_{'a' * 43}"}).status_code == 401
    expired = stage.token("ada", lifetime=timedelta(seconds=-1))
    assert post({"Authorization": f"Bearer {expired}"}).status_code == 401
    reader = stage.token("ada", Scope.READ)
    refused = post({"Authorization": f"Bearer {reader}"})
    assert refused.status_code == 403
    assert "submit" in refused.json()["detail"]


def test_a_private_submission_is_not_there_for_others(stage: Stage) -> None:
    own = stage.submit(visibility="private", mode="practice", user="ada").json()["id"]
    for path in ("", "/log", "/events"):
        address = f"/api/v1/submissions/{own}{path}"
        assert stage.http.get(address).status_code == 404
        assert stage.http.get(address, headers=stage.headers("noor")).status_code == 404
    assert stage.http.get(f"/api/v1/submissions/{own}", headers=stage.headers("ada")).status_code == 200
    cancel = stage.http.post(f"/api/v1/submissions/{own}/cancel", headers=stage.headers("noor"))
    assert cancel.status_code == 404
    listed = stage.http.get("/api/v1/submissions", params={"limit": 200}).json()["submissions"]
    assert own not in {entry["id"] for entry in listed}
    seen = stage.http.get("/api/v1/submissions", headers=stage.headers("ada")).json()["submissions"]
    assert own in {entry["id"] for entry in seen}


def test_cancelling_is_for_the_owner_certain_and_repeatable(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    address = f"/api/v1/submissions/{own}/cancel"
    assert stage.http.post(address).status_code == 401
    assert stage.http.post(address, headers=stage.headers("noor")).status_code == 404
    for _ in range(2):
        answer = stage.http.post(address, headers=stage.headers())
        assert answer.status_code == 200
        assert answer.json()["status"] == "cancelled"
        assert answer.json()["settled"]
    with stage.owner.session() as session:
        run = session.scalars(select(Run).join(Submission).where(Submission.public_id == own)).one()
        assert run.status.value == "cancelled"


def test_the_list_pages_without_repeats(stage: Stage) -> None:
    made = [stage.submit(agent="Pager").json()["id"] for _ in range(3)]
    first = stage.http.get("/api/v1/submissions", params={"limit": 2}).json()
    second = stage.http.get("/api/v1/submissions", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    ids = [entry["id"] for entry in first["submissions"] + second["submissions"]]
    assert ids[:3] == made[::-1]
    assert len(set(ids)) == 4


@pytest.mark.parametrize("path", ["/api/v1/submissions/HB-LOCAL-2026-999999", "/api/v1/nowhere", "/api/v1/results/x"])
def test_what_is_not_there_is_a_problem_document(stage: Stage, path: str) -> None:
    answer = stage.http.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["instance"] == path
    assert answer.headers["x-request-id"]


STRANGE = [
    "/boards/%00",
    "/boards?x=%00",
    "/submissions/%00",
    "/operators/a%00b",
    "/submissions?cursor=99999999999999999999",
]
STRANGE += [
    "/submissions?cursor=-1",
    "/submissions?limit=0",
    "/results/%F0%9F%98%80",
    "/boards/%ff",
    "/submissions/x?wait=nan",
]
STRANGE += [f"/boards/{BOARD}/standings?as_of=9999-12-31T23:59:59Z", f"/boards/{BOARD}/standings?as_of=yesterday"]
STRANGE += [f"/boards/{BOARD}/standings?cursor=W10", "/boards/" + "x" * 5000, "/submissions?board=%27%3B--"]


@pytest.mark.parametrize("path", STRANGE)
def test_no_address_is_a_fault_of_ours(stage: Stage, path: str) -> None:
    answer = stage.http.get(f"/api/v1{path}")
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


def test_strange_event_ids_begin_at_the_beginning(stage: Stage) -> None:
    own = stage.submit().json()["id"]
    stage.http.post(f"/api/v1/submissions/{own}/cancel", headers=stage.headers())
    for text in ("-1", "x", "9" * 40, "1.5"):
        answer = stage.http.get(f"/api/v1/submissions/{own}/events", headers={"Last-Event-ID": text})
        assert "event: received" in answer.text
