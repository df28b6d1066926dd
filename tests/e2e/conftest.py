"""A real Chromium on a real portal."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from local_stack.valkey import Valkey
from tests.app.conftest import Stage
from tests.factories.filled_portal import filled_portal
from tests.factories.servers import DatabaseFactory

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NO_CHROMIUM = "no Chromium on this machine (Debian: apt-get install chromium), so nothing is tried in a browser"
WIDE, PHONE = (1280, 900), (390, 844)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def filled(
    database_factory: DatabaseFactory, valkey_server: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A running portal with a filled board."""
    with filled_portal(database_factory, valkey_server.url, tmp_path_factory.mktemp("storage")) as portal:
        yield portal


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, headless; skips where there is none."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, filled: Stage) -> Iterator[OpenPage]:
    """Opens a path of the portal; any error of a script, and any request to elsewhere, fails the test."""
    wrong: list[str] = []
    origin = str(filled.http.base_url).rstrip("/")

    def note_request(address: str) -> None:
        if not address.startswith((origin, "data:")):
            wrong.append(f"request to {address}")

    def open_at(path: str, *, size: tuple[int, int] = WIDE, scripts: bool = True, **options: str) -> Page:
        context = chromium.new_context(
            base_url=origin,
            viewport={"width": size[0], "height": size[1]},
            java_script_enabled=scripts,
            locale=options.get("locale", "en-GB"),
            color_scheme="dark" if options.get("scheme") == "dark" else "light",
        )
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
        page.on("request", lambda request: note_request(request.url))
        page.goto(path)
        return page

    yield open_at
    for context in chromium.contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def signed_in(open_page: OpenPage, filled: Stage) -> OpenPage:
    """Opens a path as Ada."""

    def open_at(path: str, **options: object) -> Page:
        page = open_page("/sign-in", **options)
        page.get_by_label("Access token").fill(filled.token("ada"))
        page.locator("main").get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/boards/**")
        page.goto(path)
        return page

    return open_at
