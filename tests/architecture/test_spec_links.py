"""Every test that a page of the specification names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PAGES = sorted((ROOT / "docs" / "spec").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_only_tests_that_exist(page: Path) -> None:
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(page.read_text(encoding="utf-8"))
        if not (ROOT / file).is_file() or f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["correctness", "scoring", "hap", "timing"])
def test_the_rules_name_their_tests(name: str) -> None:
    assert len(NAMED.findall((ROOT / "docs" / "spec" / f"{name}.md").read_text(encoding="utf-8"))) > 5
