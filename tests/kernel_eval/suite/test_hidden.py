"""Hidden cases: secret, sealed, complete."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from kernel_eval.errors import UsageError
from kernel_eval.model import Split, Suite
from kernel_eval.suite import default_bench_data, load_suite
from kernel_eval.suite.hidden import MANIFEST, SEAL, generate_hidden, overlay_hidden, read_manifest
from kernel_eval.suite.validate import validate_suite

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(default_bench_data(), "cann-bench-small")


@pytest.fixture
def folder(suite: Suite, tmp_path: Path) -> Path:
    generate_hidden(suite, SECRET, tmp_path / "hidden", "2026-1")
    return tmp_path / "hidden"


def test_eighty_cases_per_operator_lie_over_the_public_ones(suite: Suite, folder: Path) -> None:
    whole = overlay_hidden(suite, folder)
    for operator in whole.operators:
        cases = whole.cases_of(operator.name)
        assert [case.split for case in cases] == [Split.PUBLIC] * 20 + [Split.HIDDEN] * 80
        assert [case.case_id for case in cases[20:]] == list(range(1, 81))
    assert (whole.season, whole.hidden_digest) == ("2026-1", read_manifest(folder).digest)
    assert whole.digest == suite.digest
    assert len(whole.seeds[Split.HIDDEN]) == 32
    assert whole.seeds[Split.HIDDEN].hex() not in repr(whole)
    validate_suite(whole)


def test_files_belong_to_their_owner_alone(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_the_same_secret_gives_the_same_set_and_nothing_else_does(suite: Suite, folder: Path, tmp_path: Path) -> None:
    again = generate_hidden(suite, SECRET, tmp_path / "again", "2026-1")
    assert again == read_manifest(folder)
    tables = {(folder / "exp.csv").read_bytes()}
    for index, (secret, season) in enumerate(
        [(SECRET[::-1], "2026-1"), (SECRET, "2026-2"), (os.urandom(32), "2026-1")]
    ):
        other = generate_hidden(suite, secret, tmp_path / str(index), season)
        assert other.digest != again.digest
        tables.add((tmp_path / str(index) / "exp.csv").read_bytes())
    assert len(tables) == 4


def test_the_manifest_gives_nothing_away(folder: Path) -> None:
    seal = json.loads((folder / SEAL).read_text())
    text = (folder / MANIFEST).read_text()
    assert SECRET.hex() not in text
    assert not any(value in text for value in seal.values())
    import hashlib

    for path in folder.glob("*.csv"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() not in text
    assert set(json.loads(text)["operators"]) == {path.stem for path in folder.glob("*.csv")}


@pytest.mark.parametrize("name", ["exp.csv", "swi_glu.csv", SEAL])
def test_a_changed_file_is_noticed(suite: Suite, folder: Path, name: str) -> None:
    path = folder / name
    data = bytearray(path.read_bytes())
    at = data.rindex(b"1")
    data[at] = ord("2")
    path.write_bytes(data)
    with pytest.raises(UsageError, match="not those that were sealed" if name != SEAL else "seal"):
        overlay_hidden(suite, folder)


def test_swapped_tables_are_noticed(suite: Suite, folder: Path) -> None:
    one, other = folder / "mish.csv", folder / "sigmoid.csv"
    texts = one.read_bytes(), other.read_bytes()
    one.write_bytes(texts[1])
    other.write_bytes(texts[0])
    with pytest.raises(UsageError, match="mish, sigmoid"):
        overlay_hidden(suite, folder)


@pytest.mark.parametrize("name", ["exp.csv", SEAL, MANIFEST])
def test_a_missing_file_is_named(suite: Suite, folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UsageError, match=name):
        overlay_hidden(suite, folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"suite": 1}'])
def test_a_broken_manifest_is_named(suite: Suite, folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=MANIFEST):
        overlay_hidden(suite, folder)


def test_a_set_of_another_suite_version_is_refused(suite: Suite, folder: Path) -> None:
    from dataclasses import replace

    with pytest.raises(UsageError, match="generate a new season"):
        overlay_hidden(replace(suite, digest="0" * 64), folder)


def test_hidden_cases_are_never_overwritten(suite: Suite, folder: Path) -> None:
    before = (folder / "exp.csv").read_bytes()
    with pytest.raises(UsageError, match="not an empty folder"):
        generate_hidden(suite, os.urandom(32), folder, "2026-2")
    assert (folder / "exp.csv").read_bytes() == before


def test_a_short_secret_and_a_bad_season_are_refused(suite: Suite, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="16"):
        generate_hidden(suite, b"short", tmp_path / "x", "2026-1")
    with pytest.raises(UsageError, match="season"):
        generate_hidden(suite, SECRET, tmp_path / "x", "../2026")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_behind_where_writing_fails(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(UsageError, match="No space left"):
        generate_hidden(suite, SECRET, tmp_path / "hidden", "2026-1")
    assert not list(tmp_path.iterdir())
