"""Talks to a portal's API."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from kernel_eval.errors import UsageError

_TRIES = 5
_POLL_S = 55.0
_NOT_OURS = "answered, but not as HapBoard does; check the address"


class ApiError(Exception):
    """The portal failed, or cannot be reached; the message is for the person at the terminal.

    What the caller can mend is a `UsageError` instead.
    """


@dataclass(frozen=True)
class Client:
    """A portal at `url`, with a bearer token for what needs one.

    Every method raises `ApiError` for faults of the service and `UsageError` for what the caller can mend.
    """

    url: str
    token: str = field(default="", repr=False)

    def submit(self, filename: str, data: bytes, fields: Mapping[str, str], key: str) -> dict[str, Any]:
        """Hand an archive in; repeated under the same `key` after a broken connection."""
        return self._object(
            "POST",
            "/api/v1/submissions",
            data=dict(fields),
            files={"file": (filename, data)},
            headers={"Idempotency-Key": key},
        )

    def status(self, submission: str, wait_s: float = 0.0) -> dict[str, Any]:
        """A submission as it is, or once it is settled, at the latest after `wait_s`."""
        return self._object("GET", f"/api/v1/submissions/{quote(submission, safe='')}", params={"wait": wait_s})

    def settled(self, submission: str, timeout_s: float) -> dict[str, Any]:
        """The submission once it is settled; raises `ApiError`, also where that takes too long."""
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            view = self.status(submission, max(min(_POLL_S, left), 0.0))
            if view["settled"]:
                return view
            if time.monotonic() >= deadline:
                raise ApiError(
                    f"{submission} is still {view['status']}; look again with `hapboard status {submission}`"
                )

    def result(self, view: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of a submission's view, where there is one."""
        address = view["links"]["result"]
        return self._object("GET", f"/api/v1/results/{address.rsplit('/', 1)[-1]}") if address else None

    def standings(self, board: str) -> dict[str, Any]:
        """The first page of a board's standings."""
        return self._object("GET", f"/api/v1/boards/{quote(board, safe='')}/standings")

    def boards(self) -> list[str]:
        """The short names of the boards."""
        found = self._request("GET", "/api/v1/boards")
        if not isinstance(found, list):
            raise UsageError(f"{self.url} {_NOT_OURS}")
        return [str(board["slug"]) for board in found]

    def _object(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        found = self._request(method, path, **options)
        if not isinstance(found, dict):
            raise UsageError(f"{self.url} {_NOT_OURS}")
        return found

    def _request(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Accept": "application/json", **options.pop("headers", {})}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        address, own_host = self.url + path, not _is_loopback(self.url)
        for attempt in range(1, _TRIES + 1):
            try:
                response = httpx.request(method, address, headers=headers, timeout=120, trust_env=own_host, **options)
            except httpx.HTTPError as error:
                _refuse_wrong_address(self.url, error)
                if attempt == _TRIES:
                    raise ApiError(f"{self.url} cannot be reached: {error}") from error
            except (httpx.InvalidURL, ValueError, OSError) as error:
                raise UsageError(f"no request to {self.url} can be made here: {error}") from error
            else:
                if response.status_code < 500 or attempt == _TRIES:
                    return _body(response, self.url)
            time.sleep(2 ** (attempt - 1) * 0.25)
        raise AssertionError("unreachable: the last try returns or raises")


def _is_loopback(url: str) -> bool:
    """Whether the address is this very machine, which no proxy of the environment can reach for us."""
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_wrong_address(url: str, error: BaseException) -> None:
    """Raises `UsageError` where no second try helps: the host is unknown, or cannot be trusted."""
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            raise UsageError(f"{url}: no such host ({cause.strerror}); check the address") from error
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "verify_message", "") or cause.reason or "TLS failed"
            raise UsageError(f"{url}: no trusted TLS connection ({reason}); check address and certificate") from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _body(response: httpx.Response, url: str) -> Any:
    if response.is_success:
        try:
            return response.json()
        except ValueError:
            raise UsageError(f"{url} {_NOT_OURS}") from None
    if response.is_server_error:
        raise ApiError(_problem_text(response))
    if response.is_redirect:
        raise UsageError(f"{url} has moved to {response.headers.get('location', 'elsewhere')}; give that address")
    raise UsageError(_problem_text(response))


def _problem_text(response: httpx.Response) -> str:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "title" not in problem:
        return f"{response.status_code} from {response.url}; is that a HapBoard?"
    lines = [f"{problem['title']}: {problem.get('detail', '')}"]
    lines += [f"  {error['rule']} {error['where']}: {error['message']}" for error in problem.get("errors", [])]
    return "\n".join(lines)
