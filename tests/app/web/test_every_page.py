"""What holds for every page, in both languages."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.app.web.markup import Element, Page

pytestmark = [pytest.mark.database, pytest.mark.queue]

BOARD = "/boards/cann-bench-small-cpu"
PATHS = (
    BOARD,
    f"{BOARD}?sort=entry&q=smith",
    f"{BOARD}?as_of=2026-11-26",
    f"{BOARD}/operators/exp",
    f"{BOARD}/operators/foreach_norm",
    "/boards",
    "/submissions/HB-DEMO-2026-000002",
    "/submissions/HB-DEMO-2026-000003",
    "/submissions/HB-DEMO-2026-000041",
    "/submissions/HB-DEMO-2026-000042",
    "/results/HB-DEMO-2026-000001",
    "/submit",
    "/sign-in",
    "/queue",
    "/rules",
    "/method",
    "/api",
    "/nothing-here",
)
LANGUAGES = ("en", "zh")
ENGLISH = re.compile(r"[A-Za-z]{3,} [a-z]{2,} [a-z]{2,}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(params=[(path, language) for path in PATHS for language in LANGUAGES], ids="{0[0]}-{0[1]}".format)
def answer(request: pytest.FixtureRequest, reader: httpx.Client) -> httpx.Response:
    path, language = request.param
    return reader.get(path, headers={"Accept-Language": language})


def test_a_page_is_whole_and_keeps_the_strict_policy(answer: httpx.Response) -> None:
    assert answer.status_code == (404 if "nothing-here" in str(answer.url) else 200)
    page = Page(answer.text)
    assert page.faults == []
    assert_policy(answer, page)
    assert_structure(answer, page)


@pytest.mark.parametrize("path", PATHS)
def test_a_chinese_page_speaks_chinese_but_for_what_is_marked_as_english(reader: httpx.Client, path: str) -> None:
    page = Page(reader.get(path, headers={"Accept-Language": "zh"}).text)
    said = page.said_in("zh-Hans")
    assert any(CHINESE.search(text) for text in said)
    assert [text.strip() for text in said if ENGLISH.search(text) and not CHINESE.search(text)] == []
    named = [e.attributes.get("aria-label", "") + e.attributes.get("title", "") for e in page.elements]
    assert [text for text in named if ENGLISH.search(text)] == []


def assert_policy(answer: httpx.Response, page: Page) -> None:
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [address for address in page.addresses() if not address.startswith(("/", "#"))] == []
    assert [element for element in page.elements if "style" in element.attributes or element.tag == "style"] == []
    assert [name for element in page.elements for name in element.attributes if name.startswith("on")] == []
    assert [
        element.text for element in page.all("script") if element.text.strip() or "src" not in element.attributes
    ] == []


def assert_structure(answer: httpx.Response, page: Page) -> None:
    language = answer.request.headers["accept-language"]
    html = next(page.all("html"))
    assert html.attributes["lang"] == {"en": "en", "zh": "zh-Hans"}[language]
    assert len(list(page.all("h1"))) == len(list(page.all("main"))) == 1
    first = next(element for element in page.all("a"))
    assert first.attributes == {"class": "skip", "href": "#content"}
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert sorted(ids) == sorted(set(ids))
    own = [table for table in page.all("table") if "prose" not in table.below]
    assert [table.text[:40] for table in own if not next_is(page, table, "caption")] == []
    heads = [head for head in page.all("th") if "prose" not in head.below]
    assert [head.text for head in heads if "scope" not in head.attributes] == []
    labelled = {element.attributes.get("for") for element in page.all("label")}
    fields = [e for e in page.all("input", "select", "textarea") if e.attributes.get("type") not in ("hidden", "radio")]
    assert [e.attributes["id"] for e in fields if e.attributes["id"] not in labelled] == []
    if language == "zh":
        assert CHINESE.search(next(page.all("h1")).text + next(page.all("nav")).text)
    else:
        assert not CHINESE.search(next(page.all("nav")).text)


def next_is(page: Page, element: Element, tag: str) -> bool:
    return page.elements[page.elements.index(element) + 1].tag == tag


def test_static_files_are_named_by_their_content_and_kept(reader: httpx.Client) -> None:
    page = Page(reader.get("/rules").text)
    files = [e.attributes.get("href", e.attributes.get("src", "")) for e in page.all("link", "script")]
    assert len(files) >= 6
    for address in files:
        answer = reader.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert re.search(r"\?v=[0-9a-f]{12}$", address)


def test_scripts_name_no_other_site_and_make_no_html_from_text(reader: httpx.Client) -> None:
    for name in ("page", "live", "upload", "heatmap"):
        text = reader.get(f"/static/js/{name}.js").text
        assert "http:" not in text
        assert "https:" not in text
        assert not re.search(r"innerHTML|insertAdjacentHTML|eval\(|document\.write", text)


def test_the_api_answers_carry_the_headers_too(reader: httpx.Client) -> None:
    answer = reader.get("/api/v1/boards")
    assert answer.json()
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_no_page_tells_anything_of_a_single_hidden_case(reader: httpx.Client) -> None:
    page = reader.get("/submissions/HB-DEMO-2026-000002").text
    assert "/hidden/" not in page
    assert "About 95 % of the 80 hidden cases are correct" in page
    labels = re.findall(r"#(\d+) ", page)
    assert labels
    assert max(int(label) for label in labels) <= 20
