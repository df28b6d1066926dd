"""The operator page says of each output how it is judged."""

from __future__ import annotations

import pytest

from app.web.views.comparing import output_rules
from app.web.views.operator import accuracy_rules
from kernel_eval.model import Comparator, IndexRule, OutputSpec, Reduction, SetRule, StatefulRule
from kernel_eval.report.codec import to_plain

INDEX, SET, STATEFUL = Comparator.INDEX, Comparator.SET, Comparator.STATEFUL


def words(spec: OutputSpec) -> list[str]:
    return output_rules(to_plain(spec), str)


def index(rule: IndexRule) -> OutputSpec:
    return OutputSpec("at", "int64", comparator=INDEX, rule=rule)


SAID = {
    "numbers": (OutputSpec("y", "float32"), "Output y, float32: structure and every value are checked."),
    "ignored": (OutputSpec("y", "int8", comparator=Comparator.IGNORED), "only its structure is checked"),
    "a list": (OutputSpec("y", "int8", tensor_list=True), "Output y (a list of tensors), int8"),
    "indices beside values": (
        index(IndexRule("x", axis="dim", values="y")),
        "at points along axis dim into x; each value found equals the one in y.",
    ),
    "indices of the largest": (index(IndexRule("x", reduction=Reduction.MAX)), "anywhere in the tensor into x; each"),
    "indices of the smallest": (index(IndexRule("x", axis=0, reduction=Reduction.MIN)), "along axis 0 into x; each"),
    "indices into a table": (index(IndexRule(table="t", axis=1, values="y")), "computed from the inputs"),
    "ties": (index(IndexRule("x", values="y")), "ties are free"),
    "distinct": (index(IndexRule("x", values="y", distinct=True)), "In at no index stands twice."),
    "up to": (index(IndexRule("x", values="y", up_to_position=True)), "no index lies beyond its own position"),
    "a set": (OutputSpec("y", "int8", comparator=SET, rule=SetRule(0)), "The order in y is free along axis 0."),
    "a state": (
        OutputSpec("y", "same as c", comparator=STATEFUL, rule=StatefulRule("c")),
        "y is c after the call: what is not written keeps its bits",
    ),
    "quantised": (OutputSpec("y", "int8", integer_tolerance=1), "In y integers may differ by 1, in few elements"),
    "signed zero": (OutputSpec("y", "float32", signed_zero=True), "In y −0.0 and 0.0 differ."),
    "a compute format": (OutputSpec("y", "float32", computed_as="hifloat32"), "y has the bounds of hifloat32."),
}


@pytest.mark.parametrize(("spec", "said"), SAID.values(), ids=SAID)
def test_an_output_says_how_it_is_judged(spec: OutputSpec, said: str) -> None:
    assert said in " ".join(words(spec))


def test_what_is_not_declared_is_not_said() -> None:
    assert len(words(OutputSpec("y", "float32"))) == 1


def test_a_threshold_of_zero_is_shown() -> None:
    rules = accuracy_rules({"outputs": [to_plain(OutputSpec("y", "float32"))], "thresholds": {"float32": 0}}, str)
    assert "For float32 this operator sets τ = 0." in rules
