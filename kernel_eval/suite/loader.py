"""A folder of declarations, tables and goldens to a `Suite`; all faults in one error."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from kernel_eval.errors import UsageError
from kernel_eval.model import Case, Level, Operator, Split, Suite
from kernel_eval.suite.digest import digest_contents
from kernel_eval.suite.faults import FaultList, Section
from kernel_eval.suite.imported.store import imported_names
from kernel_eval.suite.proto import read_proto
from kernel_eval.suite.space import CaseSpace
from kernel_eval.suite.table import read_table

SCALES = {"small": "cases_small.csv", "full": "cases.csv"}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class SuiteFile:
    """`suites/<name>.toml`: which operators, at which scale, with which public seed."""

    name: str
    version: str
    scale: str
    seed: str
    operators: tuple[tuple[Level, str], ...]

    @property
    def table(self) -> str:
        """The file name of the case tables of this scale."""
        return SCALES[self.scale]


def load(bench_data: Path, name: str) -> Suite:
    """The suite `name`; raises `SuiteInvalid` with every fault of every file."""
    faults = FaultList()
    declared = read_suite_file(bench_data, name, faults)
    faults_of_suite = len(faults)
    operators: list[Operator] = []
    cases: list[Case] = []
    contents: dict[str, bytes] = {}
    for level, operator_name in declared.operators:
        folder = bench_data / level_folder(level) / operator_name
        operator = _read_operator(folder, level, bench_data, declared.table, contents, faults)
        if operator is not None:
            where = (folder / declared.table).relative_to(bench_data).as_posix()
            operators.append(operator)
            cases.extend(read_table(folder / declared.table, operator, Split.PUBLIC, where, faults))
    if not operators and not faults_of_suite and not len(faults):
        faults.add("suite.operators", name, "the suite lists no operator")
    faults.refuse()
    suite_path = f"suites/{name}.toml"
    contents[suite_path] = (bench_data / suite_path).read_bytes()
    return Suite(
        name=declared.name,
        version=declared.version,
        digest=digest_contents(contents),
        operators=tuple(operators),
        cases=tuple(cases),
        seeds={Split.PUBLIC: hashlib.sha256(declared.seed.encode("utf-8")).digest()},
    )


def load_space(operator: Operator) -> CaseSpace:
    """The declared shape space of an operator of a loaded suite; `UsageError` for one of an imported suite."""
    if operator.foreign is not None:
        raise UsageError(f"{operator.name} was imported: it declares no shape space, so no cases can be made for it")
    faults = FaultList()
    found = read_proto(operator.folder, operator.name, faults)
    faults.refuse()
    assert found is not None, "a declaration without faults has an operator"
    return found[1]


def level_folder(level: Level) -> str:
    """`level1` for `L1`."""
    return f"level{level[1:]}"


def read_suite_file(bench_data: Path, name: str, faults: FaultList) -> SuiteFile:
    """The declaration of a suite; empty where it cannot be read."""
    where = f"suites/{name}.toml"
    if not _NAME.fullmatch(name):
        faults.add("suite.name", where, "a suite's name is lower-case letters, digits, '.', '_' and '-'")
        faults.refuse()
    try:
        data = tomllib.loads((bench_data / where).read_text(encoding="utf-8"))
    except OSError as error:
        own = (path.stem for path in (bench_data / "suites").glob("*.toml"))
        known = ", ".join(sorted({*own, *imported_names(bench_data)})) or "none"
        faults.add("suite.unreadable", where, f"cannot be read ({error.strerror}); suites in {bench_data}: {known}")
        faults.refuse()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        faults.add("suite.toml", where, f"not readable as TOML: {error}")
        faults.refuse()
    section = Section(data, where, faults)
    declared = SuiteFile(
        name=section.text("name"),
        version=section.text("version"),
        scale=section.text("scale"),
        seed=section.text("seed"),
        operators=_operators(section),
    )
    section.finish()
    if declared.name != name:
        faults.add("suite.name", where, f"name must be {name!r}, as the file is called")
    if declared.scale not in SCALES:
        faults.add("suite.scale", where, f"scale must be one of {', '.join(SCALES)}")
        faults.refuse()
    return declared


def _operators(section: Section) -> tuple[tuple[Level, str], ...]:
    levels = section.section("operators")
    names: list[tuple[Level, str]] = []
    for key in levels.names():
        if key not in list(Level):
            section.faults.add("suite.level", levels.where, f"unknown level {key!r:.40}; one of {', '.join(Level)}")
            continue
        names.extend((Level(key), name) for name in levels.texts(key))
    listed = [name for _, name in names]
    for name in sorted({name for name in listed if listed.count(name) > 1 or not _NAME.fullmatch(name)}):
        section.faults.add("suite.operators", levels.where, f"{name!r:.40} is listed twice or is no operator's name")
    return tuple((level, name) for level, name in names if _NAME.fullmatch(name))


def _read_operator(
    folder: Path, level: Level, root: Path, table: str, contents: dict[str, bytes], faults: FaultList
) -> Operator | None:
    where = folder.relative_to(root).as_posix()
    if not folder.is_dir():
        faults.add("operator.missing", where, "there is no such folder; add the operator or take it off the suite")
        return None
    for file_name in ("desc.md", "desc.zh.md", "proto.yaml", "golden.py", table):
        try:
            contents[f"{where}/{file_name}"] = (folder / file_name).read_bytes()
        except OSError as error:
            faults.add("operator.file", f"{where}/{file_name}", f"cannot be read: {error.strerror}")
    found = read_proto(folder, f"{where}/proto.yaml", faults)
    if found is None:
        return None
    if found[0].level is not level:
        faults.add("proto.level", f"{where}/proto.yaml", f"level is {found[0].level}, the suite lists it under {level}")
    return found[0]
