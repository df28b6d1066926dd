"""The example's way over a running stack: first user, submission, progress, result."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from app.auth.tokens import Scope
from app.db.session import make_engine, session_scope
from app.users import service
from app.users.errors import UserExists
from local_stack import database
from local_stack.client import Client, packed
from local_stack.console import Screen, Step
from local_stack.keys import write_private
from local_stack.layout import EXAMPLE, Layout
from local_stack.programs import Programs

BOARD = "cann-bench-small-cpu"
"""The board of a stack whose worker judges everything."""
USER = "hapboard"


@dataclass(frozen=True)
class Outcome:
    """A settled submission with its result; `result` is None where there is none."""

    submission: dict[str, Any]
    result: dict[str, Any] | None


def ensure_token(layout: Layout, programs: Programs) -> str:
    """The first user's token; user and token are made the first time."""
    if layout.token.exists():
        return layout.token.read_text().strip()
    engine = make_engine(programs.database.url(database.APP), pool_size=1)
    try:
        with session_scope(engine) as session:
            with contextlib.suppress(UserExists):
                service.create_user(session, USER)
            made = service.create_token(session, USER, list(Scope), datetime.now(UTC), None)
    finally:
        engine.dispose()
    write_private(layout.token, made.token.encode())
    return made.token


def judge_once(layout: Layout, client: Client, board: str, screen: Screen) -> Outcome:
    """Submits the example the first time, and from then on looks at that submission again."""
    with screen.step("Example submission") as step:
        public_id = _known(layout) or client.submit(EXAMPLE, board, f"example-{_digest()}")
        layout.example.write_text(json.dumps({"id": public_id}) + "\n")
        step.detail = public_id
    return _await(client, screen, public_id)


def judge_again(client: Client, board: str, screen: Screen, key: str) -> Outcome:
    """Submits the example anew."""
    with screen.step("Example submission") as step:
        public_id = client.submit(EXAMPLE, board, key)
        step.detail = public_id
    return _await(client, screen, public_id)


def _await(client: Client, screen: Screen, public_id: str) -> Outcome:
    with screen.step("Judging") as step:
        settled = client.await_settled(public_id, lambda seen: step.update(_stage(seen)))
        result = client.result(public_id) if settled["links"]["result"] else None
        _describe(step, settled, result)
    return Outcome(settled, result)


def show(outcome: Outcome, screen: Screen) -> None:
    """One line per operator: what it came to, its three axes, its speed beside the baseline."""
    if outcome.result is None:
        screen.fault(f"{outcome.submission['id']} is {outcome.submission['status']}: {outcome.submission['message']}")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for heading in ("  operator", "verdict", "score", "compiled", "correct", "fast", "speed-up"):
        table.add_column(heading, justify="left" if heading in ("  operator", "verdict") else "right")
    for row in outcome.result["operators"]:
        axes = (row[name] for name in ("score", "compile_points", "correct_points", "performance_points"))
        table.add_row(f"  {row['operator']}", row["verdict"], *map(_points, axes), _times(row["speedup"]))
    screen.console.print()
    screen.console.print(table)


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


def _describe(step: Step, settled: dict[str, Any], result: dict[str, Any] | None) -> None:
    step.detail = settled["status"]
    if result is not None and result.get("total") is not None:
        step.detail += f", {result['total']:.1f} points"


def _stage(seen: dict[str, Any]) -> str:
    """The current stage in words, with its count where there is one."""
    current = [step for step in seen["steps"] if step["state"] == "current"]
    if not current:
        return str(seen["status"])
    step = current[0]
    name = str(step["name"]).replace("_", " ")
    return f"{name} {step['done']}/{step['total']}" if step.get("total") else name


def _known(layout: Layout) -> str | None:
    return str(json.loads(layout.example.read_text())["id"]) if layout.example.exists() else None


def _digest() -> str:
    return hashlib.sha256(packed(EXAMPLE)).hexdigest()[:16]
