"""Foreign case lists (`cases.yaml` or `cases.csv`) as cases, with the anchors that may stand in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kernel_eval.model import Attribute, Case, InputShape, Operator, Shape, Split, ValueRange, element_count
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.anchors import Times, read_times
from kernel_eval.suite.imported.proto import Declared
from kernel_eval.suite.imported.values import read_attribute, read_dtype, read_range, spread_dtypes, spread_ranges

KEYS = frozenset((
    "operator", "case_id", "input_shape", "input_shapes", "dtype", "dtypes", "attrs", "attributes", "value_range",
    "value_ranges", "note", "notes", "baseline_perf_us", "baseline", "t_hw_us", "t_hw",
))  # fmt: skip
MOST_CASES = 10_000
MOST_ELEMENTS = 1 << 33
LARGEST_RANK = 8


@dataclass(frozen=True)
class ReadCase:
    """A case and the times that stand beside it, by hardware."""

    case: Case
    times: dict[str, Times]


def read_cases(
    document: object, declared: Declared, where: str, faults: FaultList, *, strict: bool = True
) -> tuple[ReadCase, ...]:
    """The cases of one operator; whatever is wrong becomes a fault that names the case and the key."""
    rows = document.get("cases") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows:
        faults.add("import.cases", where, "must hold a list 'cases' of at least one case")
        return ()
    if len(rows) > MOST_CASES:
        faults.add("import.cases", where, f"has {len(rows)} cases; at most {MOST_CASES} are understood")
        return ()
    found = [
        read
        for position, row in enumerate(rows, 1)
        if (read := _Row(row, declared, position, where, faults, strict).read()) is not None
    ]
    ids = Counter(read.case.case_id for read in found)
    for case_id in sorted(case_id for case_id, count in ids.items() if count > 1):
        faults.add("import.cases", where, f"case_id {case_id} occurs more than once; number the cases from 1")
    return tuple(sorted(found, key=lambda read: read.case.case_id))


class _Row:
    def __init__(
        self, row: object, declared: Declared, position: int, where: str, faults: FaultList, strict: bool
    ) -> None:
        self._row = {str(key): value for key, value in row.items()} if isinstance(row, dict) else {}
        self._is_mapping = isinstance(row, dict)
        self._declared, self._faults, self._strict = declared, faults, strict
        self._where = f"{where}, case {self._row.get('case_id', position)!r:.20}"
        self._position = position

    @property
    def _operator(self) -> Operator:
        return self._declared.operator

    def read(self) -> ReadCase | None:
        before = len(self._faults)
        if not self._is_mapping:
            self._fault("row", "must be a mapping of keys to values")
            return None
        self._check_keys()
        shapes = self._shapes()
        dtypes = self._dtypes([shape is None for shape in shapes])
        case = Case(
            operator=self._operator.name,
            case_id=self._case_id(),
            split=Split.PUBLIC,
            shapes=shapes,
            dtypes=dtypes,
            attributes=self._attributes(),
            value_ranges=self._ranges(dtypes),
            note=str(self._row.get("note") or "")[:500],
        )
        times = self._times()
        if len(self._faults) == before and element_count(case) > MOST_ELEMENTS:
            self._fault("input_shape", f"has more than {MOST_ELEMENTS} elements; make it smaller")
        return ReadCase(case, times) if len(self._faults) == before else None

    def _fault(self, key: str, message: str) -> None:
        self._faults.add("import.cases", f"{self._where}, {key}", message)

    def _first(self, *keys: str) -> object:
        return next((self._row[key] for key in keys if key in self._row), None)

    def _check_keys(self) -> None:
        for key in self._row:
            if key not in KEYS and self._strict:
                self._fault(key[:60], "is unknown; remove or correct it, or import with --ignore-unknown-keys")
        said = self._row.get("operator")
        names = {self._operator.name, self._operator.function, self._operator.title.lower()}
        if said is not None and str(said).lower() not in names:
            self._fault("operator", f"is {said!r:.40}, the folder's is {self._operator.title}; make them agree")

    def _case_id(self) -> int:
        value = self._row.get("case_id", self._position)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**6:
            self._fault("case_id", "must be a whole number from 1 on")
            return 0
        return value

    def _shapes(self) -> tuple[InputShape, ...]:
        value = self._first("input_shape", "input_shapes")
        inputs = self._operator.inputs
        if isinstance(value, list) and len(inputs) == 1 and all(_is_size(entry) for entry in value):
            value = [value]
        if not isinstance(value, list) or len(value) > len(inputs):
            self._fault("input_shape", f"must be a list with one entry per input ({len(inputs)})")
            return (None,) * len(inputs)
        entries = [*value, *[None] * (len(inputs) - len(value))]
        shapes: list[InputShape] = []
        for spec, entry in zip(inputs, entries, strict=True):
            shape = _shape_list(entry) if spec.tensor_list else _shape(entry)
            if shape is None and not (entry is None and spec.optional):
                wanted = "a list of shapes" if spec.tensor_list else "a shape, that is a list of sizes"
                self._fault("input_shape", f"input {spec.name!r} needs {wanted}, is {entry!r:.40}")
            shapes.append(shape)
        return tuple(shapes)

    def _dtypes(self, omitted: Sequence[bool]) -> tuple[str, ...]:
        """One dtype per input; that of an omitted one does not matter."""
        inputs = self._operator.inputs
        try:
            entries = spread_dtypes(self._first("dtype", "dtypes"), len(inputs))
        except ValueError as error:
            self._fault("dtype", str(error))
            return ("float32",) * len(inputs)
        return tuple(
            spec.dtypes[0] if left_out else self._dtype(entry, spec.name, spec.dtypes)
            for entry, spec, left_out in zip(entries, inputs, omitted, strict=True)
        )

    def _dtype(self, entry: object, name: str, allowed: Sequence[str]) -> str:
        if isinstance(entry, list) and entry and all(one == entry[0] for one in entry):
            entry = entry[0]
        if entry is None or entry == "None":
            return allowed[0]
        try:
            found = read_dtype(entry)
        except ValueError as error:
            self._fault("dtype", f"input {name!r}: {error}")
            return allowed[0]
        if found not in allowed:
            self._fault("dtype", f"input {name!r} cannot be {found}; proto.yaml allows {', '.join(allowed)}")
        return found

    def _attributes(self) -> dict[str, Attribute]:
        value = self._first("attrs", "attributes")
        given = {} if value is None else value
        if not isinstance(given, dict):
            self._fault("attrs", "must be a mapping")
            return {}
        found = dict(self._declared.defaults)
        parts = {part.name: part for part in self._declared.schema.arguments if not part.is_tensor}
        optional = {spec.name for spec in self._operator.inputs if spec.optional}
        for name, entry in given.items():
            if name in optional and entry is None:
                continue  # an omitted optional input may be said here as well
            if name not in parts:
                self._fault("attrs", f"{name!r:.40} is no attribute of the schema; remove it or add it there")
                continue
            try:
                found[name] = read_attribute(entry, parts[name])
            except ValueError as error:
                self._fault(f"attrs, {name}", str(error))
        for name in parts:
            if name not in found and name not in given:
                self._fault("attrs", f"{name!r} is missing, and the schema has no default for it")
        return {name: found[name] for name in parts if name in found}

    def _ranges(self, dtypes: Sequence[str]) -> tuple[ValueRange, ...]:
        value = self._first("value_range", "value_ranges")
        try:
            entries = spread_ranges(value, len(dtypes))
            return tuple(read_range(entry, dtype) for entry, dtype in zip(entries, dtypes, strict=True))
        except ValueError as error:
            self._fault("value_range", str(error))
            return ()

    def _times(self) -> dict[str, Times]:
        try:
            return read_times(
                self._first("baseline_perf_us", "baseline"), self._first("t_hw_us", "t_hw"), hardware="any"
            )
        except ValueError as error:
            self._fault("baseline_perf_us", str(error))
            return {}


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shape(value: object) -> Shape | None:
    if not isinstance(value, list) or len(value) > LARGEST_RANK:
        return None
    sizes = tuple(
        size for size in value if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 40
    )
    return sizes if len(sizes) == len(value) else None


def _shape_list(value: object) -> tuple[Shape, ...] | None:
    if not isinstance(value, list) or not 0 < len(value) <= 256:
        return None
    shapes = tuple(shape for shape in map(_shape, value) if shape is not None)
    return shapes if len(shapes) == len(value) else None
