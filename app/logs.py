"""Structured logs: one line per happening, with the request's id, without secrets."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

_SECRET_KEYS = frozenset({"authorization", "cookie", "token", "secret", "secret_key", "password", "database_url"})
_TOKEN = re.compile(r"hapb_[0-9a-f]{8}_[\w-]+")
_URL_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@\s]*@")


def hide_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: drop values of secret keys, and tokens and passwords inside text."""
    for key, value in event.items():
        if key.lower() in _SECRET_KEYS:
            event[key] = "[hidden]"
        elif isinstance(value, str):
            event[key] = _URL_PASSWORD.sub(r"\1:[hidden]@", _TOKEN.sub("[hidden]", value))
    return event


def configure(*, as_json: bool, level: int = logging.INFO) -> None:
    """Set structlog up for this process; called once, where a process starts."""
    renderer = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            hide_secrets,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_to_standard_error,
        cache_logger_on_first_use=False,
    )


def _to_standard_error(*_names: object) -> structlog.PrintLogger:
    """Standard output is for what a command was asked for."""
    return structlog.PrintLogger(sys.stderr)
