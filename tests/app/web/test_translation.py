"""Every text of the interface, in both languages."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po

from app.web.site import frontend_folder, read_site
from app.web.translation import Language, catalogue_path, negotiated

ROOT = frontend_folder().parent
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "N_": None}
UNTRANSLATED = re.compile(r"[A-Za-z]{3,} [a-z]{2,} [a-z]{2,}")
PERCENT = re.compile(r"%\((\w+)\)s")


@cache
def used_messages() -> dict[str, str]:
    """Every message in the sources, with the place where it stands."""
    with (ROOT / "frontend/locales/babel.cfg").open() as config:
        methods, options = parse_mapping_cfg(config)
    found: dict[str, str] = {}
    for filename, line, message, _comments, _context in _extracted(methods, options):
        found[message[0] if isinstance(message, tuple) else message] = f"{filename}:{line}"
    return found


def _extracted(methods: list[tuple[str, str]], options: dict[str, dict[str, str]]) -> Iterator[tuple]:
    for folder in ("app/web", "frontend/templates"):
        mapping = [
            (pattern.removeprefix(f"{folder}/"), method) for pattern, method in methods if pattern.startswith(folder)
        ]
        own = {pattern.removeprefix(f"{folder}/"): value for pattern, value in options.items()}
        yield from extract_from_dir(str(ROOT / folder), mapping, own, KEYWORDS, callback=None)


def catalogue(language: Language) -> Catalog:
    path: Path = catalogue_path(ROOT / "frontend/locales", language)
    with path.open("rb") as source:
        return read_po(source, locale=language.value)


def translated() -> list[Message]:
    return [message for message in catalogue(Language.CHINESE) if message.id]


def key_of(message: Message) -> str:
    return message.id[0] if isinstance(message.id, tuple) else message.id


def test_no_message_hides_in_an_f_string_where_the_extraction_does_not_see_it() -> None:
    hidden = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted((ROOT / "app/web").rglob("*.py"))
        for piece in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(piece, ast.JoinedStr)
        for call in ast.walk(piece)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in KEYWORDS
    ]
    assert hidden == []


def test_messages_are_found_in_templates_and_in_code() -> None:
    places = used_messages().values()
    assert len(used_messages()) > 300
    assert any(place.endswith(".py") or ".py:" in place for place in places)
    assert any(".html:" in place for place in places)


def test_every_message_is_translated_and_no_translation_is_left_over() -> None:
    known = {key_of(message) for message in translated()}
    missing = {message: place for message, place in used_messages().items() if message not in known}
    assert missing == {}
    assert sorted(known - set(used_messages())) == []


def test_no_translation_is_empty_or_doubtful() -> None:
    texts = [
        (message, form)
        for message in translated()
        for form in ([message.string] if isinstance(message.string, str) else message.string)
    ]
    assert [key_of(message) for message, form in texts if not form.strip()] == []
    assert [key_of(message) for message, _form in texts if message.fuzzy] == []


def placeholders(text: str) -> set[str]:
    braces = {name for _, name, _, _ in string.Formatter().parse(PERCENT.sub("", text)) if name}
    return braces | {f"%{name}" for name in PERCENT.findall(text)}


def test_translations_keep_their_placeholders() -> None:
    wrong = []
    for message in translated():
        forms = [message.string] if isinstance(message.string, str) else message.string
        wrong += [key_of(message) for form in forms if placeholders(form) != placeholders(key_of(message))]
    assert wrong == []


def test_translations_are_chinese_and_not_the_english_text_again() -> None:
    plain = {
        key_of(message)
        for message in translated()
        if message.string == message.id and UNTRANSLATED.search(key_of(message))
    }
    assert plain == set()


def test_prose_exists_in_every_language() -> None:
    folder = ROOT / "frontend/templates/prose"
    names = {path.name.split(".")[0] for path in folder.glob("*.md")}
    assert names == {"rules", "method"}
    for name in names:
        headings = [(folder / f"{name}.{language}.md").read_text("utf-8").count("\n## ") for language in Language]
        assert headings[0] > 3
        assert len(set(headings)) == 1


def test_a_site_speaks_each_language() -> None:
    site = read_site(frontend_folder())
    assert site.speeches[Language.ENGLISH].gettext("Queue") == "Queue"
    assert site.speeches[Language.CHINESE].gettext("Queue") == "队列"
    assert site.speeches[Language.ENGLISH].ngettext("{count} entry", "{count} entries", 1) == "{count} entry"
    assert site.speeches[Language.CHINESE].ngettext("{count} entry", "{count} entries", 5) == "{count} 个条目"


@pytest.mark.parametrize(
    ("wanted", "remembered", "accepted", "language"),
    [
        (None, None, None, Language.ENGLISH),
        (None, None, "zh-CN,zh;q=0.9,en;q=0.8", Language.CHINESE),
        (None, None, "en;q=0.3,zh;q=0.9", Language.CHINESE),
        (None, None, "fr,de;q=0.5", Language.ENGLISH),
        (None, "en", "zh-CN", Language.ENGLISH),
        ("zh", "en", "en", Language.CHINESE),
        ("xx", "../../etc", "zh;q=nonsense", Language.ENGLISH),
    ],
)
def test_the_language_is_the_one_asked_for_then_remembered_then_the_browsers(
    wanted: str | None, remembered: str | None, accepted: str | None, language: Language
) -> None:
    assert negotiated(wanted, remembered, accepted) is language
