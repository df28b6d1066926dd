"""How each output of an operator is judged, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.web.svg.markup import Gettext


def output_rules(output: Mapping[str, Any], _: Gettext) -> list[str]:
    """The rules of one output, from its declaration: what is compared, then what is tolerated or demanded besides."""
    name, rule = str(output.get("name", "output")), output.get("rule") or {}
    listed = _(" (a list of tensors)") if output.get("tensor_list") else ""
    head = _head(str(output.get("comparator")), _)
    return [
        head.format(name=name, listed=listed, dtype=_dtype_words(str(output.get("dtype", "")), _)),
        *_index_rules(output, name, rule, _),
        *_set_rules(output, name, rule, _),
        *_stateful_rules(output, name, rule, _),
        *_bounds(output, name, _),
    ]


def _dtype_words(dtype: str, _: Gettext) -> str:
    """A declared dtype: its name, or whose it is."""
    source = dtype.removeprefix("same as ")
    return dtype if source == dtype else _("same dtype as {name}").format(name=source)


def _head(comparator: str, _: Gettext) -> str:
    if comparator == "ignored":
        return _("Output {name}{listed}, {dtype}: only its structure is checked.")
    if comparator == "index":
        return _("Output {name}{listed}, {dtype}: indices, judged by the values they find; ties are free.")
    if comparator == "set":
        return _("Output {name}{listed}, {dtype}: every value is checked, in any order; how often one occurs counts.")
    if comparator == "stateful":
        return _("Output {name}{listed}, {dtype}: an input after the call.")
    return _("Output {name}{listed}, {dtype}: structure and every value are checked.")


def _index_rules(output: Mapping[str, Any], name: str, rule: Mapping[str, Any], _: Gettext) -> list[str]:
    if output.get("comparator") != "index":
        return []
    place = _axis(rule, _)
    if rule.get("table"):
        form = _("{name} points {place} into values computed from the inputs; what is found is as near as {values}.")
    elif rule.get("values"):
        form = _("{name} points {place} into {into}; each value found equals the one in {values}.")
    elif rule.get("reduction") == "min":
        form = _("{name} points {place} into {into}; each value found is the smallest there.")
    else:
        form = _("{name} points {place} into {into}; each value found is the largest there.")
    rules = [form.format(name=name, place=place, into=rule.get("into", ""), values=rule.get("values", ""))]
    if rule.get("distinct"):
        rules.append(_("In {name} no index stands twice.").format(name=name))
    if rule.get("up_to_position"):
        rules.append(_("In {name} no index lies beyond its own position.").format(name=name))
    return rules


def _set_rules(output: Mapping[str, Any], name: str, rule: Mapping[str, Any], _: Gettext) -> list[str]:
    if output.get("comparator") != "set":
        return []
    return [_("The order in {name} is free {place}.").format(name=name, place=_axis(rule, _))]


def _stateful_rules(output: Mapping[str, Any], name: str, rule: Mapping[str, Any], _: Gettext) -> list[str]:
    if output.get("comparator") != "stateful":
        return []
    form = _("{name} is {of} after the call: what is not written keeps its bits, what is written is judged alone.")
    return [form.format(name=name, of=rule.get("of", ""))]


def _bounds(output: Mapping[str, Any], name: str, _: Gettext) -> list[str]:
    rules = []
    if output.get("integer_tolerance"):
        form = _("In {name} integers may differ by {most}, in few elements: one in 1000, or twice PyTorch's own.")
        rules.append(form.format(name=name, most=output["integer_tolerance"]))
    if output.get("signed_zero"):
        rules.append(_("In {name} −0.0 and 0.0 differ.").format(name=name))
    if output.get("computed_as"):
        rules.append(_("{name} has the bounds of {format}.").format(name=name, format=output["computed_as"]))
    return rules


def _axis(rule: Mapping[str, Any], _: Gettext) -> str:
    axis = rule.get("axis")
    return _("anywhere in the tensor") if axis is None else _("along axis {axis}").format(axis=axis)
