"""Cursors of pages of standings: the key of the last row that was shown. Pure.

The key is what rows are ordered by, so a page neither repeats nor skips a row
that was there all the time, whatever is published meanwhile.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime

from app.boards.errors import CursorInvalid


@dataclass(frozen=True, order=True)
class RowKey:
    """Order of rows: falling total (as ranked, in thousandths), then time of receipt, then entry."""

    minus_total_milli: int
    received_at: datetime
    entry_id: int


def row_key(total: float, received_at: datetime, entry_id: int) -> RowKey:
    """The key of a row."""
    return RowKey(-round(total * 1000), received_at, entry_id)


def written(key: RowKey) -> str:
    """A key as an opaque text for URLs."""
    text = json.dumps([key.minus_total_milli, key.received_at.isoformat(), key.entry_id])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(cursor: str) -> RowKey:
    """The key behind a cursor; raises `CursorInvalid`."""
    try:
        minus_total, received_at, entry_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(received_at)
        if moment.tzinfo is None:
            raise CursorInvalid
        return RowKey(int(minus_total), moment, int(entry_id))
    except (ValueError, TypeError) as error:
        raise CursorInvalid from error
