"""Signing in, preferences, and submitting by the form."""

from __future__ import annotations

import httpx
import pytest

from tests.app.conftest import BOARD, GOOD_ARCHIVE, MAX_UPLOAD_BYTES
from tests.app.web.markup import Page
from tests.factories.archives import tar_gz

pytestmark = [pytest.mark.database, pytest.mark.queue]

BAD_ARCHIVE = tar_gz({"../outside": b"x", "/root/absolute": b"x", "readme": b"x"})


def csrf(client: httpx.Client) -> str:
    page = Page(client.get("/submit").text)
    return next(
        e.attributes["value"]
        for e in page.all("input")
        if e.attributes["name"] == "csrf_token" and e.attributes["value"]
    )


def hand_in(client: httpx.Client, archive: bytes, name: str = "k.tar.gz", **fields: str) -> httpx.Response:
    data = {"board": BOARD, "agent": "Smith", "dsl": "cpp", "csrf_token": csrf(client), **fields}
    return client.post("/submit", data=data, files={"file": (name, archive)})


def fault_lines(answer: httpx.Response) -> list[str]:
    page = Page(answer.text)
    return [
        " ".join(e.text.split())
        for e in page.all("li")
        if "div" in e.inside
        and e.inside[-1] == "ul"
        and ":" in e.text
        and "main" in e.inside
        and "aside" not in e.inside
    ]


def test_a_good_archive_leads_to_its_submissions_page(submitter: httpx.Client) -> None:
    answer = hand_in(submitter, GOOD_ARCHIVE, harness="loop", note="first try")
    assert answer.status_code == 200
    assert answer.url.path.startswith("/submissions/HB-LOCAL-")
    assert "first try" in answer.text
    assert answer.history[0].status_code == 303


def test_all_faults_stand_above_the_form_and_the_fields_keep_what_was_sent(submitter: httpx.Client) -> None:
    answer = hand_in(submitter, BAD_ARCHIVE, board="no-such-board", agent="A" * 200, model="Orca 4", mode="practice")
    assert answer.status_code == 422
    text = " ".join(fault_lines(answer))
    for rule in ("SUB-009", "SUB-010"):
        assert rule in text
    assert "Agent: At most 80 characters." in text
    page = Page(answer.text)
    values = {
        e.attributes["name"]: e.attributes.get("value")
        for e in page.all("input")
        if "name" in e.attributes and e.attributes.get("type") != "radio"
    }
    assert values["model"] == "Orca 4"
    agent = next(e for e in page.all("input") if e.attributes.get("id") == "agent")
    assert agent.attributes["aria-invalid"] == "true"
    assert agent.attributes["aria-describedby"] == "agent-hint agent-fault"
    checked = [e.attributes["value"] for e in page.all("input") if "checked" in e.attributes]
    assert checked == ["practice", "public"]


def test_chinese_readers_get_the_rule_in_chinese_with_the_exact_message(submitter: httpx.Client) -> None:
    submitter.headers["Accept-Language"] = "zh"
    answer = hand_in(submitter, BAD_ARCHIVE)
    assert "不允许使用绝对路径。" in answer.text


def test_the_form_shows_a_command_that_names_service_token_and_program(submitter: httpx.Client) -> None:
    text = submitter.get("/submit").text
    assert "export HAPBOARD_URL=http://board.example\nexport HAPBOARD_TOKEN=hapb_…\n" in text
    assert f".venv/bin/hapboard submit my-kernels/ --board {BOARD} --wait" in text


def test_no_file_at_all_is_a_named_fault(submitter: httpx.Client) -> None:
    data = {"board": (None, BOARD), "csrf_token": (None, csrf(submitter))}
    answer = submitter.post("/submit", files=data)
    assert answer.status_code == 422
    assert "Archive: Choose an archive." in " ".join(fault_lines(answer))
    private = hand_in(submitter, GOOD_ARCHIVE, visibility="private")
    assert "Who may see it: A ranked submission is public." in " ".join(fault_lines(private))


def test_a_file_that_is_too_large_is_refused_on_the_form(submitter: httpx.Client) -> None:
    answer = hand_in(submitter, b"\0" * (MAX_UPLOAD_BYTES + 1))
    assert answer.status_code == 413
    assert "The archive may have at most 2 MiB." in answer.text
    assert Page(answer.text).faults == []


def test_a_form_without_its_sessions_token_is_refused(submitter: httpx.Client) -> None:
    answer = hand_in(submitter, GOOD_ARCHIVE, csrf_token="forged")
    assert answer.status_code == 403
    assert "Load the page again and repeat" in answer.text


def test_who_is_not_signed_in_is_led_to_the_sign_in_before_uploading(reader: httpx.Client) -> None:
    page = Page(reader.get("/submit").text)
    assert not [e for e in page.all("input") if e.attributes.get("type") == "file"]
    assert [e for e in page.all("a") if e.attributes["href"] == "/sign-in?next=/submit"]
    answer = reader.post("/submit", files={"file": ("k.tar.gz", GOOD_ARCHIVE)})
    assert answer.status_code == 401
    assert "Sign in with an access token" in answer.text


def test_signing_in_sets_a_cookie_that_scripts_cannot_read_and_signing_out_ends_it(
    filled, reader: httpx.Client
) -> None:
    answer = reader.post("/sign-in", data={"token": f" {filled.token('ada')} ", "next": "/queue"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/queue"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    page = Page(reader.get("/queue").text)
    assert "ada" in next(page.all("header")).text
    token = next(e.attributes["value"] for e in page.all("input") if e.attributes["name"] == "csrf_token")
    assert reader.post("/sign-out", data={"csrf_token": "forged"}).status_code == 403
    assert reader.post("/sign-out", data={"csrf_token": token}).status_code == 303
    assert "ada" not in next(Page(reader.get("/queue").text).all("header")).text


@pytest.mark.parametrize("token", ["", "hapb_deadbeef_" + "x" * 43, "no token at all"])
def test_a_token_that_is_no_good_is_refused_in_words(reader: httpx.Client, token: str) -> None:
    answer = reader.post("/sign-in", data={"token": token})
    assert answer.status_code == 422
    assert "This token is unknown, expired or revoked." in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb"]
)
def test_no_form_leads_to_another_site(reader: httpx.Client, target: str) -> None:
    answer = reader.post("/preferences", data={"theme": "dark", "next": target})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"


def test_language_and_theme_are_remembered_and_nonsense_is_not(reader: httpx.Client) -> None:
    reader.post("/preferences", data={"language": "zh", "theme": "dark", "next": "/rules"})
    html = next(Page(reader.get("/rules").text).all("html"))
    assert (html.attributes["lang"], html.attributes["data-theme"]) == ("zh-Hans", "dark")
    reader.post("/preferences", data={"language": "xx", "theme": "<b>", "next": "/rules"})
    html = next(Page(reader.get("/rules").text).all("html"))
    assert (html.attributes["lang"], html.attributes["data-theme"]) == ("zh-Hans", "dark")
    assert next(Page(reader.get("/rules?lang=en").text).all("html")).attributes["lang"] == "en"


def test_programs_get_problem_documents_and_people_get_pages(reader: httpx.Client) -> None:
    page = reader.get("/submissions/HB-X")
    assert page.headers["content-type"].startswith("text/html")
    document = reader.get("/submissions/HB-X", headers={"Accept": "application/json"})
    assert document.headers["content-type"] == "application/problem+json"
    assert document.json()["status"] == page.status_code == 404
    assert reader.get("/api/v1/submissions/HB-X").headers["content-type"] == "application/problem+json"
    assert reader.put("/submit").status_code == 405
