"""Files by digest: bounded, whole or absent, nothing left behind."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from app.storage import FileStore, TooLarge


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_kept_file_lies_under_the_digest_of_its_bytes(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.stage(100) as staged:
        staged.write(b"one")
        staged.write(b"two")
        path = store.keep(staged)
    digest = hashlib.sha256(b"onetwo").hexdigest()
    assert path == tmp_path / "sha256" / digest[:2] / digest
    assert files(tmp_path) == [path]
    with store.open(digest) as file:
        assert file.read() == b"onetwo"


def test_a_stage_that_is_not_kept_is_gone_even_after_an_error(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.stage(100) as staged:
        staged.write(b"x")
    with pytest.raises(TooLarge), store.stage(1) as staged:
        staged.write(b"xx")
    assert files(tmp_path) == []


def test_the_limit_holds_to_the_byte_while_writing(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    with store.stage(10) as staged:
        staged.write(b"x" * 10)
        with pytest.raises(TooLarge):
            staged.write(b"x")
        assert staged.size_bytes == 10
        staged.file.flush()
        assert staged.path.stat().st_size == 10
    assert files(tmp_path) == []


def test_keeping_the_same_content_twice_is_one_file(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for _ in range(2):
        with store.stage(10) as staged:
            staged.write(b"same")
            store.keep(staged)
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "/"])
def test_what_is_no_digest_has_no_path(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="64"):
        FileStore(tmp_path).path(digest)


def test_stages_of_killed_processes_are_removed_after_a_day_and_fresh_ones_stay(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    old, fresh = incoming / "old", incoming / "fresh"
    for path in (old, fresh):
        path.write_bytes(b"x")
    os.utime(old, (1000, 1000))
    assert store.remove_stale() == 1
    assert files(tmp_path) == [fresh]
