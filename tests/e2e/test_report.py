"""The judge's HTML report in a real browser: no request to anywhere, no sideways scrolling, all of it on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from kernel_eval.model import Verdict
from kernel_eval.report import report_to_html
from tests.factories.judged_reports import Kernel, report_on
from tests.factories.portal_data import small_suite

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    kernels = {"exp": Kernel(0.7), "mish": Kernel(0.4, {3: Verdict.WRONG_VALUES})}
    path.write_text(report_to_html(report_on(small_suite(), kernels)), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_needs_nothing_from_elsewhere_and_fits_its_window(
    report: Path, chromium: Browser, width: int, scheme: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("h2 ~ svg").count() == 2
    context.close()


def test_paper_shows_the_tables_that_are_closed_on_screen(report: Path, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 794, "height": 1123})
    page.goto(report.as_uri())
    row = page.get_by_role("row", name="hidden 80", include_hidden=True).first
    assert not row.is_visible()
    page.emulate_media(media="print")
    assert row.is_visible()
    assert (row.bounding_box() or {})["height"] > 5
    assert page.evaluate("document.documentElement.scrollWidth") == 794
    page.close()
