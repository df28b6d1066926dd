"""Folders and archives before they are sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.client.pack import packed
from kernel_eval.build.archive import DEFAULT_LIMITS
from kernel_eval.errors import ArchiveRefused, UsageError
from tests.factories.archives import tar


def test_how_large_an_archive_may_be_is_left_to_the_service(tmp_path: Path) -> None:
    large = tar({"build.sh": b"x", "data": os.urandom(1 << 20) * (DEFAULT_LIMITS.max_archive_bytes >> 20)})
    assert len(large) > DEFAULT_LIMITS.max_archive_bytes
    (tmp_path / "k.tar").write_bytes(large)
    assert packed(tmp_path / "k.tar") == ("k.tar", large)


def test_a_bad_archive_is_refused_with_all_its_faults(tmp_path: Path) -> None:
    (tmp_path / "k.tar").write_bytes(tar({"../a": b"x", "/b": b"x"}))
    with pytest.raises(ArchiveRefused) as caught:
        packed(tmp_path / "k.tar")
    assert {fault.rule for fault in caught.value.faults} >= {"SUB-009", "SUB-010"}


@pytest.mark.parametrize("name", ["nowhere", "device"])
def test_what_is_no_folder_and_no_archive_is_named(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "device")
    with pytest.raises(UsageError, match=name):
        packed(tmp_path / name)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build.sh").write_bytes(b"x")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "build.sh"))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"build\.sh: cannot be read: Permission denied"):
        packed(tmp_path)
