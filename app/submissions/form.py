"""What is wrong with the fields of a submission. Pure; used by the service and by its command line."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from app.errors import validation_faults
from app.submissions.schemas import SubmissionForm
from kernel_eval.errors import Fault

MAX_KEY_LENGTH = 128


def read_form(fields: Mapping[str, str]) -> tuple[SubmissionForm | None, list[Fault]]:
    """The form, or None and every fault of it."""
    try:
        return SubmissionForm.model_validate(dict(fields)), []
    except ValidationError as error:
        return None, list(validation_faults(error.errors()))


def form_faults(fields: Mapping[str, str]) -> list[Fault]:
    """Every fault of the text fields."""
    return read_form(fields)[1]


def key_faults(key: str | None) -> list[Fault]:
    """What is wrong with an idempotency key; None is none."""
    if key is None or (0 < len(key) <= MAX_KEY_LENGTH and key.isascii() and key.isprintable()):
        return []
    message = f"must be 1 to {MAX_KEY_LENGTH} printable ASCII characters"
    return [Fault("REQ-004", "Idempotency-Key", message)]
