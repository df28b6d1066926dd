"""Where the pages are mounted on the app."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from app.web import problems
from app.web.headers import PageHeaders
from app.web.pages import account, boards, operators, queue, reading, submissions, submit
from app.web.site import STATIC_PREFIX, VersionedFiles, frontend_folder, read_site


def mount(app: FastAPI) -> None:
    """Add the pages, static files, page errors and security headers to an app whose API is mounted already."""
    folder = frontend_folder()
    app.state.site = read_site(folder)
    pages = APIRouter(include_in_schema=False)
    for module in (boards, operators, submissions, submit, queue, reading, account):
        pages.include_router(module.router)
    app.include_router(pages)
    app.mount(STATIC_PREFIX, VersionedFiles(directory=folder / "static"), name="static")
    app.add_middleware(PageHeaders)
    problems.install(app)
