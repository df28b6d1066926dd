"""A foreign `proto.yaml` as an `Operator`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernel_eval.model import (
    ITEM_BYTES,
    Attribute,
    AttributeSpec,
    Comparator,
    Foreign,
    IndexRule,
    InputSpec,
    Level,
    Operator,
    OutputSpec,
)
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.comparing import GATHER_KEYS, check_comparing, read_index_gather, read_thresholds
from kernel_eval.suite.imported.schema import Part, Schema, parse_schema
from kernel_eval.suite.imported.values import default_of, read_attribute, read_dtype

DESCRIBING = frozenset((
    "annotation", "author", "category", "comment", "comments", "constraint", "constraints", "default", "desc",
    "description", "doc", "docs", "example", "examples", "family", "format", "formula", "id", "kind", "label",
    "layout", "level", "meaning", "name", "name_cn", "name_en", "name_zh", "note", "notes", "optional",
    "param_type", "paper", "range", "rank", "reference", "references", "remark", "required", "role", "rule",
    "rules", "shape", "shape_rule", "shapes", "source", "summary", "tag", "tags", "title", "type", "unit",
    "units", "url", "value_range", "values", "version",
))  # fmt: skip
"""Keys that describe, or that the schema says already; read by nobody here."""
HEAD = ("inputs", "outputs", "attrs", "attributes")


@dataclass(frozen=True)
class Declared:
    """An operator with its schema, which cases need; `defaults` are those of the schema's attributes."""

    operator: Operator
    schema: Schema
    defaults: dict[str, Attribute]
    notes: tuple[str, ...] = field(default=())


def read_proto(
    document: object, name: str, level: Level, where: str, faults: FaultList, *, strict: bool = True
) -> Declared | None:
    """The operator in folder `name`; None where its declaration has faults.

    Without `strict`, unknown keys are left out with a note.
    """
    before = len(faults)
    if not isinstance(document, dict):
        faults.add("import.proto", where, "must be a mapping with the key 'operator'")
        return None
    reader = _Reader(document, where, faults, strict)
    schema = reader.schema()
    if schema is None:
        return None
    operator = reader.operator(schema, name, level)
    defaults = reader.defaults(schema)
    reader.finish()
    return Declared(operator, schema, defaults, tuple(reader.notes)) if len(faults) == before else None


def with_foreign(declared: Declared, foreign: Foreign, literals: Mapping[str, object]) -> Declared:
    """The operator with the names in its golden, whose own defaults count where nothing else gives one."""
    defaults = dict(declared.defaults)
    for part in declared.schema.arguments:
        if part.name in literals and part.name not in defaults and not part.is_tensor:
            with contextlib.suppress(ValueError):
                defaults[part.name] = read_attribute(_listed(literals[part.name]), part)
    return replace(declared, operator=replace(declared.operator, foreign=foreign), defaults=defaults)


def _comparator(compared: bool, rule: IndexRule | None) -> Comparator:
    if rule is not None:
        return Comparator.INDEX
    return Comparator.NUMERIC if compared else Comparator.IGNORED


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


