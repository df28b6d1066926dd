"""One request for a page: the site, its reader, and who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_303_SEE_OTHER

from app.auth.principal import Anyone, Principal, check_csrf
from app.portal import Portal, portal_of
from app.web.reader import Reader, local_path, reader_of
from app.web.site import Site, site_of


@dataclass(frozen=True)
class Visit:
    """What a page route works with."""

    request: Request
    portal: Portal
    site: Site
    reader: Reader
    principal: Principal | None

    def page(self, template: str, status: int = 200, **context: Any) -> HTMLResponse:
        """A template as this visit's answer."""
        return self.site.page(template, self.reader, status, **context)

    def gettext(self, message: str) -> str:
        """`message` in the reader's language."""
        return self.site.speech(self.reader).gettext(message)

    def ngettext(self, singular: str, plural: str, count: int) -> str:
        """The form of a message that suits `count`, in the reader's language."""
        return self.site.speech(self.reader).ngettext(singular, plural, count)

    def check_form(self, csrf_token: str) -> None:
        """Refuse a form that did not come from a page of this session; raises `CsrfRefused`."""
        if self.principal is not None:
            check_csrf(self.portal, self.principal, csrf_token)


def visit(request: Request, principal: Anyone) -> Visit:
    """The visit behind a request."""
    portal = portal_of(request)
    session = principal.web_session if principal else None
    csrf = portal.signer.csrf_token(session) if session else ""
    reader = reader_of(request, principal.name if principal else None, csrf)
    return Visit(request, portal, site_of(request), reader, principal)


Visiting = Annotated[Visit, Depends(visit)]


def redirect(address: str) -> RedirectResponse:
    """Go on to a path of this site with a GET; any other address leads home."""
    return RedirectResponse(local_path(address), HTTP_303_SEE_OTHER)
