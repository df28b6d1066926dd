"""The API's OpenAPI document as it is checked in."""

from __future__ import annotations

import json
from pathlib import Path

from app.main import bare_app

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "openapi.json"


def document_text() -> str:
    """The document, with sorted keys, ending in a line feed."""
    return json.dumps(bare_app().openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
