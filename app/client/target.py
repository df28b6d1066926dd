"""Which service to talk to and as whom: as told, or a local stack that runs in this clone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from app.client.local import find_stack
from kernel_eval.errors import UsageError

URL_VARIABLE = "HAPBOARD_URL"
TOKEN_VARIABLE = "HAPBOARD_TOKEN"
_UNSEEN = re.compile(r"[^!-~]")
_NO_SERVICE = (
    f"which service? Set {URL_VARIABLE} and {TOKEN_VARIABLE} (or give --url and --token), "
    "or start a local stack with `make up` and call this from within its clone"
)
NO_TOKEN = f"this needs a token: set {TOKEN_VARIABLE} (or give --token); the service's admin makes them"


@dataclass(frozen=True)
class Target:
    """A service's address without a slash at its end, a token or "", and the folder of the local stack it is of."""

    url: str
    token: str = field(default="", repr=False)
    stack: Path | None = None

    def need_token(self) -> None:
        """Raises `UsageError` where there is no token."""
        if not self.token:
            raise UsageError(NO_TOKEN)


@dataclass(frozen=True)
class _Given:
    """A value, and by what name it was given."""

    value: str = field(repr=False)
    name: str


def choose_target(
    url: str | None, token: str | None, environment: Mapping[str, str] = os.environ, folder: Path | None = None
) -> Target:
    """The service named by flags (None where not given), else by the environment, else the local stack of this clone.

    The local stack is looked for only where neither says anything, and only if `folder` (the current one) lies in
    the clone. Raises `UsageError` for what can be no address or token, without ever repeating a token.
    """
    address = _given(url, "--url", environment, URL_VARIABLE)
    secret = _given(token, "--token", environment, TOKEN_VARIABLE)
    if address is not None:
        return Target(_checked_url(address), _checked_token(secret))
    if secret is not None:
        _checked_token(secret)
        raise UsageError(f"{secret.name} is given without an address: set {URL_VARIABLE} (or give --url) as well")
    stack = find_stack(environment, folder or Path.cwd())
    if stack is None:
        raise UsageError(_NO_SERVICE)
    return Target(_checked_url(_Given(stack.address, str(stack.folder))), stack.token(), stack.folder)


def _given(flag: str | None, option: str, environment: Mapping[str, str], variable: str) -> _Given | None:
    """What was said; an empty variable says nothing, as usual in shells."""
    if flag is not None:
        return _Given(flag, option)
    return _Given(environment[variable], variable) if environment.get(variable) else None


def _checked_token(given: _Given | None) -> str:
    if given is None:
        return ""
    if not given.value:
        raise UsageError(f"{given.name} is empty; a token looks like hapb_…")
    wrong = _UNSEEN.search(given.value)
    if wrong is not None:
        raise UsageError(
            f"{given.name} is no token: character {wrong.start() + 1} of {len(given.value)} is {_kind(wrong[0])}; "
            "copy the token again, alone"
        )
    return given.value


def _checked_url(given: _Given) -> str:
    wrong = _UNSEEN.search(given.value)
    if wrong is not None or not given.value:
        what = f"character {wrong.start() + 1} is {_kind(wrong[0])}" if wrong else "it is empty"
        raise UsageError(f"{given.name} is no address: {what}; it looks like http://127.0.0.1:8000")
    try:
        parts = urlsplit(given.value)
        port_is_sound = parts.port != 0
    except ValueError:
        raise UsageError(f"{given.name} is no address: host or port cannot be read; ports go from 1 to 65535") from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{given.name} holds a user or password; give the address alone, and a token beside it")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_sound:
        raise UsageError(f"{given.name} is no address: {given.value!r} does not look like http://host or https://host")
    if parts.query or parts.fragment:
        raise UsageError(f"{given.name}: give the address without `?` and `#`, as in {parts.scheme}://{parts.netloc}")
    return given.value.rstrip("/")


def _kind(character: str) -> str:
    """What sort of character it is, without showing it."""
    if character in "\r\n":
        return "a line break"
    if character.isspace():
        return "a space or tab"
    return "a control character" if ord(character) < 128 else "outside ASCII"
