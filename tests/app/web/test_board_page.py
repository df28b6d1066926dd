"""The board's page: order, filters, dates, the map and its table."""

from __future__ import annotations

import httpx
import pytest

from tests.app.web.markup import Page

pytestmark = [pytest.mark.database, pytest.mark.queue]

BOARD = "/boards/cann-bench-small-cpu"


def names(page: Page) -> list[str]:
    return [e.text for e in page.all("a") if "row-link" in e.attributes.get("class", "") and "th" in e.inside]


def get(reader: httpx.Client, query: str = "") -> Page:
    answer = reader.get(f"{BOARD}{query}")
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def test_home_goes_to_the_only_board(reader: httpx.Client) -> None:
    answer = reader.get("/")
    assert answer.status_code == 303
    assert answer.headers["location"] == BOARD


def test_a_visitor_reads_who_leads_and_by_how_much(reader: httpx.Client) -> None:
    page = get(reader)
    said = next(e.text for e in page.all("p") if "verdict-line" in e.attributes.get("class", ""))
    assert said.startswith("KernelSmith leads with ")
    assert " of 800, " in said
    assert said.endswith(" ahead of Tilewright.")


def test_rows_come_by_rank_below_the_two_pinned_ones(reader: httpx.Client) -> None:
    page = get(reader)
    pinned = [e.text for e in page.all("tr") if e.attributes.get("class") == "pinned"]
    assert "Limit" in pinned[0]
    assert "800.0" in pinned[0]
    assert "Baseline" in pinned[1]
    assert "600.0" in pinned[1]
    assert names(page) == ["KernelSmith", "Tilewright", "昇腾小匠", "AutoVec", "first-try"]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("?sort=total&order=ascending", ["first-try", "AutoVec", "昇腾小匠", "Tilewright", "KernelSmith"]),
        ("?sort=entry&order=ascending", ["AutoVec", "first-try", "KernelSmith", "Tilewright", "昇腾小匠"]),
        ("?sort=date&order=descending", ["first-try", "昇腾小匠", "AutoVec", "Tilewright", "KernelSmith"]),
        ("?sort=solved&order=ascending", ["first-try", "AutoVec", "Tilewright", "KernelSmith", "昇腾小匠"]),
        ("?q=ORCA", ["KernelSmith", "AutoVec"]),
        ("?q=qilin+wei", ["昇腾小匠"]),
        ("?dsl=triton", ["first-try"]),
        ("?as_of=2026-11-26", ["KernelSmith", "Tilewright"]),
    ],
)
def test_the_address_sorts_and_filters(reader: httpx.Client, query: str, order: list[str]) -> None:
    assert names(get(reader, query)) == order


def test_the_sorted_column_says_so_and_its_link_turns_the_order(reader: httpx.Client) -> None:
    page = get(reader, "?sort=solved&order=ascending&dsl=cpp")
    sorted_heads = [e for e in page.all("th") if "aria-sort" in e.attributes]
    assert [(e.text.strip(" ▴▾"), e.attributes["aria-sort"]) for e in sorted_heads] == [("Solved", "ascending")]
    links = [e.attributes["href"] for e in page.all("a") if e.text.startswith("Solved")]
    assert links == [f"{BOARD}?dsl=cpp&sort=solved&order=descending"]


def test_nothing_found_says_how_to_see_everything(reader: httpx.Client) -> None:
    page = get(reader, "?q=nobody")
    assert names(page) == []
    assert "No entry fits this filter." in next(
        e.text for e in page.all("td") if "empty" in e.attributes.get("class", "")
    )


def test_a_date_that_is_none_is_refused_in_words(reader: httpx.Client) -> None:
    answer = reader.get(f"{BOARD}?as_of=30.11.2026")
    assert answer.status_code == 422
    assert "Write it as 2026-11-30." in answer.text


@pytest.mark.parametrize(
    ("query", "place", "said"),
    [
        ("level=abc", "level", "L1"),
        ("level=99", "level", "L1"),
        ("sort=speed", "sort", "solved"),
        ("order=up", "order", "descending"),
        (f"q={'a' * 101}", "q", "at most 100 characters"),
        (f"dsl={'a' * 41}", "dsl", "at most 40 characters"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_parameter_that_cannot_be_used_is_named_with_what_can(
    reader: httpx.Client, query: str, place: str, said: str, language: str
) -> None:
    answer = reader.get(f"{BOARD}?{query}", headers={"Accept-Language": language})
    assert answer.status_code == 422
    (fault,) = (
        e for e in Page(answer.text).all("li") if e.inside[-1] == "ul" and e.text.strip().startswith(f"{place}:")
    )
    assert said in fault.text


def test_a_choice_left_open_in_the_form_is_none(reader: httpx.Client) -> None:
    assert names(get(reader, "?level=&dsl=&q=&as_of=&sort=&order=")) == names(get(reader))


def test_a_cursor_of_elsewhere_is_refused_in_words(reader: httpx.Client) -> None:
    answer = reader.get(f"{BOARD}?cursor=%25%25")
    assert answer.status_code == 422
    assert "Start without one" in answer.text


def test_the_map_and_its_table_hold_the_same_figures(reader: httpx.Client) -> None:
    page = get(reader)
    cells = [e for e in page.all("a", "g") if e.attributes.get("class") == "cell"]
    assert len(cells) == 8 * 5
    build_failed = next(e for e in cells if e.attributes["aria-label"].startswith("gelu, AutoVec"))
    assert build_failed.attributes["aria-label"].endswith("build failed")
    assert build_failed.text.endswith("⌧")
    absent = next(e for e in cells if e.attributes["aria-label"] == "gelu, first-try: not attempted")
    assert "href" not in absent.attributes
    table = [e.text for e in page.all("td") if "details" in e.inside]
    assert len(table) == 8 * 5
    assert "–" in table
    assert "⌧ 0.0 (–)" in table


def test_a_case_under_review_puts_a_word_beside_the_entry(reader: httpx.Client) -> None:
    page = get(reader)
    row = next(e.text for e in page.all("tr") if "昇腾小匠" in e.text)
    assert "Provisional" in row


def test_an_unknown_board_is_not_found(reader: httpx.Client) -> None:
    assert reader.get("/boards/no-such-board").status_code == 404


def test_an_operator_has_its_own_page_with_ranking_cases_and_rules(reader: httpx.Client) -> None:
    answer = reader.get("/operators/foreach_norm", follow_redirects=True)
    assert answer.url.path == f"{BOARD}/operators/foreach_norm"
    page = Page(answer.text)
    assert "foreach_norm(Tensor[] x" in next(e.text for e in page.all("pre"))
    assert names(page)[:2] == ["KernelSmith", "Tilewright"]
    cases = [e for e in page.all("th") if "tbody" in e.inside and e.text.isdigit()]
    assert [e.text for e in cases] == [str(number) for number in range(1, 21)]
    assert reader.get(f"{BOARD}/operators/softmax").status_code == 404
    assert reader.get("/operators/softmax").status_code == 404
