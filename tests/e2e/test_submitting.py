"""Signing in and submitting in a real browser."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page

from app.runs import service as runs
from app.submissions.happenings import Happening
from tests.app.conftest import GOOD_ARCHIVE, MAX_UPLOAD_BYTES, Stage
from tests.e2e.conftest import OpenPage
from tests.factories import portal_data
from tests.factories.archives import tar_gz

pytestmark = [pytest.mark.browser, pytest.mark.database, pytest.mark.queue]

SUBMISSION = re.compile(r".*/submissions/HB-LOCAL-\d{4}-\d{6}$")


def choose(page: Page, folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    page.locator("input[type=file]").set_input_files(folder / name)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit", exact=True).click()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_kernel_is_handed_in_by_the_form(signed_in: OpenPage, tmp_path: Path, scripts: bool) -> None:
    page = signed_in("/submit", scripts=scripts)
    choose(page, tmp_path, "kernels.tar.gz", GOOD_ARCHIVE)
    page.get_by_label("Agent").fill("Smith")
    page.get_by_label("Model").fill("Orca 4")
    page.get_by_label("Note").fill("by the form")
    submit(page)
    page.wait_for_url(SUBMISSION)
    assert page.get_by_role("heading", name="Smith").is_visible()
    assert page.get_by_text("Queued").first.is_visible()
    assert page.get_by_text("by the form").is_visible()


def test_all_faults_are_named_at_once_and_the_form_can_be_sent_again(signed_in: OpenPage, tmp_path: Path) -> None:
    page = signed_in("/submit")
    choose(page, tmp_path, "bad.tar.gz", tar_gz({"../outside": b"x", "/root/absolute": b"x", "readme": b"x"}))
    page.get_by_label("Model").fill("Orca 4")
    page.get_by_label("Only me").check()
    submit(page)
    faults = page.locator("#faults")
    faults.wait_for()
    said = faults.inner_text()
    assert "SUB-009" in said
    assert "SUB-010" in said
    assert page.evaluate("document.activeElement.id") == "faults"
    assert page.get_by_label("Model").input_value() == "Orca 4"
    choose(page, tmp_path, "good.tar.gz", GOOD_ARCHIVE)
    page.get_by_label("Everyone").check()
    submit(page)
    page.wait_for_url(SUBMISSION)


def test_a_wrong_file_is_named_as_soon_as_it_is_chosen(signed_in: OpenPage, tmp_path: Path) -> None:
    page = signed_in("/submit")
    state = page.locator("[data-upload-state]")
    choose(page, tmp_path, "notes.txt", b"hello")
    assert "no archive we know" in state.inner_text()
    choose(page, tmp_path, "huge.zip", b"\0" * (MAX_UPLOAD_BYTES + 1))
    assert "at most 2.0 MiB are taken" in state.inner_text()
    choose(page, tmp_path, "fine.zip", b"PK")
    assert state.inner_text().startswith("fine.zip")


def test_a_file_can_be_dropped_on_the_form(signed_in: OpenPage) -> None:
    page = signed_in("/submit")
    data = page.evaluate_handle(
        """() => { const data = new DataTransfer();
        data.items.add(new File(["abc"], "dropped.tar.gz")); return data; }"""
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": data})
    assert page.locator("[data-upload-state]").inner_text().startswith("dropped.tar.gz")
    assert page.evaluate("document.querySelector('input[type=file]').files[0].name") == "dropped.tar.gz"


def test_the_page_of_a_submission_follows_it_by_itself(open_page: OpenPage, filled: Stage) -> None:
    suite = portal_data.small_suite()
    entrant = portal_data.usual_entrants(suite)[4]
    with filled.owner.session() as session:
        board = portal_data.add_board(session, suite, filled.storage)
        while runs.claim(session, "cpu", "another", datetime.now(UTC), 3600) is not None:
            pass
        portal_data.add_submission(session, board, entrant, 90, datetime.now(UTC))
    page = open_page("/submissions/HB-DEMO-2026-000090")
    current = page.locator("li.now")
    assert "Queued" in current.inner_text()
    with filled.owner.session() as session:
        lease = portal_data.start(session, board, datetime.now(UTC), cases_done=12)
    page.locator("li.now", has_text="12 of 160").wait_for()
    with filled.owner.session() as session:
        runs.record_progress(session, lease, Happening.PUBLIC_CASES, datetime.now(UTC), {"done": 96, "total": 160})
    page.locator("li.now", has_text="96 of 160").wait_for()
    with filled.owner.session() as session:
        portal_data.record(session, suite, entrant, lease, datetime.now(UTC), seed=90)
    page.locator("details.operator").first.wait_for()
    assert page.locator("li.now").count() == 0
    assert page.get_by_text("Judged and published.").is_visible()


def test_a_wrong_token_is_refused_beside_the_field(open_page: OpenPage) -> None:
    page = open_page("/sign-in")
    page.get_by_label("Access token").fill("hapb_wrong")
    page.locator("main").get_by_role("button", name="Sign in").click()
    assert "unknown, expired or revoked" in page.locator("#faults").inner_text()
    assert page.get_by_label("Access token").get_attribute("aria-invalid") == "true"
