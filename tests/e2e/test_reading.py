"""Reading the board and a result in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.e2e.conftest import PHONE, OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.database, pytest.mark.queue]

BOARD = "/boards/cann-bench-small-cpu"
PAGES = (
    BOARD,
    f"{BOARD}/operators/foreach_addcdiv_scalar",
    "/boards",
    "/submissions/HB-DEMO-2026-000002#mish",
    "/submissions/HB-DEMO-2026-000041",
    "/submit",
    "/sign-in",
    "/queue",
    "/rules",
    "/method",
    "/api",
    "/no-such-page",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_board_follows_the_readers_colour_scheme_and_the_switch_overrules_it(
    open_page: OpenPage, scheme: str
) -> None:
    page = open_page(BOARD, scheme=scheme)
    assert is_dark(page) == (scheme == "dark")
    other = "Light" if scheme == "dark" else "Dark"
    assert not page.get_by_role("button", name=scheme.title(), exact=True).is_visible()
    page.get_by_role("button", name=other, exact=True).click()
    page.wait_for_load_state()
    assert page.url.endswith(BOARD)
    assert is_dark(page) == (other == "Dark")


def is_dark(page: Page) -> bool:
    red, green, blue = page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    )
    return red + green + blue < 384


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_no_page_scrolls_sideways_on_a_phone(open_page: OpenPage, locale: str) -> None:
    page = open_page(BOARD, size=PHONE, locale=locale)
    wide = []
    for path in PAGES:
        page.goto(path)
        content, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if content > screen:
            wide.append((path, content))
    assert wide == []


def test_targets_are_at_least_24_pixels_high(open_page: OpenPage) -> None:
    page = open_page(BOARD, size=PHONE)
    small = page.evaluate(
        """() => [...document.querySelectorAll("header a, header button, summary, .filters :is(button, input, select)")]
        .filter((target) => target.offsetParent && target.getBoundingClientRect().height < 24)
        .map((target) => target.textContent.trim() || target.name)"""
    )
    assert small == []


def test_a_result_opens_at_the_operator_that_the_address_names(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    page.locator("svg.heat-map a", has=page.get_by_text("× 0.", exact=False)).first.click()
    page.wait_for_url("**/submissions/*#mish")
    assert page.locator("details#mish").get_attribute("open") is not None
    assert page.locator("details#mish svg.case-strip").is_visible()
    assert page.locator("details#exp").get_attribute("open") is None
    page.locator("details#exp summary").first.click()
    assert page.locator("details#exp svg.case-strip").is_visible()


def test_arrow_keys_move_through_the_heat_map(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    page.locator("svg.heat-map [tabindex='0']").focus()
    assert focused(page).startswith("exp, KernelSmith: score ")
    page.keyboard.press("ArrowRight")
    assert focused(page).startswith("exp, Tilewright: score ")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("foreach_addcdiv_scalar, Tilewright: ")
    page.keyboard.press("End")
    assert focused(page) == "foreach_addcdiv_scalar, first-try: not attempted"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    assert focused(page).startswith("foreach_addcdiv_scalar, KernelSmith: ")
    assert page.locator("svg.heat-map [tabindex='0']").count() == 1


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_the_keyboard_reaches_the_content_first_and_focus_is_seen(open_page: OpenPage) -> None:
    page = open_page("/rules")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_the_whole_row_leads_to_the_result(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    row = page.locator("tr.linked").nth(1)
    box = row.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 120, box["y"] + box["height"] / 2)
    page.wait_for_url("**/submissions/HB-DEMO-2026-000002")


def test_times_show_local_time_on_hover(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    assert "2026" in (page.locator("tbody time").first.get_attribute("title") or "")


def test_everything_can_be_read_without_scripts(open_page: OpenPage) -> None:
    page = open_page(BOARD, scripts=False)
    page.get_by_label("Search").fill("orca")
    page.get_by_role("button", name="Apply").click()
    assert page.locator("tr.linked").count() == 2
    page.get_by_role("link", name="KernelSmith").first.click()
    page.locator("details#exp summary").first.click()
    assert page.locator("details#exp svg.case-strip").is_visible()


def test_in_print_only_the_content_remains(open_page: OpenPage) -> None:
    page = open_page(BOARD, scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("form.filters").is_visible()
    assert page.locator("svg.heat-map").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(25, 27, 31)"
