"""Each fault of a candidate gets its own verdict, and the cases beside it are unaffected."""

from __future__ import annotations

import pytest

from kernel_eval.model import (
    BuildFinished,
    BuildStarted,
    CaseJudged,
    Event,
    InterfacesFound,
    OperatorFinished,
    OperatorStarted,
    Report,
    Suite,
    Verdict,
)
from tests.factories.candidates import RIGHT
from tests.kernel_eval.pipeline.conftest import Judge

pytestmark = pytest.mark.sandbox

FAULTS: dict[int, tuple[str, Verdict, str]] = {
    2: ("answer = answer * 1.5 + 1", Verdict.WRONG_VALUES, ""),
    3: ("answer = answer.double()", Verdict.WRONG_STRUCTURE, "float64"),
    4: ("answer = answer.unsqueeze(0)", Verdict.WRONG_STRUCTURE, "shape"),
    5: ("answer = [answer]", Verdict.WRONG_STRUCTURE, "list"),
    6: ("answer = None", Verdict.WRONG_STRUCTURE, ""),
    8: ("raise ArithmeticError('no luck today')", Verdict.CRASHED, "no luck today"),
    9: ("import os; os.kill(os.getpid(), 11)", Verdict.CRASHED, "SIGSEGV"),
    10: ("import os; os._exit(0)", Verdict.CRASHED, "exit code 0"),
    11: ("answer = torch.full_like(x, 0.5)", Verdict.WRONG_VALUES, ""),
    12: ("answer = [torch.ones(1 << 28) for _ in range(64)][0]", Verdict.OUT_OF_MEMORY, ""),
    14: ("import time; time.sleep(600)", Verdict.TIMED_OUT, ""),
}
"""By case: what the candidate does there, what the judge must say, a word that its message must have."""
HONEST = (1, 7, 13, 15)


def verdicts(report: Report, operator: str = "exp") -> dict[int, Verdict]:
    return {case.case_id: case.verdict for o in report.operators if o.operator == operator for case in o.cases}


def faulty(suite: Suite) -> str:
    """A candidate with every fault of the table, told apart by the cases' shapes."""
    shapes = {case.case_id: case.shapes[0] for case in suite.cases_of("exp")}
    assert len(set(shapes.values())) == len(shapes)
    lines = [RIGHT, "_exp = exp", "def exp(x, base=-1.0, scale=1.0, shift=0.0):"]
    lines.append("    answer = _exp(x, base, scale, shift)")
    for case_id, (fault, _, _) in FAULTS.items():
        lines.append(f"    if tuple(x.shape) == {shapes[case_id]}:")
        lines.append(f"        {fault}")
    return "\n".join([*lines, "    return answer\n"])


@pytest.fixture(scope="module")
def faulty_report(module_judge: Judge, whole_suite: Suite) -> Report:
    case_ids = tuple(sorted((*FAULTS, *HONEST)))
    return module_judge(faulty(whole_suite), operators=("exp", "gelu"), case_ids=case_ids)


@pytest.mark.parametrize("case_id", sorted(FAULTS))
def test_a_fault_gets_its_own_verdict(faulty_report: Report, case_id: int) -> None:
    (operator, _) = faulty_report.operators
    (result,) = [case for case in operator.cases if case.case_id == case_id]
    fault, verdict, said = FAULTS[case_id]
    assert result.verdict is verdict, (fault, result)
    assert said in result.message


def test_the_cases_beside_the_faults_are_accepted(faulty_report: Report) -> None:
    found = verdicts(faulty_report)
    assert [found[case_id] for case_id in HONEST] == [Verdict.ACCEPTED] * len(HONEST)
    (operator, _) = faulty_report.operators
    assert operator.compile_points == 20.0
    assert operator.correct_points == pytest.approx(30.0 * len(HONEST) / len(found))
    assert not operator.solved


def test_a_missing_operator_fails_by_name_and_leaves_the_others_alone(faulty_report: Report) -> None:
    (_, gelu) = faulty_report.operators
    assert set(verdicts(faulty_report, "gelu").values()) == {Verdict.LOAD_FAILED}
    assert "gelu" in gelu.message
    assert (gelu.compile_points, gelu.correct_points) == (0.0, 0.0)


def test_a_constant_output_is_no_attempt(faulty_report: Report) -> None:
    (operator, _) = faulty_report.operators
    attempts = {case.case_id: case.attempted for case in operator.cases}
    assert attempts[11] is False
    assert attempts[1] is True


def test_right_answers_are_accepted_and_told_event_by_event(judge: Judge) -> None:
    events: list[Event] = []
    report = judge(RIGHT, events=events)
    assert set(verdicts(report).values()) == {Verdict.ACCEPTED}
    assert report.verdict is Verdict.ACCEPTED
    assert report.trusted
    assert [type(event) for event in events] == [
        BuildStarted, BuildFinished, InterfacesFound,
        OperatorStarted, CaseJudged, CaseJudged, CaseJudged, OperatorFinished,
    ]  # fmt: skip
    (operator,) = report.operators
    assert (operator.compile_points, operator.correct_points) == (20.0, 30.0)
    assert operator.solved


def test_a_hanging_operator_ends_at_its_budget_and_the_rest_is_not_run(judge: Judge) -> None:
    report = judge("import time\n\n\ndef exp(x, **rest):\n    time.sleep(600)\n", op_timeout_s=1.5)
    assert list(verdicts(report).values()) == [Verdict.TIMED_OUT] * 3
    assert [case.rule for case in report.operators[0].cases][1:] == ["budget", "budget"]


def test_a_package_that_does_not_import_fails_every_case_by_name(judge: Judge) -> None:
    report = judge("import no_such_module_anywhere\n")
    assert list(verdicts(report).values()) == [Verdict.LOAD_FAILED] * 3
    assert "no_such_module_anywhere" in report.operators[0].message
    assert report.operators[0].compile_points == 0.0


def test_a_build_that_fails_keeps_the_number_of_cases_and_its_log(judge: Judge) -> None:
    report = judge(RIGHT, build="echo cannot find the compiler; exit 7\n")
    assert list(verdicts(report).values()) == [Verdict.BUILD_FAILED] * 3
    assert "cannot find the compiler" in report.build_log
    assert report.operators[0].compile_points == 0.0
    assert report.message


def test_without_a_sandbox_the_report_says_that_it_is_not_to_be_trusted(judge: Judge) -> None:
    report = judge(RIGHT, sandboxed=False)
    assert not report.trusted
    assert set(verdicts(report).values()) == {Verdict.ACCEPTED}


def test_a_case_that_is_wrong_has_no_time_but_its_limit(judge: Judge) -> None:
    wrong = RIGHT.replace("return ", "return 1 + ")
    report = judge(wrong, case_ids=(1, 2), timed=True)
    for case in report.operators[0].cases:
        assert (case.verdict, case.candidate, case.baseline) == (Verdict.WRONG_VALUES, None, None)
        assert case.limit is not None
        assert case.limit.limit_us > 0
