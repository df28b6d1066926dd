"""The process as a whole: light, documented, and honest about its faults."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import text

from app.cli import commands
from app.openapi import DOCUMENT, document_text
from app.settings import AppSettings
from tests.app.conftest import BOARD, GOOD_ARCHIVE, Stage
from tests.factories.archives import tar, zip_, zstd
from tests.factories.leases import fail_thrice
from tests.factories.serving import portal_process

MAX_RESIDENT_MIB = 120
TEXTS = {"type", "title", "status", "detail", "instance", "errors"}


def test_the_checked_in_openapi_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document_text(), "run `hapboard openapi`"


def test_the_document_tells_of_every_address_and_of_problems() -> None:
    document = json.loads(document_text())
    assert {
        "/api/v1/submissions",
        "/api/v1/submissions/{submission}",
        "/api/v1/submissions/{submission}/events",
        "/api/v1/submissions/{submission}/log",
        "/api/v1/submissions/{submission}/cancel",
        "/api/v1/boards",
        "/api/v1/boards/{board}/standings",
        "/api/v1/boards/{board}/operators/{operator}/standings",
        "/api/v1/results/{result}",
        "/api/v1/operators",
        "/api/v1/operators/{name}",
        "/api/v1/operators/{name}/cases",
        "/api/v1/queue",
        "/api/v1/workers",
        "/healthz",
    } <= set(document["paths"])
    post = document["paths"]["/api/v1/submissions"]["post"]
    fields = post["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"]
    assert {"file", "board", "agent", "model", "harness", "dsl", "note", "visibility", "mode"} == set(fields)
    assert "4XX" in post["responses"]
    assert set(document["components"]["schemas"]["Problem"]["properties"]) == TEXTS


@pytest.fixture
def process(app_settings: AppSettings, stage: Stage, tmp_path: Path) -> Iterator[tuple[httpx.Client, int]]:
    """The portal as its own process, as it runs in production; its pid."""
    whole = app_settings.model_copy(update={"max_upload_bytes": AppSettings.model_fields["max_upload_bytes"].default})
    with portal_process(whole, tmp_path / "api.log") as (http, running):
        yield http, running.pid


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


@pytest.mark.database
@pytest.mark.queue
def test_a_process_under_use_stays_small(process: tuple[httpx.Client, int], stage: Stage) -> None:
    http, pid = process
    headers = stage.headers()

    def use(number: int) -> list[int]:
        files = {"file": ("k.tar.gz", GOOD_ARCHIVE)}
        answers = [
            http.post("/api/v1/submissions", data={"board": BOARD}, files=files, headers=headers),
            http.get(f"/api/v1/boards/{BOARD}/standings"),
            http.get("/api/v1/operators/exp/cases"),
            http.get("/api/v1/submissions"),
            http.get("/"),
        ]
        return [answer.status_code for answer in answers]

    with ThreadPoolExecutor(8) as pool:
        seen = [status for statuses in pool.map(use, range(16)) for status in statuses]
    assert max(seen) < 400
    assert resident_mib(pid) <= MAX_RESIDENT_MIB, resident_mib(pid)


@pytest.mark.database
@pytest.mark.queue
def test_a_process_gives_back_what_large_uploads_and_bombs_took(
    process: tuple[httpx.Client, int], stage: Stage
) -> None:
    http, pid = process
    headers = stage.headers()
    zeros = tar({"build.sh": b"x", "zeros": bytes(40 << 20)})
    bombs = [
        ("x.tar.gz", gzip.compress(zeros, 1)),
        ("x.tar.xz", lzma.compress(zeros, preset=0)),
        ("x.tar.zst", zstd(zeros)),
        ("x.zip", zip_({"build.sh": b"x", "zeros": bytes(40 << 20)})),
    ]
    start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x.tar"\r\n\r\n'
    form = {**headers, "Content-Type": "multipart/form-data; boundary=b"}

    def upload(_: int) -> int:
        pieces = (piece for piece in [start, *[bytes(1 << 20)] * 300])
        return http.post("/api/v1/submissions", content=pieces, headers=form).status_code

    def bomb(number: int) -> int:
        data, files = {"board": BOARD}, {"file": bombs[number % len(bombs)]}
        return http.post("/api/v1/submissions", data=data, files=files, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(upload, range(2))) == {413}
        assert set(pool.map(bomb, range(20))) == {422}
    assert resident_mib(pid) <= MAX_RESIDENT_MIB, resident_mib(pid)


@pytest.mark.database
@pytest.mark.queue
def test_a_fault_of_ours_is_a_problem_document_without_details(stage: Stage) -> None:
    with stage.owner.session() as session:
        session.execute(text("ALTER TABLE workers RENAME TO elsewhere"))
    try:
        answer = stage.http.get("/api/v1/workers")
    finally:
        with stage.owner.session() as session:
            session.execute(text("ALTER TABLE elsewhere RENAME TO workers"))
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "not your request" in answer.json()["detail"]
    assert "relation" not in answer.text
    assert "SELECT" not in answer.text


@pytest.mark.database
@pytest.mark.queue
class TestCommandLine:
    """`hapboard`, against the running portal and its database."""

    @pytest.fixture
    def run(self, stage: Stage, database_url: str) -> CliRunner:
        url = str(stage.http.base_url).rstrip("/")
        return CliRunner(env={"HAPBOARD_DATABASE_URL": database_url, "HAPBOARD_URL": url})

    def test_users_and_tokens_are_made_and_a_folder_is_handed_in(self, run: CliRunner, tmp_path: Path) -> None:
        made = run.invoke(commands, ["user", "create", "cli-user"])
        assert made.exit_code == 0, made.output
        assert run.invoke(commands, ["user", "create", "cli-user"]).exit_code == 2
        token = json.loads(run.invoke(commands, ["token", "create", "cli-user", "--days", "1"]).stdout)
        assert token["scopes"] == ["submit"]
        assert run.invoke(commands, ["token", "create", "nobody"]).exit_code == 2

        (tmp_path / "build.sh").write_text("#!/bin/bash\n")
        (tmp_path / "__pycache__").mkdir()
        (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"x")
        order = ["submit", str(tmp_path), "--board", BOARD, "--agent", "Cli", "--token", token["token"], "--key", "k1"]
        first = json.loads(run.invoke(commands, order).stdout)
        assert first["status"] == "queued"
        assert json.loads(run.invoke(commands, order).stdout)["id"] == first["id"], "the same folder is the same bytes"
        seen = json.loads(run.invoke(commands, ["status", first["id"]]).stdout)
        assert seen["entry"]["agent"] == "Cli"
        assert json.loads(run.invoke(commands, ["standings", BOARD]).stdout)["rows"] == []

    def test_faults_are_told_in_plain_words_with_exit_codes(self, run: CliRunner, tmp_path: Path) -> None:
        nothing = run.invoke(commands, ["submit", str(tmp_path / "nowhere"), "--board", BOARD])
        assert nothing.exit_code == 2
        assert "no such folder" in nothing.output
        (tmp_path / "readme.md").write_text("x")
        unbuildable = run.invoke(commands, ["submit", str(tmp_path), "--board", BOARD])
        assert unbuildable.exit_code == 2
        assert "SUB-023" in unbuildable.output
        (tmp_path / "build.sh").write_text("x")
        unknown = ["--token", f"hapb_12345678_{'a' * 43}"]
        calls = {
            "needs a token": ["submit", str(tmp_path), "--board", BOARD],
            "Sign in": ["submit", str(tmp_path), "--board", BOARD, *unknown],
            "Not found: There is no submission": ["status", "HB-LOCAL-2026-999999"],
            "There is no board": ["standings", "nope"],
        }
        for expected, call in calls.items():
            done = run.invoke(commands, call)
            assert (done.exit_code, done.stdout) == (2, ""), done.output
            assert expected in done.stderr
            assert "Traceback" not in done.stderr

    def test_all_faults_of_archive_fields_key_board_and_token_come_at_once(
        self, run: CliRunner, stage: Stage, tmp_path: Path
    ) -> None:
        (tmp_path / "readme.md").write_text("x")
        call = [
            "submit",
            str(tmp_path),
            "--board",
            "nowhere",
            "--dsl",
            "cobol",
            "--key",
            "ä",
            "--visibility",
            "private",
        ]
        done = run.invoke(commands, call)
        assert done.exit_code == 2
        for expected in ("SUB-023", "REQ-001 dsl", "REQ-001 visibility", "REQ-004", "REQ-005 board", "a token"):
            assert expected in done.stderr, done.stderr
        assert "Value error" not in done.stderr
        (tmp_path / "build.sh").write_text("x")
        sent = run.invoke(commands, [*call, "--token", stage.token("ada")])
        assert sent.exit_code == 2
        assert "REQ-005 board" in sent.stderr

    def test_waiting_ends_with_the_exit_code_of_what_became_of_it(self, run: CliRunner, stage: Stage) -> None:
        cancelled = stage.submit().json()["id"]
        stage.http.post(f"/api/v1/submissions/{cancelled}/cancel", headers=stage.headers())
        failed = stage.submit().json()["id"]
        fail_thrice(stage, failed)
        for own, code in ((cancelled, 1), (failed, 3)):
            done = run.invoke(commands, ["status", own, "--wait"])
            assert done.exit_code == code, done.output
            assert json.loads(done.stdout)["id"] == own
            assert run.invoke(commands, ["status", own]).exit_code == 0

    def test_the_exit_codes_stand_in_the_help(self, run: CliRunner) -> None:
        for command in ([], ["submit"], ["status"], ["standings"]):
            said = run.invoke(commands, [*command, "--help"]).stdout
            assert "Exit codes:\n" in said
            assert [line.split()[0] for line in said.partition("Exit codes:\n")[2].splitlines() if line] == list("0123")

    def test_waiting_ends_with_the_time_given(self, run: CliRunner, stage: Stage) -> None:
        own = stage.submit().json()["id"]
        waited = run.invoke(commands, ["status", own, "--wait", "--timeout", "0.5"])
        assert waited.exit_code == 3
        assert f"{own} is still queued" in waited.output
