"""How a foreign `proto.yaml` wants its outputs compared: index outputs and tolerances of integers.

Whatever cannot be said in the judge's own rules is a fault here, so that nothing declared is left unapplied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernel_eval.model import ITEM_BYTES, Comparator, IndexRule, Operator, OutputSpec, Reduction
from kernel_eval.suite.comparators import INTEGERS, dtypes_of
from kernel_eval.suite.imported.values import read_dtype, read_number

Fault = Callable[[str, str], None]
"""Takes a key of the file and what is wrong with it."""
GATHER_KEYS = frozenset({"input", "dim_attr", "value_output", "value_reduce", "keepdim_attr"})
REDUCTIONS: Mapping[object, Reduction] = {"amax": Reduction.MAX, "amin": Reduction.MIN}
WIDEST_TOLERANCE = 128


def read_index_gather(entry: Mapping[str, object], key: str, fault: Fault) -> IndexRule | None:
    """The rule that `index_gather` of the output at `key` declares; None where it declares none or makes no sense.

    `input` is the indexed tensor, `dim_attr` (`dim`) the attribute with the axis. What is found equals the output
    `value_output`, or the extreme along the axis that `value_reduce` (`amax`, `amin`) names.
    """
    if "index_gather" not in entry:
        return None
    said = entry["index_gather"]
    if not isinstance(said, dict):
        fault(f"{key}, index_gather", "must be a mapping with input and value_output or value_reduce")
        return None
    texts = {name: said[name] for name in ("input", "dim_attr", "value_output", "keepdim_attr") if name in said}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.isidentifier():
            fault(f"{key}, index_gather, {name}", f"{text!r:.40} is no name")
            return None
    if entry.get("compare") is True:
        fault(f"{key}, index_gather", "contradicts 'compare: true'; indices with ties have no single right answer")
    reduction = said.get("value_reduce")
    if reduction is not None and (not isinstance(reduction, str) or reduction not in REDUCTIONS):
        fault(f"{key}, index_gather, value_reduce", f"must be amax or amin, is {reduction!r:.40}")
        return None
    if "input" not in texts or ("value_output" in texts) == (reduction is not None):
        fault(f"{key}, index_gather", "needs input, and either value_output or value_reduce")
        return None
    return IndexRule(
        into=str(texts["input"]),
        axis=str(texts.get("dim_attr", "dim")),
        values=str(texts.get("value_output", "")),
        reduction=REDUCTIONS.get(reduction),
    )


def read_thresholds(said: object, fault: Fault) -> dict[str, float]:
    """`precision_thresholds`: τ per float dtype, the largest difference per dtype of integers."""
    if not isinstance(said, dict | None):
        fault("precision_thresholds", "must map dtypes to numbers")
        return {}
    found = {}
    for key, number in (said or {}).items():
        try:
            dtype, bound = read_dtype(key), read_number(number)
        except ValueError as error:
            fault(f"precision_thresholds, {key!r:.30}", str(error))
            continue
        if wrong := _threshold_fault(dtype, bound):
            fault(f"precision_thresholds, {dtype}", wrong)
        else:
            found[dtype] = bound
    return found


def check_comparing(operator: Operator, fault: Fault) -> None:
    """Name whatever in the comparison of the outputs contradicts the rest of the declaration."""
    for spec in operator.outputs:
        if isinstance(spec.rule, IndexRule):
            _check_index(operator, spec, spec.rule, fault)
    for dtype, bound in operator.thresholds.items():
        if "float" not in dtype and bound > 0:
            _check_tolerance(operator, dtype, bound, fault)


def _threshold_fault(dtype: str, bound: float) -> str:
    if "float" in dtype:
        return "" if 0 <= bound < 1 else f"{bound:g} is no threshold; it lies from 0 up to 1"
    if dtype == "bool" and bound != 0:
        return "bool is compared exactly; remove its tolerance"
    whole = 0 <= bound <= WIDEST_TOLERANCE and bound == int(bound)
    return "" if whole else f"{bound:g} is no tolerance of integers; it is a whole number from 0 to {WIDEST_TOLERANCE}"


def _check_index(operator: Operator, spec: OutputSpec, rule: IndexRule, told: Fault) -> None:
    def fault(message: str) -> None:
        told(f"outputs, {spec.name}, index_gather", message)

    if spec.tensor_list:
        fault("a list of tensors can't be compared as indices")
    if not set(_dtypes(operator, spec)) <= set(INTEGERS):
        fault("indices are integers; declare such a dtype")
    if not any(entry.name == rule.axis and entry.type == "int" for entry in operator.attributes):
        fault(f"dim_attr {rule.axis!r:.40} is no attribute of type int in the schema")
    source = next((entry for entry in operator.inputs if entry.name == rule.into), None)
    if source is None or source.tensor_list or source.optional:
        fault(f"input {rule.into!r:.40} is no input of a single tensor that is always given")
    elif rule.values:
        values = next((entry for entry in operator.outputs if entry.name == rule.values), None)
        if values is None or values.tensor_list or values.comparator is not Comparator.NUMERIC:
            fault(f"value_output {rule.values!r:.40} is no output of a single tensor that is compared by value")
        elif not set(_dtypes(operator, values)) & set(source.dtypes):
            fault(f"value_output {rule.values} can't have the dtype of {rule.into}, whose values are found")


def _check_tolerance(operator: Operator, dtype: str, bound: float, fault: Fault) -> None:
    key = f"precision_thresholds, {dtype}"
    reached = [spec for spec in operator.outputs if dtype in _dtypes(operator, spec)]
    if not any(spec.comparator is Comparator.NUMERIC for spec in reached):
        fault(key, f"no output that is compared by value can be {dtype}; remove the tolerance of {bound:g}")


def _dtypes(operator: Operator, spec: OutputSpec) -> tuple[str, ...]:
    """What an output may be; where nothing is declared, anything."""
    if spec.dtype == "golden":
        return spec.dtypes or tuple(ITEM_BYTES)
    return dtypes_of(operator, spec)
