"""The client against real sockets: what a service may answer, and what is told of it."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.client import api
from app.client.api import ApiError, Client
from kernel_eval.errors import UsageError

PROBLEM = json.dumps({"title": "Not found", "detail": "There is no board", "errors": []})
FAULTS = json.dumps({"title": "Refused", "detail": "d", "errors": [{"rule": "R-1", "where": "w", "message": "m"}]})


class _Answering(BaseHTTPRequestHandler):
    """Answers `/api/v1/boards/<status>/standings` with that status and the server's `content`."""

    def do_GET(self) -> None:
        status = int(self.path.split("/")[4])
        content: bytes = self.server.content  # type: ignore[attr-defined]
        self.server.asked += 1  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if 300 <= status < 400:
            self.send_header("Location", "https://elsewhere.example")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
    made.content, made.asked = b"{}", 0  # type: ignore[attr-defined]
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between tries."""
    monkeypatch.setattr(api.time, "sleep", lambda _: None)


ANSWERS = {
    "a page": (200, "<html>", UsageError, "not as HapBoard does"),
    "a list": (200, "[]", UsageError, "not as HapBoard does"),
    "nothing": (200, "", UsageError, "not as HapBoard does"),
    "a redirect": (301, "", UsageError, "has moved to https://elsewhere.example"),
    "a problem": (404, PROBLEM, UsageError, "Not found: There is no board"),
    "faults": (422, FAULTS, UsageError, "R-1 w: m"),
    "another server's 404": (404, "<html>", UsageError, "is that a HapBoard"),
    "another service's 400": (400, '{"error": 1}', UsageError, "is that a HapBoard"),
    "a fault of ours": (500, PROBLEM, ApiError, "Not found"),
    "a proxy's fault": (502, "<html>", ApiError, "502 from"),
}


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_an_answer_that_is_none_is_told_by_whose_fault_it_is(server: ThreadingHTTPServer, kind: str) -> None:
    status, content, error, expected = ANSWERS[kind]
    server.content = content.encode()  # type: ignore[attr-defined]
    with pytest.raises(error, match=expected):
        Client(f"http://127.0.0.1:{server.server_port}").standings(str(status))
    assert server.asked == (5 if status >= 500 else 1)  # type: ignore[attr-defined]


def test_names_are_part_of_the_path_and_nothing_else(server: ThreadingHTTPServer) -> None:
    client = Client(f"http://127.0.0.1:{server.server_port}")
    assert client.standings("200") == {}
    for name in ("200/../../404", "404?x=/"):
        with pytest.raises((UsageError, ApiError)):
            client.standings(name)


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "nonsense://x"])
def test_no_proxy_stands_before_this_very_machine(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    assert Client(f"http://127.0.0.1:{server.server_port}").standings("200") == {}
    assert Client(f"http://localhost:{server.server_port}").standings("200") == {}


def test_nobody_listening_is_the_services_fault_after_some_tries() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(ApiError, match="cannot be reached"):
            Client(f"http://127.0.0.1:{held.getsockname()[1]}", "hapb_x").standings("b")


def test_https_where_there_is_none_is_a_wrong_address(server: ThreadingHTTPServer) -> None:
    with pytest.raises(UsageError, match="no trusted TLS connection"):
        Client(f"https://127.0.0.1:{server.server_port}").standings("200")


def test_a_certificate_that_nobody_vouches_for_is_a_wrong_address(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine, so no certificate can be made")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-x509", "-out", str(certificate)]
    order = ["openssl", "req", *made, "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(order, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=r"no trusted TLS connection \(self.signed certificate"):
        Client(f"https://127.0.0.1:{server.server_port}", "hapb_x").standings("200")


def test_a_wrong_setting_of_this_machine_is_told_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://x")
    with pytest.raises(UsageError, match="no request to"):
        Client("http://board.example").standings("b")


def test_a_client_never_shows_its_token() -> None:
    assert "sEcReT" not in repr(Client("http://h", "sEcReT"))
