"""The published benchmark's task tree as a suite. Its goldens are read and looked at, never executed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kernel_eval.cases.operator_source import FOREIGN_NAME
from kernel_eval.model import Comparator, Level, Operator
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.anchors import Key, Times, read_metadata
from kernel_eval.suite.imported.cases import ReadCase, read_cases
from kernel_eval.suite.imported.documents import read_csv, read_json, read_yaml
from kernel_eval.suite.imported.gathered import Format, Gathered, folder_of
from kernel_eval.suite.imported.golden_file import literal_defaults, read_golden
from kernel_eval.suite.imported.proto import Declared, read_proto, with_foreign
from kernel_eval.suite.imported.tree import MIB, SourceTree

GOLDEN, PROTO, DESCRIPTION = "golden.py", "proto.yaml", "desc.md"
CASES_YAML, CASES_CSV, METADATA = "cases.yaml", "cases.csv", "metadata"
LARGEST_CASES, LARGEST_METADATA = 8 * MIB, 32 * MIB
LEVEL_FOLDER = re.compile(r"level(\d{1,3})")
RESERVED = frozenset({"empty", "ENTRIES", "SCHEMAS", "LIBRARY"})
"""Names that the packages of goldens have for themselves."""
NAME = re.compile(r"[a-z0-9_][a-z0-9_]{0,99}")


@dataclass
class _Found:
    """Everything so far."""

    operators: list[Operator] = field(default_factory=list)
    cases: list[ReadCase] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, dict[str, Times]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def gather_task_tree(root: Path, *, strict: bool = True) -> Gathered:
    """Read the whole tree; raises `SuiteInvalid` with every fault of every file."""
    faults = FaultList()
    tree, found = SourceTree(root, faults), _Found()
    for level_name in tree.folders():
        match = LEVEL_FOLDER.fullmatch(level_name)
        if match is None:
            continue
        level = f"L{int(match[1])}"
        if level not in list(Level):
            faults.add("import.level", level_name, f"levels are level1 to level{len(Level)}; move or remove the folder")
            continue
        for name in tree.folders(level_name):
            _read_operator(tree, f"{level_name}/{name}", Level(level), found, strict)
    _read_all_metadata(tree, found)
    if not found.operators and not len(faults):
        faults.add("import.empty", str(root), f"holds no folder level1/<operator> with {PROTO}, {CASES_YAML}, {GOLDEN}")
    _check_names(found, faults)
    faults.refuse()
    return Gathered(
        Format.TASK_TREE,
        tuple(found.operators),
        tuple(read.case for read in found.cases),
        found.files,
        found.times,
        tuple(found.notes),
    )


def looks_like_task_tree(root: Path) -> bool:
    """Whether some `level*/<operator>` has a declaration or cases."""
    return any(True for file in (PROTO, CASES_YAML, CASES_CSV) for _ in root.glob(f"level*/*/{file}"))


def _read_operator(tree: SourceTree, place: str, level: Level, found: _Found, strict: bool) -> None:
    faults, name = tree.faults, PurePosixPath(place).name
    present = set(tree.files(place))
    if not NAME.fullmatch(name) or not name.isidentifier():
        faults.add("import.name", place, "an operator's folder is named in lower-case letters, digits and '_'")
        return
    missing = [file for file in (PROTO, GOLDEN) if file not in present]
    if CASES_YAML not in present and CASES_CSV not in present:
        missing.append(f"{CASES_YAML} or {CASES_CSV}")
    for file in missing:
        faults.add("import.file", f"{place}/{file}", "is missing; add it")
    declared = _declared(tree, place, level, strict) if PROTO in present else None
    golden = tree.text(f"{place}/{GOLDEN}") if GOLDEN in present else None
    description = tree.read(f"{place}/{DESCRIPTION}") if DESCRIPTION in present else b""
    if declared is None:
        return
    operator = declared.operator
    if golden is not None:
        foreign = read_golden(golden, declared.schema, f"{place}/{GOLDEN}", faults)
        declared = with_foreign(declared, foreign, literal_defaults(golden, foreign.golden))
        operator = declared.operator
        if foreign.outputs and any(spec.comparator is Comparator.INDEX for spec in operator.outputs):
            said = "index_gather needs outputs as they are returned; it can't stand beside a get_output in golden.py"
            faults.add("import.proto", f"{place}/{PROTO}, outputs", said)
        found.files[f"{folder_of(operator)}/{FOREIGN_NAME}"] = golden.encode()
    found.files[f"{folder_of(operator)}/{DESCRIPTION}"] = description or b""
    cases = _cases(tree, place, present, declared, strict)
    found.operators.append(operator)
    found.cases.extend(cases)
    found.notes.extend(declared.notes)
    for read in cases:
        for hardware, times in read.times.items():
            found.times.setdefault(hardware, {})[read.case.key] = times


def _declared(tree: SourceTree, place: str, level: Level, strict: bool) -> Declared | None:
    text = tree.text(f"{place}/{PROTO}")
    before = len(tree.faults)
    document = None if text is None else read_yaml(text, f"{place}/{PROTO}", tree.faults)
    if text is None or len(tree.faults) > before:
        return None
    return read_proto(document, PurePosixPath(place).name, level, f"{place}/{PROTO}", tree.faults, strict=strict)


def _cases(tree: SourceTree, place: str, present: set[str], declared: Declared, strict: bool) -> tuple[ReadCase, ...]:
    file = CASES_YAML if CASES_YAML in present else CASES_CSV
    where, before = f"{place}/{file}", len(tree.faults)
    if file not in present or (text := tree.text(where, LARGEST_CASES)) is None:
        return ()
    read = read_yaml if file == CASES_YAML else read_csv
    document: object = read(text, where, tree.faults)
    return () if len(tree.faults) > before else read_cases(document, declared, where, tree.faults, strict=strict)


def _read_all_metadata(tree: SourceTree, found: _Found) -> None:
    if METADATA not in tree.folders():
        return
    keys: dict[Key, str] = {}
    levels = {operator.name: f"level{operator.level[1:]}" for operator in found.operators}
    for read in found.cases:
        keys[levels[read.case.operator], read.case.operator, read.case.case_id] = read.case.key
    for file in tree.files(METADATA):
        where = f"{METADATA}/{file}"
        if not file.endswith(".json"):
            continue
        text, before = tree.text(where, LARGEST_METADATA), len(tree.faults)
        document = None if text is None else read_json(text, where, tree.faults)
        if text is None or len(tree.faults) > before:
            continue
        for hardware, times in read_metadata(document, file.removesuffix(".json").lower(), where, tree.faults).items():
            known = {keys[key]: one for key, one in times.items() if key in keys}
            found.times.setdefault(hardware, {}).update(known)
            if len(known) < len(times):
                found.notes.append(f"{where}: {len(times) - len(known)} times of cases that the tree does not have")


def _check_names(found: _Found, faults: FaultList) -> None:
    """Names are keys, and functions are what candidates export."""
    for operator in found.operators:
        if operator.function in RESERVED or operator.function.startswith("_"):
            faults.add("import.name", operator.name, f"its function {operator.function} has a reserved name; rename it")
    for kind, names in (
        ("operator", [operator.name for operator in found.operators]),
        ("function", [operator.function for operator in found.operators]),
    ):
        for name in sorted(name for name, count in Counter(names).items() if count > 1):
            faults.add("import.name", name, f"is the {kind} of more than one folder; rename all but one")
