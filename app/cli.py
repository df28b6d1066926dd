"""`hapboard`: hand in and look from a terminal; make users and tokens on the server."""

from __future__ import annotations

import json
import os
import shlex
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.auth.tokens import Scope
from kernel_eval.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.client.api import Client

_URL = click.option("--url", help="The service's address.  [env: HAPBOARD_URL; else the local stack of this clone]")
_TOKEN = click.option("--token", help="A token; better not on a command line.  [env: HAPBOARD_TOKEN]")
_TIMEOUT = click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0), default=3600.0, show_default=True,
    help="Seconds to wait at most.",
)  # fmt: skip
_WAIT = click.option("--wait/--no-wait", default=False, help="Wait until it is settled and print the result.")
_EXITS = """\b
Exit codes:
  0  done; with --wait: published, every operator of the board is solved and none is on hold
  1  with --wait: judged and something failed or is on hold, or cancelled, or withdrawn
  2  the call can't be used: option, address, token, name, field or archive; nothing was kept
  3  the service failed, can't be reached, or took longer than --timeout"""


@click.group(context_settings={"max_content_width": 100}, epilog=_EXITS)
def commands() -> None:
    """HapBoard: a leaderboard of NPU kernels.

    Which service is meant, say HAPBOARD_URL and HAPBOARD_TOKEN (or --url and --token). Where neither does and the
    current folder lies in a clone whose `make up` is running, that local stack is meant; standard error says so then.
    """


@commands.command(epilog=_EXITS)
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--board", required=True, help="Which board.")
@click.option("--agent", default="", help="The agent that wrote it.")
@click.option("--model", default="", help="The model behind the agent.")
@click.option("--harness", default="", help="What the agent ran in.")
@click.option("--dsl", default="", help="cpp, ascendc, aclnn, triton, tilelang or pypto.")
@click.option("--note", default="", help="Anything worth knowing.")
@click.option("--visibility", default="public", type=click.Choice(["public", "private"]), show_default=True)
@click.option("--mode", default="ranked", type=click.Choice(["ranked", "practice"]), show_default=True)
@_WAIT
@click.option("--key", default=None, help="Idempotency key; a fresh one where not given.")
@_URL
@_TOKEN
@_TIMEOUT
def submit(
    source: Path, wait: bool, key: str | None, url: str | None, token: str | None, timeout_s: float, **fields: str
) -> None:
    """Hand SOURCE in, a folder or an archive, and print what became of it as JSON."""
    with _told_faults():
        from app.client.handing import ready_archive

        client, key = _client(url, token), uuid.uuid4().hex if key is None else key
        filename, data = ready_archive(source, fields, key, client)
        _finish(client, client.submit(filename, data, fields, key), wait, timeout_s)


@commands.command(epilog=_EXITS)
@click.argument("submission")
@_WAIT
@_URL
@_TOKEN
@_TIMEOUT
def status(submission: str, wait: bool, url: str | None, token: str | None, timeout_s: float) -> None:
    """Print a submission, by its id, as JSON."""
    with _told_faults():
        client = _client(url, token)
        _finish(client, client.status(submission), wait, timeout_s)


@commands.command(epilog=_EXITS)
@click.argument("board")
@_URL
@_TOKEN
def standings(board: str, url: str | None, token: str | None) -> None:
    """Print a board's standings as JSON."""
    with _told_faults():
        _print(_client(url, token).standings(board))


@commands.command("env", epilog=_EXITS)
@_URL
@_TOKEN
def print_environment(url: str | None, token: str | None) -> None:
    """Print HAPBOARD_URL and HAPBOARD_TOKEN for other programs: eval "$(hapboard env)"."""
    from app.client.target import TOKEN_VARIABLE, URL_VARIABLE, choose_target

    with _told_faults():
        target = choose_target(url, token)
        target.need_token()
        click.echo(f"export {URL_VARIABLE}={shlex.quote(target.url)} {TOKEN_VARIABLE}={shlex.quote(target.token)}")


