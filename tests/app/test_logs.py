"""Logs are structured and hold no secrets."""

from __future__ import annotations

import json

import pytest
import structlog

from app import logs
from app.auth.tokens import fresh_token


def test_a_line_is_json_without_tokens_passwords_and_secret_keys(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(as_json=True)
    token = fresh_token().text
    structlog.get_logger("x").info(
        "happened",
        text=f"sent {token} on",
        database="postgresql+psycopg://app:geheim@127.0.0.1/x",
        authorization="Bearer abc",
        cookie="abc",
        run_id=7,
    )
    line = capsys.readouterr().err
    told = json.loads(line)
    assert told["event"] == "happened"
    assert told["run_id"] == 7
    assert token not in line
    assert "geheim" not in line
    assert told["authorization"] == told["cookie"] == "[hidden]"
    assert told["database"] == "postgresql+psycopg://app:[hidden]@127.0.0.1/x"