class _Reader:
    """One document on its way. Keys may stand under `operator` or beside it."""

    def __init__(self, document: dict[object, object], where: str, faults: FaultList, strict: bool) -> None:
        self._where, self._faults, self._strict = where, faults, strict
        inner = document.get("operator")
        beside = {key: value for key, value in document.items() if key != "operator"}
        if isinstance(inner, str):
            inner = {"name": inner}
        if inner is not None and not isinstance(inner, dict):
            faults.add("import.proto", f"{where}, operator", "must be a mapping")
        merged = {**beside, **(inner if isinstance(inner, dict) else {})}
        self._data = {str(key): value for key, value in merged.items()}
        self._known = {"name", "schema", "precision_thresholds", *HEAD}
        self.notes: list[str] = []

    def schema(self) -> Schema | None:
        text = self._data.get("schema")
        if not isinstance(text, str):
            self._fault("schema", "is missing; write one such as exp(Tensor x) -> Tensor y")
            return None
        try:
            return self._with_lists(parse_schema(text))
        except ValueError as error:
            self._fault("schema", str(error))
            return None

    def _with_lists(self, schema: Schema) -> Schema:
        """Tensors that the declaration lists among the attributes are given as lists of integers in the cases."""
        inputs, attributes = self._names("inputs"), self._names("attrs") | self._names("attributes")
        lists = {part.name for part in schema.arguments if part.is_tensor and part.name in attributes - inputs}
        for name in lists:
            text = re.sub(rf"\bTensor(\[\])?(\??\s+{name}\b)", r"int[]\2", str(self._data["schema"]))
            self._data["schema"] = text
        return parse_schema(str(self._data["schema"])) if lists else schema

    def _names(self, key: str) -> set[str]:
        entries = self._data.get(key)
        return (
            {str(entry.get("name")) for entry in entries if isinstance(entry, dict)}
            if isinstance(entries, list)
            else set()
        )

    def operator(self, schema: Schema, name: str, level: Level) -> Operator:
        title = self._data.get("name", name)
        if not isinstance(title, str) or not title.isprintable() or not 0 < len(title) <= 100:
            self._fault("name", "must be a short printable text")
            title = name
        category = self._data.get("category", "")
        tensors = [part for part in schema.arguments if part.is_tensor]
        if not tensors:
            self._fault("schema", "has no tensor among its arguments; cases without inputs cannot be judged")
        operator = Operator(
            name=name,
            title=title,
            function=schema.function,
            level=level,
            category=category if isinstance(category, str) and category.isprintable() and len(category) < 100 else "",
            schema=" ".join(str(self._data["schema"]).split()),
            inputs=self._inputs(tensors),
            attributes=self._attributes(schema),
            outputs=self._outputs(schema.results, tensors),
            folder=Path(),
            thresholds=read_thresholds(self._data.get("precision_thresholds"), self._fault),
            threshold_reason="declared by the imported suite" if self._data.get("precision_thresholds") else "",
            in_place=any(part.written for part in schema.arguments),
        )
        check_comparing(operator, self._fault)
        return operator

    def _attributes(self, schema: Schema) -> tuple[AttributeSpec, ...]:
        """Their values stand in the cases; defaults are kept to be shown, as far as they are single values."""
        defaults = {name: value for name, value in self.defaults(schema).items() if not isinstance(value, tuple)}
        return tuple(
            AttributeSpec(part.name, part.attribute_type, defaults.get(part.name))
            for part in schema.arguments
            if not part.is_tensor
        )

    def defaults(self, schema: Schema) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for part in schema.arguments:
            if not part.is_tensor and part.default is not None:
                try:
                    found[part.name] = default_of(part)
                except ValueError as error:
                    self._fault(f"schema, {part.name}", str(error))
        parts = {part.name: part for part in schema.arguments if not part.is_tensor and part.name not in found}
        for name, said in self._declared_defaults().items():
            if name in parts:
                try:
                    found[name] = read_attribute(said, parts[name])
                except ValueError as error:
                    self._fault(f"attrs, {name}, default", str(error))
        return found

    def _declared_defaults(self) -> dict[str, object]:
        """Defaults in the list of attributes; an empty one says nothing."""
        entries = self._data.get("attrs", self._data.get("attributes"))
        if not isinstance(entries, list):
            return {}
        plain = [entry for entry in entries if isinstance(entry, dict) and entry.get("default") is not None]
        return {str(entry.get("name")): entry["default"] for entry in plain}

    def finish(self) -> None:
        self._unknown(self._data, self._known, self._where)

    def _inputs(self, tensors: Sequence[Part]) -> tuple[InputSpec, ...]:
        entries = self._entries("inputs", [part.name for part in tensors])
        return tuple(
            InputSpec(
                part.name,
                self._dtypes(entries.get(part.name, {}), f"inputs, {part.name}") or tuple(ITEM_BYTES),
                optional=part.optional,
                tensor_list=part.is_list,
            )
            for part in tensors
        )

    def _outputs(self, results: Sequence[Part], tensors: Sequence[Part]) -> tuple[OutputSpec, ...]:
        entries = self._entries("outputs", [part.name for part in results])
        return tuple(
            self._output(part, entries.get(part.name, {}), [tensor.name for tensor in tensors]) for part in results
        )

    def _output(self, part: Part, entry: dict[str, object], inputs: Sequence[str]) -> OutputSpec:
        where = f"outputs, {part.name}"
        compared = entry.get("compare", True)
        if not isinstance(compared, bool):
            self._fault(f"{where}, compare", "must be true or false")
        rule = self._index_rule(entry, where)
        said = entry.get("dtype", entry.get("dtypes"))
        dtype, dtypes = "golden", tuple[str, ...]()
        if isinstance(said, str) and said.startswith("same as ") and said.removeprefix("same as ") in inputs:
            dtype = said
        else:
            dtypes = self._dtypes(entry, where)
        return OutputSpec(
            name=part.name,
            dtype=dtypes[0] if len(dtypes) == 1 else dtype,
            shape="golden",
            tensor_list=part.is_list,
            comparator=_comparator(compared is not False, rule),
            rule=rule,
            dtypes=dtypes,
        )

    def _index_rule(self, entry: dict[str, object], where: str) -> IndexRule | None:
        said = entry.get("index_gather")
        if isinstance(said, dict):
            plain = {str(key): value for key, value in said.items()}
            self._unknown(plain, set(GATHER_KEYS), f"{self._where}, {where}, index_gather")
        return read_index_gather(entry, where, self._fault)

    def _entries(self, key: str, names: Sequence[str]) -> dict[str, dict[str, object]]:
        """The entries of a list by name; they must be those of the schema, in its order."""
        value = self._data.get(key)
        if value is None:
            return {}
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self._fault(key, "must be a list of mappings")
            return {}
        known = {"name", "dtype", "dtypes", *(("compare", "index_gather") if key == "outputs" else ())}
        found = {}
        for index, entry in enumerate(value):
            plain = {str(inner): said for inner, said in entry.items()}
            self._unknown(plain, known, f"{self._where}, {key}[{index}]")
            found[str(plain.get("name", f"output{index}"))] = plain
        if (
            list(found) != list(names)
            and len(found) == len(names)
            and set(found).isdisjoint(names)
            and key == "outputs"
        ):
            return dict(zip(names, found.values(), strict=True))  # return values may be unnamed in the schema
        if list(found) != list(names):
            self._fault(key, f"names {', '.join(found) or 'nothing'}, the schema {', '.join(names)}; make them agree")
        return found

    def _dtypes(self, entry: dict[str, object], key: str) -> tuple[str, ...]:
        said = entry.get("dtype", entry.get("dtypes"))
        if said is None:
            return ()
        names: list[str] = []
        for value in said if isinstance(said, list) else [said]:
            try:
                names.append(read_dtype(value))
            except ValueError as error:
                self._fault(f"{key}, dtype", str(error))
        return tuple(dict.fromkeys(names))

    def _unknown(self, data: dict[str, object], known: set[str], where: str) -> None:
        for key in data:
            if key in known or key in DESCRIBING:
                continue
            if self._strict:
                said = "remove or correct it, or import with --ignore-unknown-keys"
                self._faults.add("import.unknown_key", where, f"unknown key {key!r:.60}; {said}")
            else:
                self.notes.append(f"{where}: unknown key {key!r:.60} was left out")

    def _fault(self, key: str, message: str) -> None:
        self._faults.add("import.proto", f"{self._where}, {key}", message)
