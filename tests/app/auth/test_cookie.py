"""Session cookies can't be forged, moved or kept for ever."""

from __future__ import annotations

import time

import pytest

from app.auth.cookie import CookieSigner

SIGNER = CookieSigner("k" * 40, 3600)


def test_a_cookie_reads_back_and_its_csrf_token_belongs_to_its_session_alone() -> None:
    one, other = SIGNER.read(SIGNER.begin(7)), SIGNER.read(SIGNER.begin(7))
    assert one is not None
    assert other is not None
    assert one.token_id == 7
    assert SIGNER.csrf_matches(one, SIGNER.csrf_token(one))
    assert not SIGNER.csrf_matches(one, SIGNER.csrf_token(other))
    assert not SIGNER.csrf_matches(one, None)
    assert not SIGNER.csrf_matches(one, "")
    assert not SIGNER.csrf_matches(one, "ümlaut")


def test_a_forged_cookie_is_nobody() -> None:
    value = SIGNER.begin(7)
    assert SIGNER.read(CookieSigner("j" * 40, 3600).begin(7)) is None
    assert SIGNER.read(value[:-2] + ("aa" if value[-2:] != "aa" else "bb")) is None
    assert SIGNER.read("") is None
    assert SIGNER.read("x.y.z") is None


def test_an_old_cookie_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    value = SIGNER.begin(7)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3700)
    assert SIGNER.read(value) is None
