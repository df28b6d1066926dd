"""Makes the portal: `uvicorn --factory app.main:create_app`. Loads neither torch nor numpy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool

from app import errors, health, logs
from app.auth import endpoints as auth
from app.auth.cookie import CookieSigner
from app.boards import endpoints as boards
from app.db.session import Database, make_engine
from app.entries import endpoints as entries
from app.head import HeadRequests
from app.operators import endpoints as operators
from app.portal import Portal
from app.queue import Dispatcher, celery_sender
from app.requests import RequestLog
from app.runs import endpoints as runs
from app.settings import AppSettings
from app.stopping import told_of_stop
from app.storage import FileStore
from app.submissions import endpoints as submissions
from app.submissions.feed import Feed
from app.web.routes import mount
from app.workers import endpoints as workers
from kernel_eval import __version__

API_PREFIX = "/api/v1"
Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def create_app(settings: AppSettings | None = None) -> FastAPI:
    """The portal with API and pages; settings come from the environment where not given."""
    settings = settings or AppSettings()
    logs.configure(as_json=settings.log_json)
    engine = make_engine(settings.database_url)
    dispatcher = Dispatcher(engine, celery_sender(settings.broker_url))
    portal = Portal(
        settings=settings,
        database=Database(engine, dispatcher.kick),
        store=FileStore(settings.storage_dir),
        feed=Feed(settings.database_url),
        signer=CookieSigner(settings.secret_key.get_secret_value(), settings.session_hours * 3600),
    )
    app = bare_app(_lifespan(portal, dispatcher))
    app.state.portal = portal
    mount(app)
    app.add_middleware(HeadRequests)
    app.add_middleware(RequestLog)
    return app


def bare_app(lifespan: Lifespan | None = None) -> FastAPI:
    """The API without anything behind it: all that its OpenAPI document needs."""
    app = FastAPI(
        title="HapBoard",
        version=__version__,
        summary="Leaderboard service for NPU kernels written by AI agents",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API_PREFIX}/openapi.json",
    )
    errors.install(app)
    api = APIRouter(prefix=API_PREFIX, responses=errors.PROBLEM_RESPONSES)
    for module in (auth, submissions, boards, runs, entries, operators, workers):
        api.include_router(module.router)
    app.include_router(api)
    app.include_router(health.router)
    return app


def _lifespan(portal: Portal, dispatcher: Dispatcher) -> Lifespan:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(portal.store.remove_stale)
        dispatcher.start()
        portal.feed.start()
        with told_of_stop(portal.feed.close):
            yield
        await portal.feed.stop()
        await run_in_threadpool(dispatcher.stop)
        portal.database.engine.dispose()

    return lifespan
