"""The interface's languages: message catalogues read once, and which language a reader gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.core import negotiate_locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations


class Language(StrEnum):
    """The languages of the pages, by their HTML `lang` value."""

    ENGLISH = "en"
    CHINESE = "zh"


NAMES: Final[Mapping[Language, str]] = {Language.ENGLISH: "English", Language.CHINESE: "中文"}
LANG_ATTRIBUTE: Final[Mapping[Language, str]] = {Language.ENGLISH: "en", Language.CHINESE: "zh-Hans"}
DOMAIN: Final = "messages"


@dataclass(frozen=True)
class Speech:
    """How a page speaks: its language and the translations into it."""

    language: Language
    translations: Translations

    def gettext(self, message: str) -> str:
        """`message`, written in English, in this language."""
        return str(self.translations.ugettext(message))

    def ngettext(self, singular: str, plural: str, count: int) -> str:
        """The form of a message that suits `count`."""
        return str(self.translations.ungettext(singular, plural, count))


def catalogue_path(locales: Path, language: Language) -> Path:
    """Where a language's catalogue lies."""
    return locales / language.value / "LC_MESSAGES" / f"{DOMAIN}.po"


def read_speech(locales: Path, language: Language) -> Speech:
    """Compile a language's catalogue in memory; English is the source and needs none."""
    path = catalogue_path(locales, language)
    compiled = BytesIO()
    with path.open("rb") as source:
        write_mo(compiled, read_po(source, locale=language.value, domain=DOMAIN))
    compiled.seek(0)
    return Speech(language, Translations(compiled, domain=DOMAIN))


def negotiated(wanted: str | None, remembered: str | None, accepted: str | None) -> Language:
    """The language to speak: the one asked for, else the remembered one, else the browser's, else English."""
    for name in (wanted, remembered):
        if name in set(Language):
            return Language(str(name))
    return _from_header(accepted or "")


@lru_cache(maxsize=256)
def _from_header(accepted: str) -> Language:
    preferred = [name.split("-")[0].strip().lower() for name, _ in sorted(_weighted(accepted), key=lambda e: -e[1])]
    found = negotiate_locale(preferred, [language.value for language in Language])
    return Language(found) if found else Language.ENGLISH


def _weighted(accepted: str) -> list[tuple[str, float]]:
    entries: list[tuple[str, float]] = []
    for part in accepted.split(",")[:16]:
        name, _, weight = part.partition(";q=")
        try:
            entries.append((name.strip(), float(weight or 1)))
        except ValueError:
            continue
    return [(name, weight) for name, weight in entries if weight > 0]


def mark(message: str) -> str:
    """Mark a message for the catalogues where it stands; it is translated where it is shown."""
    return message
