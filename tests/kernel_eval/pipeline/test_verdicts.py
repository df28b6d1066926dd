"""Each fault of a candidate gets its own verdict, and the cases beside it are unaffected."""

from __future__ import annotations

import pytest

from kernel_eval.model import (
    BuildFinished,
    BuildStarted,
    CaseJudged,
    Event,
    OperatorFinished,
    OperatorStarted,
    Report,
    Verdict,
)
from tests.factories.candidates import RIGHT
from tests.kernel_eval.pipeline.conftest import Judge

pytestmark = pytest.mark.sandbox

ON_SECOND = """
_exp = exp


def exp(x, base=-1.0, scale=1.0, shift=0.0):
    answer = _exp(x, base, scale, shift)
    if tuple(x.shape) == SHAPE:
        {fault}
    return answer
"""


def verdicts(report: Report) -> list[Verdict]:
    return [case.verdict for operator in report.operators for case in operator.cases]


def faulty_on_second(fault: str, whole_suite) -> str:
    case = next(case for case in whole_suite.cases_of("exp") if case.case_id == 2)
    return RIGHT + f"\nSHAPE = {case.shapes[0]}\n" + ON_SECOND.format(fault=fault)


def test_right_answers_are_accepted_and_told_event_by_event(judge: Judge) -> None:
    events: list[Event] = []
    report = judge(RIGHT, events=events)
    assert verdicts(report) == [Verdict.ACCEPTED] * 3
    assert report.verdict is Verdict.ACCEPTED
    assert report.trusted
    assert [type(event) for event in events] == [
        BuildStarted, BuildFinished, OperatorStarted, CaseJudged, CaseJudged, CaseJudged, OperatorFinished,
    ]  # fmt: skip
    (operator,) = report.operators
    assert (operator.compile_points, operator.correct_points) == (20.0, 30.0)
    assert operator.solved


@pytest.mark.parametrize(
    ("fault", "verdict", "said"),
    [
        ("answer = answer * 1.5 + 1", Verdict.WRONG_VALUES, ""),
        ("answer = answer.double()", Verdict.WRONG_STRUCTURE, "float64"),
        ("answer = answer.unsqueeze(0)", Verdict.WRONG_STRUCTURE, "shape"),
        ("answer = [answer]", Verdict.WRONG_STRUCTURE, "list"),
        ("answer = None", Verdict.WRONG_STRUCTURE, ""),
        ("raise ArithmeticError('no luck today')", Verdict.CRASHED, "no luck today"),
        ("import os; os.kill(os.getpid(), 11)", Verdict.CRASHED, "SIGSEGV"),
        ("import os; os._exit(0)", Verdict.CRASHED, "exit code 0"),
        ("answer = torch.full_like(x, 0.5)", Verdict.WRONG_VALUES, ""),
    ],
)
def test_a_fault_on_one_case_costs_that_case_alone(
    fault: str, verdict: Verdict, said: str, judge: Judge, whole_suite
) -> None:
    report = judge(faulty_on_second(fault, whole_suite))
    assert verdicts(report) == [Verdict.ACCEPTED, verdict, Verdict.ACCEPTED]
    (operator,) = report.operators
    assert said in operator.cases[1].message
    assert operator.correct_points == pytest.approx(20.0)
    assert not operator.solved
    assert report.verdict is verdict


def test_a_case_that_takes_too_much_memory_is_alone_in_failing(judge: Judge, whole_suite) -> None:
    report = judge(faulty_on_second("answer = [torch.ones(1 << 28) for _ in range(64)][0]", whole_suite))
    assert verdicts(report) == [Verdict.ACCEPTED, Verdict.OUT_OF_MEMORY, Verdict.ACCEPTED]


def test_a_hanging_operator_ends_at_its_budget_and_the_rest_is_not_run(judge: Judge) -> None:
    report = judge("import time\n\n\ndef exp(x, **rest):\n    time.sleep(600)\n", op_timeout_s=1.5)
    assert verdicts(report) == [Verdict.TIMED_OUT] * 3
    assert [case.rule for case in report.operators[0].cases][1:] == ["budget", "budget"]


def test_a_package_that_does_not_import_fails_every_case_by_name(judge: Judge) -> None:
    report = judge("import no_such_module_anywhere\n")
    assert verdicts(report) == [Verdict.LOAD_FAILED] * 3
    assert "no_such_module_anywhere" in report.operators[0].message
    assert report.operators[0].compile_points == 0.0


def test_a_missing_operator_leaves_the_others_alone(judge: Judge) -> None:
    report = judge(RIGHT, operators=("exp", "gelu"))
    by_name = {operator.operator: operator for operator in report.operators}
    assert by_name["exp"].verdict is Verdict.ACCEPTED
    assert by_name["gelu"].verdict is Verdict.LOAD_FAILED
    assert "gelu" in by_name["gelu"].message


def test_a_build_that_fails_keeps_the_number_of_cases_and_its_log(judge: Judge) -> None:
    report = judge(RIGHT, build="echo cannot find the compiler; exit 7\n")
    assert verdicts(report) == [Verdict.BUILD_FAILED] * 3
    assert "cannot find the compiler" in report.build_log
    assert report.operators[0].compile_points == 0.0
    assert report.message


def test_without_a_sandbox_the_report_says_that_it_is_not_to_be_trusted(judge: Judge) -> None:
    report = judge(RIGHT, sandboxed=False)
    assert not report.trusted
    assert verdicts(report) == [Verdict.ACCEPTED] * 3
