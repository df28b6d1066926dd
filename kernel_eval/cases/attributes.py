"""The attributes of a call."""

from __future__ import annotations

from kernel_eval.model import Attribute, Case, Operator


def call_attributes(operator: Operator, case: Case) -> dict[str, Attribute]:
    """All attributes of a call: the case's own, and the declared defaults of the rest."""
    defaults = {spec.name: spec.default for spec in operator.attributes if spec.default is not None}
    return defaults | dict(case.attributes)