@commands.group()
def user() -> None:
    """Users; needs HAPBOARD_DATABASE_URL."""


@user.command("create")
@click.argument("name")
@click.option("--kind", default="person", type=click.Choice(["person", "team", "service"]), show_default=True)
def create_user(name: str, kind: str) -> None:
    """Make a user."""
    from app.models import UserKind
    from app.users import service

    with _told_faults(), _session() as session:
        view = service.create_user(session, name, UserKind(kind))
    _print(view.model_dump(mode="json"))


@commands.group()
def token() -> None:
    """Tokens; needs HAPBOARD_DATABASE_URL."""


@token.command("create")
@click.argument("user_name")
@click.option(
    "--scope", "scopes", multiple=True, default=["submit"], type=click.Choice([scope.value for scope in Scope])
)
@click.option("--days", default=90, show_default=True, help="How long it is good; 0 means for ever.")
def create_token(user_name: str, scopes: tuple[str, ...], days: int) -> None:
    """Make a token for USER_NAME and print it, once."""
    from app.users import service

    lifetime = timedelta(days=days) if days > 0 else None
    with _told_faults(), _session() as session:
        view = service.create_token(session, user_name, [Scope(word) for word in scopes], datetime.now(UTC), lifetime)
    _print(view.model_dump(mode="json"))


@commands.command()
def migrate() -> None:
    """Bring the database up to date; HAPBOARD_DATABASE_URL must name its owner."""
    from app.db.migrate import upgrade

    upgrade(_database_url())


@commands.command()
@click.option("--check", is_flag=True, help="Only tell whether docs/openapi.json is up to date.")
def openapi(check: bool) -> None:
    """Write docs/openapi.json."""
    from app.openapi import DOCUMENT, document_text

    text = document_text()
    if not check:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif not DOCUMENT.is_file() or DOCUMENT.read_text(encoding="utf-8") != text:
        raise click.ClickException(f"{DOCUMENT.name} is out of date; run `hapboard openapi`")


def main() -> None:
    """The entry point."""
    commands(prog_name="hapboard")


def _finish(client: Client, view: dict[str, Any], wait: bool, timeout_s: float) -> None:
    """Print the view, with the result where it was waited for; its exit code is that of the outcome then."""
    from app.client.outcome import settled_exit

    if not wait:
        _print(view)
        return
    settled = client.settled(view["id"], timeout_s)
    result = client.result(settled)
    _print({**settled, "result": result})
    raise SystemExit(settled_exit(settled, result))


@contextmanager
def _told_faults() -> Iterator[None]:
    """Tell expected faults in plain words: 2 for what the caller can mend, 3 for what he can't."""
    from app.client.api import ApiError
    from app.client.outcome import Exit
    from app.errors import PortalError

    try:
        yield
    except (UsageError, ApiError, PortalError) as fault:
        mendable = fault.status < 500 if isinstance(fault, PortalError) else isinstance(fault, UsageError)
        click.echo(f"Error: {fault}", err=True)
        raise SystemExit(Exit.USAGE if mendable else Exit.OURS) from fault


@contextmanager
def _session() -> Iterator[Session]:
    from app.db.session import make_engine, session_scope

    engine = make_engine(_database_url(), pool_size=1)
    try:
        with session_scope(engine) as session:
            yield session
    finally:
        engine.dispose()


def _database_url() -> str:
    url = os.environ.get("HAPBOARD_DATABASE_URL", "")
    if not url:
        raise click.UsageError("HAPBOARD_DATABASE_URL is not set; it names the database")
    return url


def _client(url: str | None, token: str | None) -> Client:
    """A client of the service that is meant; standard error names one that was found."""
    from app.client.api import Client
    from app.client.target import choose_target

    target = choose_target(url, token)
    if target.stack is not None:
        click.echo(f"hapboard: talking to {target.url}, the local stack in {target.stack}", err=True)
    return Client(target.url, target.token)


def _print(body: dict[str, Any]) -> None:
    click.echo(json.dumps(body, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
