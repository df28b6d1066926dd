"""Hidden cases: generated from a secret, sealed by a digest that can be published beforehand.

The folder holds one table per operator and `seal.json` (seed of the inputs, salt
of the digest), all readable by their owner alone, and `manifest.json`, which may
be published: with the salt kept back, nobody can try guesses against its digests.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kernel_eval.errors import UsageError
from kernel_eval.model import Case, Split, Suite
from kernel_eval.suite.cover import covering_cases
from kernel_eval.suite.digest import digest_contents
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.generate import HIDDEN_COUNT
from kernel_eval.suite.loader import load_space
from kernel_eval.suite.table import format_table, read_table

MANIFEST, SEAL = "manifest.json", "seal.json"
_SEASON = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class HiddenManifest:
    """What may be known of a hidden set. Digests are salted SHA-256, in hex.

    `digest` covers everything that decides about a hidden case, the seed of the
    inputs included; `operators` has one digest per operator.
    """

    suite: str
    suite_version: str
    suite_digest: str
    season: str
    digest: str
    operators: Mapping[str, str]
    cases_per_operator: int


def generate_hidden(
    suite: Suite, secret: bytes, target: Path, season: str, count: int = HIDDEN_COUNT
) -> HiddenManifest:
    """Write the hidden cases of `season` for every operator of `suite` into the new folder `target`.

    The same secret, suite and season give the same set; without the secret it
    cannot be derived. Files have mode 0600, the folder 0700; nothing is left
    behind where writing fails. Raises `UsageError` where `target` holds something,
    or the secret is short.
    """
    if len(secret) < 16:
        raise UsageError(f"the secret has {len(secret)} bytes; use at least 16 random ones")
    if not _SEASON.fullmatch(season):
        raise UsageError(f"season {season!r:.80}: use letters, digits, '.', '_' and '-' only")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder; hidden cases are never overwritten")
    key = hmac.digest(secret, f"hidden cases/{suite.name}/{suite.digest}/{season}".encode(), "sha256")
    contents = {
        f"{operator.name}.csv": format_table(_cases(suite, operator.name, _derived(key, "cases"), count)).encode()
        for operator in suite.operators
    }
    contents[SEAL] = _json({"seed": _derived(key, "inputs").hex(), "salt": _derived(key, "salt").hex()})
    manifest = _manifest(suite, season, contents, _derived(key, "salt"), count)
    _write_folder(target, contents | {MANIFEST: _json(asdict(manifest))})
    return manifest


def overlay_hidden(suite: Suite, folder: Path) -> Suite:
    """`suite` with the hidden cases of `folder` for all its operators, after verifying every digest.

    Raises `UsageError` where the set was made for another suite or was changed,
    `SuiteInvalid` where a table has faults.
    """
    manifest, contents = read_manifest(folder), _read_folder(suite, folder)
    seed, salt = _read_seal(folder, contents[SEAL])
    if manifest.suite_digest != suite.digest:
        raise UsageError(
            f"{folder} was generated for {manifest.suite} {manifest.suite_version} ({manifest.suite_digest:.12}…), "
            f"this is {suite.name} {suite.version} ({suite.digest:.12}…); generate a new season"
        )
    found = _manifest(suite, manifest.season, contents, salt, manifest.cases_per_operator)
    if found != manifest:
        changed = [name for name, digest in found.operators.items() if manifest.operators.get(name) != digest]
        raise UsageError(f"{folder}: the files are not those that were sealed ({', '.join(changed) or SEAL})")
    hidden = _read_cases(suite, folder)
    cases = tuple(
        case for operator in suite.operators for case in (*suite.cases_of(operator.name), *hidden[operator.name])
    )
    return replace(
        suite,
        cases=cases,
        seeds={**suite.seeds, Split.HIDDEN: seed},
        hidden_digest=manifest.digest,
        season=manifest.season,
    )


def read_manifest(folder: Path) -> HiddenManifest:
    """The public manifest of a hidden set; raises `UsageError` where it cannot be used."""
    try:
        data: Any = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return HiddenManifest(**data)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{folder / MANIFEST} is no manifest of hidden cases: {error}") from error


def _cases(suite: Suite, operator_name: str, seed: bytes, count: int) -> tuple[Case, ...]:
    operator = suite.operator(operator_name)
    taken = suite.cases_of(operator_name)
    return covering_cases(operator, load_space(operator), Split.HIDDEN, count, seed, taken)


def _read_cases(suite: Suite, folder: Path) -> dict[str, tuple[Case, ...]]:
    """The hidden cases by operator; raises `SuiteInvalid` with the faults of all tables."""
    faults = FaultList()
    cases = {
        operator.name: read_table(
            folder / f"{operator.name}.csv", operator, Split.HIDDEN, f"{operator.name}.csv", faults
        )
        for operator in suite.operators
    }
    faults.refuse()
    return cases


def _derived(key: bytes, purpose: str) -> bytes:
    return hmac.digest(key, purpose.encode(), hashlib.sha256)


def _manifest(suite: Suite, season: str, contents: Mapping[str, bytes], salt: bytes, count: int) -> HiddenManifest:
    tables = {name: data for name, data in contents.items() if name != SEAL}
    return HiddenManifest(
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=suite.digest,
        season=season,
        digest=digest_contents({**contents, "season": season.encode(), "suite": suite.digest.encode()}, salt),
        operators={name.removesuffix(".csv"): digest_contents({name: data}, salt) for name, data in tables.items()},
        cases_per_operator=count,
    )


def _json(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, sort_keys=True) + "\n").encode("utf-8")


def _write_folder(target: Path, contents: Mapping[str, bytes]) -> None:
    """All files or none: they are written beside `target`, which then takes their place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    scratch.mkdir(mode=0o700)
    try:
        for name, data in contents.items():
            with os.fdopen(os.open(scratch / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        os.rename(scratch, target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _read_folder(suite: Suite, folder: Path) -> dict[str, bytes]:
    contents = {}
    for name in [SEAL, *(f"{operator.name}.csv" for operator in suite.operators)]:
        try:
            contents[name] = (folder / name).read_bytes()
        except OSError as error:
            raise UsageError(f"{folder / name} cannot be read: {error.strerror}") from error
    return contents


def _read_seal(folder: Path, data: bytes) -> tuple[bytes, bytes]:
    try:
        seal = json.loads(data)
        return bytes.fromhex(seal["seed"]), bytes.fromhex(seal["salt"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / SEAL} is no seal of hidden cases: {error}") from error
