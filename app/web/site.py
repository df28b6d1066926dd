"""The site's parts that are read once: templates, catalogues, and the versions of static files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.web import figures, words
from app.web.prose import rendered, spoken
from app.web.reader import Reader
from app.web.translation import Language, Speech, read_speech
from kernel_eval import __version__

STATIC_PREFIX: Final = "/static"
STATIC_LIFETIME: Final = "public, max-age=31536000, immutable"


def frontend_folder() -> Path:
    """The folder of templates, static files and catalogues, beside the package."""
    return Path(__file__).resolve().parents[2] / "frontend"


class VersionedFiles(StaticFiles):
    """Static files whose addresses carry their content's digest, so that browsers may keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, kept for ever where it was asked for by its version."""
        response = await super().get_response(path, scope)
        if b"v=" in scope.get("query_string", b""):
            response.headers["cache-control"] = STATIC_LIFETIME
        return response


@dataclass(frozen=True)
class Site:
    """Renders pages in every language."""

    speeches: Mapping[Language, Speech]
    environments: Mapping[Language, Environment]

    def render(self, template: str, reader: Reader, **context: Any) -> str:
        """A template's text for that reader."""
        return self.environments[reader.language].get_template(template).render(reader=reader, **context)

    def page(self, template: str, reader: Reader, status: int = 200, **context: Any) -> HTMLResponse:
        """A template as an answer; pages differ by language, theme and person, and are never kept by proxies."""
        headers = {
            "content-language": reader.lang,
            "vary": "accept-language, cookie",
            "cache-control": "private, no-cache",
        }
        return HTMLResponse(self.render(template, reader, **context), status, headers)

    def speech(self, reader: Reader) -> Speech:
        """How to speak to that reader."""
        return self.speeches[reader.language]


def read_site(folder: Path) -> Site:
    """Read templates, catalogues and static files' versions from the frontend folder."""
    speeches = {language: read_speech(folder / "locales", language) for language in Language}
    versions = static_versions(folder / "static")
    environments = {
        language: _environment(folder / "templates", speech, versions) for language, speech in speeches.items()
    }
    return Site(speeches, environments)


def site_of(request: Request) -> Site:
    """The site behind a request."""
    site: Site = request.app.state.site
    return site


def static_versions(folder: Path) -> Mapping[str, str]:
    """Per static file, by its path below the folder, the head of its content's digest."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _environment(folder: Path, speech: Speech, versions: Mapping[str, str]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_callables(speech.gettext, speech.ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.globals.update(asset=lambda path: f"{STATIC_PREFIX}/{path}?v={versions[path]}", version=__version__)
    environment.filters.update(_filters())
    return environment


def _filters() -> dict[str, Any]:
    return {
        "score": figures.score,
        "hap": figures.hap,
        "us": figures.microseconds,
        "ratio": figures.ratio,
        "error_figure": figures.scientific,
        "moment": figures.moment,
        "day": figures.day,
        "clock": figures.clock,
        "duration": figures.duration,
        "file_size": figures.file_size,
        "grouped": figures.grouped,
        "shortened": figures.shortened,
        "iso": _iso,
        "breakable": breakable,
        "markdown": rendered,
        "spoken": spoken,
        "glyph": words.glyph,
        "verdict_word": lambda key: words.spelled(words.VERDICT_WORDS, key),
        "status_word": lambda key: words.spelled(words.STATUS_WORDS, key),
        "flag_word": lambda key: words.spelled(words.FLAG_WORDS, key),
        "severity_word": lambda key: words.spelled(words.SEVERITY_WORDS, key),
        "badge_word": lambda key: words.spelled(words.BADGE_WORDS, key),
        "badge_meaning": lambda key: words.BADGE_MEANINGS.get(key, ""),
        "rule_word": words.rule_words,
    }


def breakable(name: str) -> Markup:
    """A name of several words that may go on in a new line behind each underscore."""
    return Markup(str(escape(name)).replace("_", "_<wbr>"))


def _iso(value: datetime) -> str:
    return figures.in_utc(value).isoformat(timespec="seconds")
