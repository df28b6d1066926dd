"""The form for submitting, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from app.auth.errors import SignInNeeded
from app.boards.service import list_boards
from app.submissions.errors import SubmissionRefused, UploadBroken, UploadTooLarge
from app.submissions.intake import take_in
from app.submissions.schemas import Dsl
from app.web.faults import FormFault, form_fault
from app.web.svg.markup import Gettext
from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for
from app.web.visit import Visit, Visiting, redirect
from kernel_eval.errors import Fault

router = APIRouter()
EMPTY: Final[Mapping[str, str]] = {
    "board": "", "agent": "", "model": "", "harness": "", "dsl": Dsl.CPP.value, "note": "", "mode": "ranked",
    "visibility": "public",
}  # fmt: skip
DSL_NAMES: Final[Mapping[Dsl, str]] = {
    Dsl.UNSTATED: N_("not stated"),
    Dsl.CPP: "C++",
    Dsl.ASCENDC: "Ascend C",
    Dsl.ACLNN: "aclnn",
    Dsl.TRITON: "Triton",
    Dsl.TILELANG: "TileLang",
    Dsl.PYPTO: "PyPTO",
}


@dataclass(frozen=True)
class Field:
    """A line of text in the form."""

    name: str
    label: str
    hint: str


@dataclass(frozen=True)
class SubmitForm:
    """The form as it is shown: choices, values, and all faults of what was sent."""

    boards: tuple[tuple[str, str], ...]
    fields: tuple[Field, ...]
    dsls: tuple[tuple[str, str], ...]
    values: Mapping[str, str]
    faults: tuple[FormFault, ...]
    max_bytes: int

    def faults_of(self, name: str) -> tuple[str, ...]:
        """What is wrong with one field."""
        return tuple(fault.message for fault in self.faults if fault.field == name)

    def faulty(self, name: str) -> bool:
        """Whether something is wrong with one field."""
        return bool(self.faults_of(name))


@router.get("/submit")
def show_form(visit: Visiting, board: str = "") -> Response:
    """The empty form."""
    return _form(visit, {**EMPTY, "board": board}, ())


@router.post("/submit")
async def submit(request: Request, visit: Visiting) -> Response:
    """Take the upload in and go on to its page, or name every fault at once."""
    if visit.principal is None:
        raise SignInNeeded
    try:
        accepted = await take_in(request, visit.principal)
    except SubmissionRefused as refused:
        return await _again(request, visit, refused.status, refused.faults)
    except (UploadTooLarge, UploadBroken) as refused:
        return await _again(request, visit, refused.status, (Fault("", "file", refused.detail),))
    return redirect(f"/submissions/{accepted.public_id}")


async def _again(request: Request, visit: Visit, status: int, faults: tuple[Fault, ...]) -> Response:
    sent: Mapping[str, str] = getattr(request.state, "sent_fields", {})
    values = {name: sent.get(name, value) for name, value in EMPTY.items()}
    return await run_in_threadpool(_form, visit, values, faults, status)


def _form(visit: Visit, values: Mapping[str, str], faults: tuple[Fault, ...], status: int = 200) -> Response:
    with visit.portal.database.session() as session:
        boards = tuple((board.slug, board.title) for board in list_boards(session))
    fields = _fields(visit.gettext)
    form = SubmitForm(
        boards=boards,
        fields=fields,
        dsls=tuple((dsl.value, visit.gettext(name)) for dsl, name in DSL_NAMES.items()),
        values=values,
        faults=tuple(form_fault(fault, _labels(fields, visit.gettext), visit.gettext) for fault in faults),
        max_bytes=visit.portal.settings.max_upload_bytes,
    )
    origin = visit.portal.settings.public_url
    return visit.page("pages/submit.html", status, section="submit", form=form, origin=origin)


def _fields(_: Gettext) -> tuple[Field, ...]:
    return (
        Field("agent", _("Agent"), _("Who wrote the kernels, as it shall stand on the board")),
        Field("model", _("Model"), _("The language model behind it, with its version")),
        Field("harness", _("Harness"), _("The program that drove it")),
    )


def _labels(fields: tuple[Field, ...], _: Gettext) -> dict[str, str]:
    others = {
        "file": _("Archive"), "board": _("Board"), "dsl": "DSL", "note": _("Note"), "mode": _("Mode"),
        "visibility": _("Who may see it"),
    }  # fmt: skip
    return {**{field.name: field.label for field in fields}, **others}
