"""Makes a submission ready to be sent, or tells everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from app.client.api import ApiError, Client
from app.client.pack import packed
from app.client.target import NO_TOKEN
from kernel_eval.errors import ArchiveRefused, Fault, UsageError


def ready_archive(source: Path, fields: Mapping[str, str], key: str, client: Client) -> tuple[str, bytes]:
    """Name and bytes of the archive of `source`.

    Raises `UsageError` with the faults of archive, fields, key and token together, and of the board where the
    service can be asked; nothing is sent then. A missing `source` is told alone.
    """
    from app.submissions.form import form_faults, key_faults

    faults = [*form_faults(fields), *key_faults(key)]
    archive = None
    try:
        archive = packed(source)
    except ArchiveRefused as refused:
        faults = [*refused.faults, *faults]
    if archive is not None and not faults and client.token:
        return archive
    faults += _board_faults(fields.get("board", ""), client, {fault.where for fault in faults})
    raise UsageError("\n".join([*map(str, faults), *([] if client.token else [NO_TOKEN])]))


def _board_faults(board: str, client: Client, named: set[str]) -> list[Fault]:
    """What the service would say of the board; nothing where it can't be asked now or the name is wrong anyway."""
    with suppress(ApiError, UsageError):
        known = client.boards()
        if "board" not in named and board.strip() not in known:
            return [Fault("REQ-005", "board", f"there is no board {board!r}; there are {', '.join(known) or 'none'}")]
    return []
