"""Talks to a portal's API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

_TRIES = 5
_POLL_S = 55.0


class ApiError(Exception):
    """The portal refused, or cannot be reached; the message is for the person at the terminal."""


@dataclass(frozen=True)
class Client:
    """A portal at `url`, with a bearer token for what needs one."""

    url: str
    token: str = ""

    def submit(self, filename: str, data: bytes, fields: Mapping[str, str], key: str) -> dict[str, Any]:
        """Hand an archive in; repeated under the same `key` after a broken connection. Raises `ApiError`."""
        return self._request(
            "POST",
            "/api/v1/submissions",
            data=dict(fields),
            files={"file": (filename, data)},
            headers={"Idempotency-Key": key},
        )

    def status(self, submission: str, wait_s: float = 0.0) -> dict[str, Any]:
        """A submission as it is, or once it is settled, at the latest after `wait_s`. Raises `ApiError`."""
        return self._request("GET", f"/api/v1/submissions/{submission}", params={"wait": wait_s})

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
        return self._request("GET", httpx.URL(address).path) if address else None

    def standings(self, board: str) -> dict[str, Any]:
        """The first page of a board's standings. Raises `ApiError`."""
        return self._request("GET", f"/api/v1/boards/{board}/standings")

    def _request(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        headers = {"Accept": "application/json", **options.pop("headers", {})}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        for attempt in range(1, _TRIES + 1):
            try:
                response = httpx.request(method, self.url + path, headers=headers, timeout=120, **options)
            except httpx.TransportError as error:
                if attempt == _TRIES:
                    raise ApiError(f"{self.url} cannot be reached: {error}") from error
            else:
                if response.status_code < 500 or attempt == _TRIES:
                    return _body(response)
            time.sleep(2 ** (attempt - 1) * 0.25)
        raise AssertionError("unreachable: the last try returns or raises")


def _body(response: httpx.Response) -> dict[str, Any]:
    if response.is_success:
        body: dict[str, Any] = response.json()
        return body
    raise ApiError(_problem_text(response))


def _problem_text(response: httpx.Response) -> str:
    try:
        problem = response.json()
    except ValueError:
        return f"{response.status_code} from {response.url}"
    lines = [f"{problem.get('title', response.status_code)}: {problem.get('detail', '')}"]
    lines += [f"  {error['rule']} {error['where']}: {error['message']}" for error in problem.get("errors", [])]
    return "\n".join(lines)
