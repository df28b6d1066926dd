"""Anchor sets survive a file, and broken files are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernel_eval.errors import UsageError
from kernel_eval.model import UNITS, Anchor, AnchorSet, Bottleneck, Limit, Provenance, Split
from kernel_eval.suite.anchors import load_anchors, save_anchors

LIMIT = Limit(1.5, dict.fromkeys(UNITS, 0.5), Bottleneck.MTE, "cpu", "1")
ANCHORS = AnchorSet(
    version="3",
    hardware="cpu",
    suite_digest="ab" * 32,
    recorded_at="2026-01-02T03:04:05Z",
    environment={"torch": "2.13"},
    anchors={"exp/public/1": Anchor("exp", Split.PUBLIC, 1, 4.25, LIMIT, Provenance.MEASURED)},
)


def test_a_set_is_read_back_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "cpu.json"
    save_anchors(ANCHORS, path)
    assert load_anchors(path) == ANCHORS
    assert [entry.name for entry in tmp_path.iterdir()] == ["cpu.json"]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("version"),
        lambda data: data.update(format=99),
        lambda data: data["anchors"]["exp/public/1"].pop("limit"),
        lambda data: data["anchors"]["exp/public/1"].update(baseline_us=0),
        lambda data: data["anchors"]["exp/public/1"].update(baseline_us="nan"),
        lambda data: data["anchors"]["exp/public/1"].update(split="secret"),
        lambda data: data["anchors"]["exp/public/1"]["limit"].update(bottleneck="Luck"),
        lambda data: data.update(anchors=[]),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, change: object) -> None:
    path = tmp_path / "cpu.json"
    save_anchors(ANCHORS, path)
    data = json.loads(path.read_text())
    change(data)  # type: ignore[operator]
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError, match=r"cpu\.json"):
        load_anchors(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}'])
def test_what_is_no_anchors_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "cpu.json").write_text(text)
    with pytest.raises(UsageError, match=r"cpu\.json"):
        load_anchors(tmp_path / "cpu.json")
    with pytest.raises(UsageError, match=r"none\.json"):
        load_anchors(tmp_path / "none.json")
