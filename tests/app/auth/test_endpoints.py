"""Signing in by token, the session cookie, and posts that must prove where they come from."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import select

from app.auth.cookie import COOKIE
from app.models import Token
from tests.app.conftest import BOARD, GOOD_ARCHIVE, Stage

pytestmark = [pytest.mark.database, pytest.mark.queue]
SESSION = "/api/v1/session"


def browser(stage: Stage) -> httpx.Client:
    """A client that keeps cookies."""
    return httpx.Client(base_url=stage.http.base_url, timeout=30)


def sign_in(http: httpx.Client, token: str) -> httpx.Response:
    return http.post(SESSION, json={"token": token})


def post(http: httpx.Client, csrf: str | None = None, **fields: str) -> httpx.Response:
    headers = {"X-CSRF-Token": csrf} if csrf else {}
    files = {"file": ("k.tar.gz", GOOD_ARCHIVE)}
    return http.post("/api/v1/submissions", data={"board": BOARD, **fields}, files=files, headers=headers)


def test_a_session_is_a_signed_http_only_same_site_cookie(stage: Stage) -> None:
    with browser(stage) as http:
        answer = sign_in(http, stage.token("ada"))
        assert answer.status_code == 200
        assert answer.json()["user"] == "ada"
        cookie = answer.headers["set-cookie"].lower()
        assert COOKIE in cookie
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert http.get(SESSION).json()["user"] == "ada"


def test_a_cookie_borne_upload_needs_the_csrf_token_in_header_or_form(stage: Stage) -> None:
    with browser(stage) as http:
        csrf = sign_in(http, stage.token("ada")).json()["csrf_token"]
        files = stage.kept_files()
        refused = post(http)
        assert refused.status_code == 403
        assert post(http, csrf_token="wrong").status_code == 403
        assert stage.kept_files() == files
        assert post(http, csrf).status_code == 202
        by_form = post(http, csrf_token=csrf)
        assert by_form.status_code == 202
        own = by_form.json()["id"]
        assert http.post(f"/api/v1/submissions/{own}/cancel").status_code == 403
        assert http.post(f"/api/v1/submissions/{own}/cancel", headers={"X-CSRF-Token": csrf}).status_code == 200


def test_anothers_csrf_token_is_no_use(stage: Stage) -> None:
    with browser(stage) as ada, browser(stage) as noor:
        sign_in(ada, stage.token("ada"))
        theirs = sign_in(noor, stage.token("noor")).json()["csrf_token"]
        assert post(ada, theirs).status_code == 403


def test_signing_in_needs_a_good_token_and_out_ends_it(stage: Stage) -> None:
    with browser(stage) as http:
        assert sign_in(http, "None").status_code == 401
        assert http.get(SESSION).status_code == 401
        csrf = sign_in(http, stage.token("ada")).json()["csrf_token"]
        assert http.delete(SESSION).status_code == 403
        assert http.delete(SESSION, headers={"X-CSRF-Token": csrf}).status_code == 204
        assert http.get(SESSION).status_code == 401


def test_revoking_the_token_ends_its_sessions_at_once(stage: Stage) -> None:
    token = stage.token("ada")
    with browser(stage) as http:
        sign_in(http, token)
        with stage.owner.session() as session:
            row = session.scalars(select(Token).order_by(Token.id.desc())).first()
            assert row is not None
            assert row.prefix in token
            row.revoked_at = row.created_at
        assert http.get(SESSION).status_code == 401
    bearer = {"Authorization": f"Bearer {token}"}
    assert stage.http.get(SESSION, headers=bearer).status_code == 401


def test_no_token_stands_in_the_database(stage: Stage) -> None:
    token = stage.token("ada")
    with stage.owner.session() as session:
        rows = session.execute(select(Token.__table__)).all()
    assert token not in str(rows)
    assert token.rsplit("_", 1)[-1] not in str(rows)
