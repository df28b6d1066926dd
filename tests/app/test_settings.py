"""Settings refuse what would be unsafe."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.settings import AppSettings

GOOD: dict[str, Any] = {
    "database_url": "postgresql+psycopg://app@127.0.0.1/x",
    "broker_url": "redis://127.0.0.1/0",
    "storage_dir": "/tmp/x",
    "secret_key": "s" * 32,
}


def test_they_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GOOD.items():
        monkeypatch.setenv(f"HAPBOARD_{name.upper()}", value)
    monkeypatch.setenv("HAPBOARD_PUBLIC_URL", "https://board.example/")
    settings = AppSettings()
    assert settings.public_url == "https://board.example"
    assert settings.secure_cookies
    assert "ssss" not in repr(settings)


@pytest.mark.parametrize("secret", ["", "short", "s" * 31])
def test_a_short_secret_is_refused_with_a_way_to_make_one(secret: str) -> None:
    with pytest.raises(ValidationError, match="token_urlsafe"):
        AppSettings(**{**GOOD, "secret_key": secret})


@pytest.mark.parametrize("instance", ["", "a", "has-dash", "lower", "X" * 13])
def test_an_instance_that_would_break_ids_is_refused(instance: str) -> None:
    with pytest.raises(ValidationError):
        AppSettings(**{**GOOD, "instance": instance})
