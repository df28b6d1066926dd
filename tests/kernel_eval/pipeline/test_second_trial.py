"""The second trial: other inputs, and a case is accepted only where both are right."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from kernel_eval.cli import command
from kernel_eval.model import RangeKind, Suite, Verdict
from tests.factories.candidates import RIGHT
from tests.kernel_eval.pipeline.conftest import Judge

pytestmark = pytest.mark.sandbox

ONCE = (
    RIGHT
    + """

_exp = exp


def exp(x, **attributes):
    answer = _exp(x, **attributes)
    return answer if bool((x == 0).all()) else answer * 2
"""
)
"""Right where all inputs are 0, as in one public case, and nowhere else."""


def test_right_answers_pass_both_trials_and_the_report_says_how_many_there_were(judge: Judge) -> None:
    report = judge(RIGHT, second_trial=True)
    assert report.verdict is Verdict.ACCEPTED
    assert report.environment["trials"] == "2"
    assert report.operators[0].solved


def zero_case(suite: Suite) -> int:
    """A public case of the operator whose inputs are all 0."""
    cases = suite.cases_of("exp")
    return next(case.case_id for case in cases if case.value_ranges[0].kind is RangeKind.ZERO)


def test_an_answer_that_fits_one_input_alone_is_found(judge: Judge, whole_suite: Suite) -> None:
    report = judge(ONCE, case_ids=(zero_case(whole_suite),), second_trial=True)
    (case,) = report.operators[0].cases
    assert case.verdict is Verdict.WRONG_VALUES
    assert case.message.startswith("in the second trial: y ")
    assert case.comparison is not None
    assert case.comparison.worst is not None


@pytest.mark.slow
def test_without_it_one_trial_decides(judge: Judge, whole_suite: Suite) -> None:
    report = judge(ONCE, case_ids=(zero_case(whole_suite),))
    assert report.verdict is Verdict.ACCEPTED
    assert report.environment["trials"] == "1"


def test_the_command_line_offers_it() -> None:
    assert "--second-trial" in CliRunner().invoke(command, ["eval", "--help"]).output
