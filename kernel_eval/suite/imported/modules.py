"""KernelBench-style task sets: a Python file per problem, with `Model`, `get_inputs` and perhaps `get_init_inputs`.

The files are looked at here and described in a box (`kernel_eval.golden.described`); what comes of that is a claim.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from kernel_eval.cases.operator_source import FOREIGN_NAME
from kernel_eval.model import (
    ITEM_BYTES,
    Attribute,
    AttributeSpec,
    Case,
    Comparator,
    Foreign,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
    RangeKind,
    Shape,
    Split,
    ValueRange,
    identifier_of,
)
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.anchors import Times, read_metadata
from kernel_eval.suite.imported.documents import read_json
from kernel_eval.suite.imported.gathered import Format, Gathered, folder_of
from kernel_eval.suite.imported.golden_file import definitions
from kernel_eval.suite.imported.tree import MIB, SourceTree

MODEL, INPUTS, INIT = "Model", "get_inputs", "get_init_inputs"
SEED = 42
"""From which the weights of golden, baseline and candidate are drawn."""
LEVEL_FOLDER = re.compile(r"level([1-4])")
MOST_INPUTS, MOST_ELEMENTS = 64, 1 << 33
UNUSED = ValueRange(RangeKind.UNIFORM, 0, 1)
"""The file draws its own inputs."""
TYPES: Mapping[type, str] = {bool: "bool", int: "int", float: "float"}


@dataclass(frozen=True)
class ModuleFile:
    """A problem as it was read. `where` is its path, for messages."""

    name: str
    title: str
    level: Level
    source: str
    where: str


@dataclass(frozen=True)
class ModuleTree:
    """All problems of a folder, with the times of its metadata by hardware and problem."""

    files: tuple[ModuleFile, ...]
    times: Mapping[str, Mapping[str, Times]]
    notes: tuple[str, ...] = field(default=())


def read_modules(root: Path) -> ModuleTree:
    """Look at every file of the folder and of its level folders; raises `SuiteInvalid` with all faults."""
    faults, notes = FaultList(), list[str]()
    tree = SourceTree(root, faults)
    files: list[ModuleFile] = []
    for place in ("", *(name for name in tree.folders() if name.startswith("level"))):
        match = LEVEL_FOLDER.fullmatch(place)
        if place and match is None:
            faults.add("import.level", place, f"levels are level1 to level{len(Level)}; move or remove the folder")
            continue
        for file in tree.files(place):
            if file.endswith(".py") and file != "__init__.py":
                path = f"{place}/{file}" if place else file
                found = _read(tree, path, Level(f"L{match[1]}") if match else Level.L1, notes)
                files += [found] if found else []
    if not files and not len(faults):
        said = f"holds neither level*/<operator>/proto.yaml nor a Python file with a class {MODEL} and {INPUTS}"
        faults.add("import.empty", str(root), said)
    names = [file.name for file in files]
    for name in sorted(name for name, count in Counter(names).items() if count > 1):
        faults.add("import.name", name, "is the name of more than one problem; rename all but one")
    times = _times(tree, files)
    faults.refuse()
    return ModuleTree(tuple(files), times, tuple(notes))


def stub_operator(file: ModuleFile, folder: Path) -> Operator:
    """An operator of which nothing is known yet but its file, to be asked in a box."""
    return Operator(
        name=file.name,
        title=file.title,
        function=file.name,
        level=file.level,
        category="Module",
        schema=f"{file.name}()",
        inputs=(),
        attributes=(),
        outputs=(),
        folder=folder,
        foreign=Foreign(MODEL, module=True, seed=SEED),
    )


def stub_case(file: ModuleFile) -> Case:
    """The one case of a problem, before anything is known of it."""
    return Case(file.name, 1, Split.PUBLIC, (), (), {}, ())


def gather_modules(tree: ModuleTree, descriptions: Mapping[str, bytes], faults: FaultList) -> Gathered:
    """The suite from what each file said of itself in its box; raises `SuiteInvalid` where that makes no sense."""
    operators, cases, files = [], [], {}
    for file in tree.files:
        if file.name not in descriptions:
            continue
        try:
            operator, case = _described(file, json.loads(descriptions[file.name]))
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            said = f"{type(error).__name__}: {error}"[:300]
            faults.add("import.description", file.where, f"what it says of its inputs is not understood: {said}")
            continue
        operators.append(operator)
        cases.append(case)
        files[f"{folder_of(operator)}/{FOREIGN_NAME}"] = file.source.encode()
        files[f"{folder_of(operator)}/desc.md"] = f"# {file.title}\n".encode()
    faults.refuse()
    times = {
        hardware: {f"{name}/{Split.PUBLIC}/1": one for name, one in known.items()}
        for hardware, known in tree.times.items()
    }
    return Gathered(Format.MODULES, tuple(operators), tuple(cases), files, times, tree.notes)


def _read(tree: SourceTree, path: str, level: Level, notes: list[str]) -> ModuleFile | None:
    source = tree.text(path)
    names = None if source is None else definitions(source, path, tree.faults)
    if source is None or names is None:
        return None
    if MODEL not in names and INPUTS not in names:
        notes.append(f"{path}: left out, it has neither {MODEL} nor {INPUTS}")
        return None
    if not isinstance(names.get(MODEL), ast.ClassDef):
        tree.faults.add("import.module", path, f"defines no class {MODEL}; define it")
    if INPUTS not in names:
        tree.faults.add("import.module", path, f"defines no function {INPUTS}; define it")
    if INIT not in names:
        notes.append(f"{path}: no {INIT}; the module is made without arguments")
    title = PurePosixPath(path).stem
    return ModuleFile(identifier_of(title), title, level, source, path)


def _times(tree: SourceTree, files: Sequence[ModuleFile]) -> dict[str, dict[str, Times]]:
    """`metadata/<hardware>.json`: per level and problem a number, a mapping of hardware, or what a task tree has."""
    found: dict[str, dict[str, Times]] = {}
    known = {(f"level{file.level[1:]}", file.name): file.name for file in files}
    for file in tree.files("metadata") if "metadata" in tree.folders() else ():
        text = tree.text(f"metadata/{file}", 32 * MIB) if file.endswith(".json") else None
        document = None if text is None else read_json(text, f"metadata/{file}", tree.faults)
        if document is None:
            continue
        plain = {level: _by_case(entries) for level, entries in document.items()} if isinstance(document, dict) else 0
        hardware = file.removesuffix(".json").lower()
        for name, times in read_metadata(plain, hardware, f"metadata/{file}", tree.faults).items():
            for (level, problem, number), one in times.items():
                key = (level, identifier_of(problem))
                if number == 1 and key in known:
                    found.setdefault(name, {})[known[key]] = one
    return found


def _by_case(entries: object) -> object:
    """A problem's times under its one case's id."""
    if not isinstance(entries, dict):
        return entries
    return {
        name: entry if isinstance(entry, dict) and set(map(str, entry)) == {"1"} else {"1": entry}
        for name, entry in entries.items()
    }


def _described(file: ModuleFile, document: object) -> tuple[Operator, Case]:
    if not isinstance(document, dict) or not isinstance(document["inputs"], list):
        raise ValueError("the description is no mapping")
    entries, outputs = document["inputs"], document["outputs"]
    if len(entries) > MOST_INPUTS or not 0 < len(outputs) <= MOST_INPUTS:
        raise ValueError(f"{len(entries)} inputs and {len(outputs)} outputs; at most {MOST_INPUTS} are understood")
    named = [(f"input{index}", entry) for index, entry in enumerate(entries)]
    tensors = {name: _tensor(entry) for name, entry in named if "value" not in entry}
    values = {name: _number(entry["value"]) for name, entry in named if "value" in entry}
    if not tensors:
        raise ValueError(f"{INPUTS} returns no tensor")
    init = json.dumps(document["init"], allow_nan=False)
    parts = [f"Tensor {name}" if name in tensors else f"{TYPES[type(values[name])]} {name}" for name, _ in named]
    results = [f"Tensor output{index}" for index in range(len(outputs))]
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    operator = replace(
        stub_operator(file, Path()),
        schema=f"{file.name}({', '.join(parts)}) -> {returned}",
        inputs=tuple(InputSpec(name, (dtype,)) for name, (dtype, _) in tensors.items()),
        attributes=tuple(AttributeSpec(name, TYPES[type(value)]) for name, value in values.items()),
        outputs=tuple(_output(index, entry) for index, entry in enumerate(outputs)),
        foreign=Foreign(MODEL, module=True, init=init, seed=SEED),
    )
    shapes = tuple(shape for _, shape in tensors.values())
    dtypes = tuple(dtype for dtype, _ in tensors.values())
    attributes: dict[str, Attribute] = dict(values)
    return operator, Case(file.name, 1, Split.PUBLIC, shapes, dtypes, attributes, (UNUSED,) * len(shapes))


def _output(index: int, entry: object) -> OutputSpec:
    dtype, _ = _tensor(entry)
    return OutputSpec(f"output{index}", dtype, comparator=Comparator.ALLCLOSE)


def _tensor(entry: object) -> tuple[str, Shape]:
    if not isinstance(entry, dict) or entry["dtype"] not in ITEM_BYTES:
        raise ValueError(f"{entry!r:.60} is no tensor of a known dtype")
    shape = tuple(entry["shape"])
    if len(shape) > 8 or not all(type(size) is int and 0 <= size < 1 << 40 for size in shape):
        raise ValueError(f"{entry!r:.60} has no shape that is understood")
    if math.prod(shape) > MOST_ELEMENTS:
        raise ValueError(f"{entry!r:.60} has more than {MOST_ELEMENTS} elements")
    return str(entry["dtype"]), shape


def _number(value: object) -> int | float | bool:
    if type(value) not in TYPES or not math.isfinite(float(value)):  # type: ignore[arg-type]
        raise ValueError(f"{value!r:.40} is no number")
    return value  # type: ignore[return-value]
