"""Keeping imported suites: written as a whole or not at all, loaded with their digest."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from kernel_eval.cases.operator_source import FOREIGN_NAME
from kernel_eval.errors import UsageError
from kernel_eval.model import Anchor, AnchorSet, Bottleneck, Case, Limit, Provenance, Split, Suite
from kernel_eval.suite.anchors import save_anchors
from kernel_eval.suite.digest import digest_files
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.anchors import Times
from kernel_eval.suite.imported.codec import FORMAT, decode_cases, decode_operators, encode
from kernel_eval.suite.imported.gathered import Gathered, folder_of

FOLDER, SUITE_FILE, ANCHORS = "imported", "suite.json", "anchors"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
IMPORTED_PRESET = "imported"
LARGEST_SUITE_BYTES = 256 << 20
ABANDONED_AFTER_S = 3600.0


def is_imported(bench_data: Path, name: str) -> bool:
    """Whether a suite of that name was imported; one of our own by that name takes precedence."""
    if not NAME.fullmatch(name) or (bench_data / "suites" / f"{name}.toml").exists():
        return False
    return (bench_data / FOLDER / name / SUITE_FILE).is_file()


def imported_names(bench_data: Path) -> tuple[str, ...]:
    """Names of all imported suites."""
    return tuple(sorted(path.parent.name for path in (bench_data / FOLDER).glob(f"[!.]*/{SUITE_FILE}")))


def refuse_name(bench_data: Path, name: str, *, replace: bool) -> None:
    """Raise `UsageError` where the name is none, or is taken."""
    if not NAME.fullmatch(name):
        raise UsageError(f"--name {name!r:.80}: use lower-case letters, digits, '.', '_' and '-', at most 64")
    if (bench_data / "suites" / f"{name}.toml").exists():
        raise UsageError(f"--name {name}: {bench_data} has a suite of its own by that name; choose another")
    if (bench_data / FOLDER / name).exists() and not replace:
        raise UsageError(f"--name {name}: was imported before; choose another name, or add --replace")


def keep(gathered: Gathered, bench_data: Path, name: str, version: str, recorded_at: str, *, replace: bool) -> Suite:
    """Write the suite below `bench_data/imported/` and load it. Raises `UsageError`; then nothing is left behind."""
    refuse_name(bench_data, name, replace=replace)
    target = bench_data / FOLDER / name
    scratch = target.with_name(f".{name}.{secrets.token_hex(8)}")
    _forget_abandoned(target)
    try:
        scratch.mkdir(parents=True)
        for path, content in {**gathered.files, SUITE_FILE: encode(gathered, name, version)}.items():
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            (scratch / path).write_bytes(content)
        suite = load_kept(scratch, name)
        _write_anchors(gathered, suite, scratch, recorded_at)
        _move(scratch, target, replace=replace)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return load_kept(target, name)


def _forget_abandoned(target: Path) -> None:
    """Remove what imports of this name left behind that were killed long ago."""
    for path in target.parent.glob(f".{target.name}.*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - ABANDONED_AFTER_S:
                shutil.rmtree(path, ignore_errors=True)


def _move(scratch: Path, target: Path, *, replace: bool) -> None:
    old = target.with_name(f"{scratch.name}.old")
    if replace and target.exists():
        target.rename(old)
    try:
        scratch.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def load_imported(bench_data: Path, name: str) -> Suite:
    """An imported suite. Raises `SuiteInvalid` where its files were damaged."""
    return load_kept(bench_data / FOLDER / name, name)


def load_kept(folder: Path, name: str) -> Suite:
    """The suite in a folder; its digest covers `suite.json` and every file of an operator."""
    faults, path = FaultList(), folder / SUITE_FILE
    try:
        if path.stat().st_size > LARGEST_SUITE_BYTES:
            raise ValueError(f"larger than {LARGEST_SUITE_BYTES >> 20} MiB")
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise ValueError(f"format {document['format']!r:.20} is not {FORMAT}")
        operators, cases = decode_operators(document, folder), decode_cases(document)
        files = [folder / folder_of(operator) / file for operator in operators for file in (FOREIGN_NAME, "desc.md")]
        digest = digest_files(folder, [path, *files])
        _check(operators, cases)
        version = str(document["version"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, IndexError) as error:
        faults.add(
            "imported.damaged", f"{path.parent.name}/{SUITE_FILE}", f"{type(error).__name__}: {error}; import again"
        )
        faults.refuse()
        raise AssertionError("a fault refuses") from error
    seed = hashlib.sha256(f"imported/{name}/{version}".encode()).digest()
    return Suite(name, version, digest, operators, cases, {Split.PUBLIC: seed})


def _check(operators: tuple[Any, ...], cases: tuple[Case, ...]) -> None:
    inputs = {operator.name: len(operator.inputs) for operator in operators}
    for case in cases:
        if not len(case.shapes) == len(case.dtypes) == len(case.value_ranges) == inputs[case.operator]:
            raise ValueError(f"{case.key} does not fit its operator")


def _write_anchors(gathered: Gathered, suite: Suite, folder: Path, recorded_at: str) -> None:
    """One set per hardware for the cases that have both times, as `eval --anchors` reads them."""
    cases = {case.key: case for case in gathered.cases}
    for hardware, times in gathered.times.items():
        anchors = {key: anchor for key, one in times.items() if (anchor := _anchor(cases[key], one)) is not None}
        if anchors:
            (folder / ANCHORS).mkdir(exist_ok=True)
            version = f"{suite.name}-{suite.version}"
            found = AnchorSet(version, hardware, suite.digest, recorded_at, {"source": str(gathered.format)}, anchors)
            save_anchors(found, folder / ANCHORS / f"{hardware}.json")


def _anchor(case: Case, times: Times) -> Anchor | None:
    if times.limit_us is None:
        return None
    limit = Limit(times.limit_us, {}, Bottleneck.UNKNOWN, IMPORTED_PRESET, IMPORTED_PRESET)
    derived = times.baseline_us is None
    baseline_us = max(10 * times.limit_us, 10.0) if times.baseline_us is None else times.baseline_us
    provenance = Provenance.DERIVED if derived else Provenance.MEASURED
    return Anchor(case.operator, case.split, case.case_id, baseline_us, limit, provenance)
