"""Case tables: CSV files with one case per row.

Columns: `case_id`, `shapes` (JSON, one entry per input; a list of shapes for a
tensor list, null for an omitted input), `dtypes` (JSON), `attributes` (JSON
object), `values` (one range per input, separated by ` | `), `note`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from kernel_eval.model import Attribute, Case, InputShape, Operator, Shape, Split, ValueRange
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.values import format_range, parse_range, plain_attributes, read_attribute

COLUMNS = ("case_id", "shapes", "dtypes", "attributes", "values", "note")
LARGEST_TABLE_BYTES = 8 << 20


def format_table(cases: Sequence[Case]) -> str:
    """The cases as the text of a table; `parse_table` reads it back unchanged."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for case in cases:
        attributes = json.dumps(plain_attributes(case.attributes))
        ranges = " | ".join(format_range(value_range) for value_range in case.value_ranges)
        writer.writerow(
            (case.case_id, json.dumps(case.shapes), json.dumps(case.dtypes), attributes, ranges, case.note),
        )
    return buffer.getvalue()


def parse_table(text: str, operator: Operator, split: Split, where: str, faults: FaultList) -> tuple[Case, ...]:
    """The cases of a table; whatever is wrong goes into `faults` with file, row and column."""
    reader = csv.DictReader(io.StringIO(text), strict=True)
    cases: list[Case] = []
    try:
        if tuple(reader.fieldnames or ()) != COLUMNS:
            faults.add("cases.header", where, f"the first line must be {','.join(COLUMNS)}")
            return ()
        for row in reader:
            case = _Row(row, operator, f"{where}:{reader.line_num}", faults).case(split)
            if case is not None:
                cases.append(case)
    except csv.Error as error:
        faults.add("cases.csv", f"{where}:{reader.line_num}", f"not readable as CSV: {error}")
    if not cases and not len(faults):
        faults.add("cases.empty", where, "the table holds no case")
    _check_ids(cases, where, faults)
    return tuple(sorted(cases, key=lambda case: case.case_id))


def read_table(path: Path, operator: Operator, split: Split, where: str, faults: FaultList) -> tuple[Case, ...]:
    """`parse_table` of a file."""
    try:
        if path.stat().st_size > LARGEST_TABLE_BYTES:
            faults.add("cases.size", where, f"larger than {LARGEST_TABLE_BYTES >> 20} MiB")
            return ()
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        faults.add("cases.unreadable", where, f"cannot be read: {error}")
        return ()
    return parse_table(text, operator, split, where, faults)


def _check_ids(cases: Sequence[Case], where: str, faults: FaultList) -> None:
    ids = [case.case_id for case in cases]
    for case_id in sorted({case_id for case_id in ids if ids.count(case_id) > 1}):
        faults.add("cases.duplicate_id", where, f"case_id {case_id} occurs more than once")


class _Row:
    """One row on its way to a `Case`."""

    def __init__(self, row: dict[str, str], operator: Operator, where: str, faults: FaultList) -> None:
        self._row = row
        self._operator = operator
        self._where = where
        self._faults = faults

    def case(self, split: Split) -> Case | None:
        """The case, or None where the row has faults."""
        before = len(self._faults)
        if None in self._row or None in self._row.values():
            self._fault("row", f"must have {len(COLUMNS)} columns")
            return None
        case = Case(
            operator=self._operator.name,
            case_id=self._case_id(),
            split=split,
            shapes=self._shapes(),
            dtypes=self._dtypes(),
            attributes=self._attributes(),
            value_ranges=self._ranges(),
            note=self._row["note"],
        )
        return case if len(self._faults) == before else None

    def _fault(self, column: str, message: str) -> None:
        self._faults.add(f"cases.{column}", self._where, message)

    def _case_id(self) -> int:
        text = self._row["case_id"]
        if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**6):
            self._fault("case_id", f"must be a whole number from 1 on, is {text!r:.40}")
            return 0
        return int(text)

    def _json(self, column: str) -> object:
        try:
            return json.loads(self._row[column])
        except (ValueError, RecursionError) as error:
            self._fault(column, f"not readable as JSON: {error}")
            return None

    def _listed(self, column: str) -> list[object]:
        value = self._json(column)
        if not isinstance(value, list) or len(value) != len(self._operator.inputs):
            self._fault(column, f"must be a list with one entry per input ({len(self._operator.inputs)})")
            return []
        return value

    def _shapes(self) -> tuple[InputShape, ...]:
        shapes: list[InputShape] = []
        for spec, value in zip(self._operator.inputs, self._listed("shapes"), strict=False):
            shape = _shape(value, spec.tensor_list)
            if shape is None and not (value is None and spec.optional):
                form = "a list of shapes" if spec.tensor_list else "a shape, that is a list of sizes"
                self._fault("shapes", f"input {spec.name!r} needs {form}")
            shapes.append(shape)
        return tuple(shapes)

    def _dtypes(self) -> tuple[str, ...]:
        dtypes = []
        for spec, value in zip(self._operator.inputs, self._listed("dtypes"), strict=False):
            if value not in spec.dtypes:
                self._fault("dtypes", f"input {spec.name!r} cannot be {value!r:.40}; one of {', '.join(spec.dtypes)}")
            dtypes.append(str(value))
        return tuple(dtypes)

    def _attributes(self) -> dict[str, Attribute]:
        value = self._json("attributes")
        if not isinstance(value, dict):
            self._fault("attributes", "must be a JSON object")
            return {}
        attributes: dict[str, Attribute] = {}
        for spec in self._operator.attributes:
            if spec.name not in value:
                if spec.default is None:
                    self._fault("attributes", f"{spec.name!r} is missing and has no default")
                continue
            try:
                attributes[spec.name] = read_attribute(value.pop(spec.name), spec.type)
            except ValueError as error:
                self._fault("attributes", f"{spec.name!r}: {error}")
                continue
            if spec.allowed and attributes[spec.name] not in spec.allowed:
                self._fault("attributes", f"{spec.name!r} must be one of {', '.join(map(str, spec.allowed))}")
        for name in value.keys() - {spec.name for spec in self._operator.attributes}:
            self._fault("attributes", f"unknown attribute {name!r:.40}")
        return attributes

    def _ranges(self) -> tuple[ValueRange, ...]:
        parts = self._row["values"].split("|")
        if len(parts) != len(self._operator.inputs):
            self._fault("values", f"must have one range per input ({len(self._operator.inputs)}), separated by |")
            return ()
        ranges: list[ValueRange] = []
        for spec, part in zip(self._operator.inputs, parts, strict=True):
            try:
                ranges.append(parse_range(part))
            except ValueError as error:
                self._fault("values", f"input {spec.name!r}: {error}")
        return tuple(ranges)


def _shape(value: object, tensor_list: bool) -> InputShape:
    """The shape behind a JSON value, or None where it is none of the wanted form."""
    if not isinstance(value, list):
        return None
    if not tensor_list:
        return _sizes(value)
    shapes = [_sizes(entry) if isinstance(entry, list) else None for entry in value]
    kept: tuple[Shape, ...] = tuple(shape for shape in shapes if shape is not None)
    return kept if kept and len(kept) == len(value) else None


def _sizes(value: list[object]) -> Shape | None:
    sizes = tuple(size for size in value if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**40)
    return sizes if len(sizes) == len(value) and len(sizes) <= 8 else None
