"""Who reads a page and how: language, theme, the page's own address, and the signed-in person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request

from app.web.translation import LANG_ATTRIBUTE, NAMES, Language, negotiated

LANGUAGE_COOKIE: Final = "hapboard_language"
THEME_COOKIE: Final = "hapboard_theme"
LANGUAGE_PARAMETER: Final = "lang"


class Theme(StrEnum):
    """Light, dark, or what the reader's system says."""

    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Reader:
    """Everything a page needs to know of the one who reads it."""

    language: Language
    theme: Theme
    path: str
    address: str
    user_name: str | None = None
    csrf: str = ""

    @property
    def lang(self) -> str:
        """The `lang` attribute of the page."""
        return LANG_ATTRIBUTE[self.language]

    @property
    def other_language(self) -> Language:
        """The language that the switch offers."""
        return Language.CHINESE if self.language is Language.ENGLISH else Language.ENGLISH

    @property
    def other_lang(self) -> str:
        """The `lang` attribute of the switch."""
        return LANG_ATTRIBUTE[self.other_language]

    @property
    def other_language_name(self) -> str:
        """The other language's name in itself."""
        return NAMES[self.other_language]


def reader_of(request: Request, user_name: str | None = None, csrf: str = "") -> Reader:
    """The reader behind a request; unknown values of cookies and parameters are ignored."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return Reader(
        language=negotiated(
            request.query_params.get(LANGUAGE_PARAMETER),
            request.cookies.get(LANGUAGE_COOKIE),
            request.headers.get("accept-language"),
        ),
        theme=Theme(theme) if theme in set(Theme) else Theme.AUTO,
        path=request.url.path,
        address=_address(request),
        user_name=user_name,
        csrf=csrf,
    )


def _address(request: Request) -> str:
    kept = [(key, value) for key, value in request.query_params.multi_items() if key != LANGUAGE_PARAMETER]
    return f"{request.url.path}?{urlencode(kept)}" if kept else request.url.path


def local_path(address: str) -> str:
    """`address` where it is a path of this site, else the home page; never leads elsewhere."""
    if not address.startswith("/") or address.startswith("//") or "\\" in address or not address.isprintable():
        return "/"
    return address
