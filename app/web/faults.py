"""Faults of a form, each tied to its field, with the archive rules in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.web.svg.markup import Gettext
from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for
from kernel_eval.errors import Fault


@dataclass(frozen=True)
class FormFault:
    """One fault: its rule, where it is, what to do, and the id of the field it belongs to ("" for none)."""

    rule: str
    where: str
    message: str
    field: str


ARCHIVE_RULES: Final[Mapping[str, str]] = {
    "SUB-001": N_("This is no archive we know. Pack the folder as .tar, .tar.gz, .tar.xz, .tar.zst or .zip."),
    "SUB-002": N_("The content is another format than the file's name says. Rename it, or pack it again."),
    "SUB-003": N_("The archive is empty."),
    "SUB-004": N_("The archive is too large. Leave build output and data out."),
    "SUB-005": N_("The archive is damaged or cut off. Pack it and upload it again."),
    "SUB-006": N_("The archive has too many entries."),
    "SUB-007": N_("Unpacked it is too large."),
    "SUB-008": N_("It unpacks to far more than its own size."),
    "SUB-009": N_("Absolute paths are not allowed."),
    "SUB-010": N_("Paths must not lead upwards with “..”."),
    "SUB-011": N_("Links are not allowed; put the file itself in."),
    "SUB-012": N_("Only regular files and folders are allowed."),
    "SUB-013": N_("Files with setuid, setgid or sticky bits are not allowed."),
    "SUB-014": N_("A name is not valid UTF-8."),
    "SUB-015": N_("A name has characters that are not allowed."),
    "SUB-016": N_("A name or path is too long."),
    "SUB-017": N_("Folders are nested too deeply."),
    "SUB-018": N_("Two names are the same, or differ only in case."),
    "SUB-019": N_("A name is used as a file and as a folder."),
    "SUB-020": N_("Sparse files are not allowed."),
    "SUB-021": N_("Encrypted archives cannot be read."),
    "SUB-022": N_("The zip uses a method that we do not read; pack it with deflate."),
    "SUB-023": N_("There is neither build.sh nor dist/ at the top."),
    "SUB-024": N_("There are several folders at the top; put everything into one."),
    "SUB-025": N_("build.sh must be a regular, non-empty file."),
    "SUB-026": N_("There is data after the end of the archive."),
}


FORM_MESSAGES: Final[Mapping[str, tuple[str, str]]] = {
    "a ranked submission is public; send mode=practice to keep it private": (
        N_("A ranked submission is public. Choose practice to keep it private."),
        "visibility",
    ),
    "String should have at most 80 characters": (N_("At most 80 characters."), ""),
    "String should have at most 2000 characters": (N_("At most 2000 characters."), ""),
    "is missing; send the archive in this field": (N_("Choose an archive."), "file"),
}
"""What services say of a field, in the words of the form, with the field where the service names none."""


def form_fault(fault: Fault, fields: Mapping[str, str], _: Gettext) -> FormFault:
    """A service's fault for a form whose `fields` map the fault's place to its label.

    Where the reader's language has a sentence for the rule, it comes first and
    the exact message stays behind it.
    """
    if fault.rule in ARCHIVE_RULES:
        return FormFault(fault.rule, fault.where, _archive_message(fault, _), "file")
    message, field = FORM_MESSAGES.get(fault.message, (fault.message, ""))
    field = fault.where if fault.where in fields else field
    return FormFault("", fields.get(field, fault.where), _(message), field)


def _archive_message(fault: Fault, _: Gettext) -> str:
    rule = ARCHIVE_RULES[fault.rule]
    translated = _(rule)
    return fault.message if translated == rule else f"{translated} ({fault.message})"
