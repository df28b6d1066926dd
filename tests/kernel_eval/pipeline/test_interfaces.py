"""What a submission offers is listed and matched before anything is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel_eval.commands.closing import exit_code
from kernel_eval.commands.progress import open_display
from kernel_eval.evaluation.interfaces import match_interfaces
from kernel_eval.model import CaseJudged, Event, Interface, InterfacesFound, Place, Verdict
from tests.factories.tasks import operator_of

SPELLED = """
import torch

def Exp(x, base=-1.0, scale=1.0, shift=0.0):
    power = x.double() * scale + shift
    if base > 0:
        power = power * torch.tensor(base, dtype=torch.float64).log()
    return power.exp().to(x.dtype)

def swi_glu_fast(input, dim=-1):
    return input
"""


@pytest.mark.sandbox
def test_another_spelling_is_judged_and_what_is_missing_is_said_once(judge) -> None:  # type: ignore[no-untyped-def]
    events: list[Event] = []
    report = judge(SPELLED, operators=("exp", "gelu"), case_ids=(1, 2), events=events)
    found = next(event for event in events if isinstance(event, InterfacesFound))
    assert [str(interface) for interface in found.interfaces] == [
        "cann_bench.Exp(x, base=-1.0, scale=1.0, shift=0.0)",
        "cann_bench.swi_glu_fast(input, dim=-1)",
    ]
    assert (found.missing, found.nothing_matches) == (("gelu",), False)
    assert events.index(found) < min(i for i, event in enumerate(events) if isinstance(event, CaseJudged))
    verdicts = {operator.operator: operator.verdict for operator in report.operators}
    assert verdicts == {"exp": Verdict.ACCEPTED, "gelu": Verdict.LOAD_FAILED}
    assert "neither torch.ops.cann_bench.gelu nor cann_bench.gelu exists" in report.operators[1].message
    assert "Exp, swi_glu_fast" in report.operators[1].message
    assert len(report.operators[1].cases) == 2


@pytest.mark.sandbox
def test_nothing_matched_is_a_clear_warning_and_exit_code_1(judge, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    events: list[Event] = []
    report = judge("def softmax(x):\n    return x\n", operators=("exp", "gelu"), case_ids=(1,), events=events)
    assert exit_code(report) == 1
    assert not any(isinstance(event, CaseJudged) for event in events)
    with open_display(2, False, False) as display:
        for event in events:
            display(event)
    said = capsys.readouterr().err
    assert "cann_bench.softmax(x)" in said
    assert "warning: no interface matches an operator of the suite" in said


def test_the_schemas_name_wins_over_another_spelling(tmp_path: Path) -> None:
    operator = operator_of(tmp_path / "sample")
    both = (Interface(Place.EXPORTED, "Sample", "(x)"), Interface(Place.REGISTERED, "sample", "(x)"))
    assert match_interfaces((operator,), both).functions == {"sample": "sample"}
    assert match_interfaces((operator,), both[:1]).functions == {"sample": "Sample"}
    assert match_interfaces((operator,), ()).missing == ("sample",)
