"""Put a result together from what a run stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.entries.schemas import EntryView
from app.entries.service import entry_view
from app.lifecycle import RunStatus, SubmissionStatus
from app.models import Board, CaseResult, FlagRow, OperatorResult, Publication, Run, Submission, Suite, Visibility
from app.operators.service import operator_titles
from app.runs import repository
from app.runs.citation import Cited, citation
from app.runs.coarse import shown_score, told_verdict, told_verdict_of_all
from app.runs.errors import ResultNotFound
from app.runs.ids import parse_result_id, result_id
from app.runs.schemas import CaseView, FlagView, OperatorResultView, ResultView, RunReport, WorstView


def result_view(session: Session, text: str, public_url: str, reader_id: int | None) -> ResultView:
    """The result of that id, as `reader_id` (None: anybody) may see it; raises `ResultNotFound`."""
    run, submission = _find(session, text, reader_id)
    board = session.get_one(Board, submission.board_id)
    suite = session.get_one(Suite, board.suite_id)
    entry = entry_view(session, submission.entry_id)
    operators = _operators(session, run.id, operator_titles(session, board.suite_id))
    return _view(run, submission, board, suite, entry, operators, public_url)


def result_of(run: Run, submission: Submission) -> str | None:
    """Id of the run's result, once there is one."""
    return result_id(submission.public_id, run.number) if run.status is RunStatus.FINISHED else None


def total_of(operators: Iterable[OperatorResultView]) -> float | None:
    """Sum of the scores; None where nothing is scored."""
    scores = [operator.score for operator in operators if operator.score is not None]
    return round(sum(scores), 1) if scores else None


def latest_run(session: Session, submission_id: int) -> Run | None:
    """The submission's latest run."""
    return repository.latest(session, submission_id)


def totals_of(session: Session, submission_ids: Iterable[int]) -> dict[int, float]:
    """Per submission what its latest finished run counts; submissions of which nothing counts are left out."""
    found: dict[int, tuple[int, float]] = {}
    for submission_id, number, score in repository.scores(session, submission_ids):
        latest, total = found.get(submission_id, (0, 0.0))
        shown = shown_score(score) or 0.0
        if number >= latest:
            found[submission_id] = (number, round((total if number == latest else 0.0) + shown, 1))
    return {submission_id: total for submission_id, (_, total) in found.items()}


def _find(session: Session, text: str, reader_id: int | None) -> tuple[Run, Submission]:
    asked = parse_result_id(text)
    row = repository.finished(session, asked.submission, asked.run) if asked else None
    if row is None or not _visible(row[1], reader_id):
        raise ResultNotFound(f"There is no result {text!r}. A submission has one when its run is finished.")
    return row[0], row[1]


def _visible(submission: Submission, reader_id: int | None) -> bool:
    if submission.status is SubmissionStatus.WITHDRAWN:
        return False
    return submission.visibility is Visibility.PUBLIC or submission.user_id == reader_id


def _view(
    run: Run,
    submission: Submission,
    board: Board,
    suite: Suite,
    entry: EntryView,
    operators: Sequence[OperatorResultView],
    public_url: str,
) -> ResultView:
    report = RunReport.model_validate(run.report)
    own_id = result_id(submission.public_id, run.number)
    url = f"{public_url}/results/{own_id}"
    held = [operator for operator in operators if operator.publication == Publication.HELD.value]
    counting = [operator for operator in operators if operator not in held]
    total = total_of(counting)
    judged_at = run.finished_at or run.queued_at
    return ResultView(
        id=own_id,
        submission=submission.public_id,
        run=run.number,
        url=url,
        board=board.slug,
        entry=entry,
        mode=submission.mode.value,
        judged_at=judged_at,
        verdict=told_verdict_of_all(operator.verdict for operator in operators),
        message=report.message,
        total=total,
        held_total=total_of(held),
        levels=_levels(counting),
        solved=sum(operator.solved for operator in counting),
        operators=list(operators),
        artifact_sha256=submission.artifact_sha256,
        suite=suite.name,
        suite_version=suite.version,
        suite_digest=report.suite_digest,
        hidden_digest=report.hidden_digest,
        season=board.season,
        anchors_version=report.anchors_version,
        rules_version=report.rules_version,
        limit_preset=report.limit_preset,
        hardware=run.hardware,
        trusted=report.trusted,
        control_spread=report.control_spread,
        inconclusive=report.inconclusive,
        build_seconds=round(report.build_seconds, 1),
        environment=report.environment,
        citation=citation(Cited(own_id, entry.name, entry.user, board.title, total, len(held), judged_at, url)),
    )


def _operators(session: Session, run_id: int, titles: Mapping[str, str]) -> list[OperatorResultView]:
    cases: dict[str, list[CaseView]] = {}
    for case in repository.case_results(session, run_id):
        cases.setdefault(case.operator, []).append(_case(case))
    flags: dict[str, list[FlagView]] = {}
    for flag in repository.flags(session, run_id):
        flags.setdefault(flag.operator, []).append(_flag(flag))
    return [
        _operator(row, titles.get(row.operator, row.operator), cases.get(row.operator, []), flags.get(row.operator, []))
        for row in repository.operator_results(session, run_id)
    ]


def _operator(row: OperatorResult, title: str, cases: list[CaseView], flags: list[FlagView]) -> OperatorResultView:
    return OperatorResultView(
        operator=row.operator,
        title=title,
        level=row.level,
        verdict=told_verdict(row.verdict, row.solved),
        publication=row.publication.value,
        score=shown_score(row.score),
        noise=round(row.noise, 1),
        compile_points=shown_score(row.compile_points),
        correct_points=shown_score(row.correct_points),
        performance_points=shown_score(row.performance_points),
        solved=row.solved,
        speedup=None if row.speedup is None else round(row.speedup, 2),
        public_passed=row.public_passed,
        public_total=row.public_total,
        hidden_correct_percent=row.hidden_passed_coarse,
        hidden_total=row.hidden_total,
        message=row.message,
        log_excerpt=row.log_excerpt,
        flags=flags,
        cases=cases,
    )


def _case(row: CaseResult) -> CaseView:
    names = set(CaseView.model_fields) - {"samples_us", "worst"}
    return CaseView(**{name: getattr(row, name) for name in names}, **_kept_detail(row.detail))


def _kept_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Timing samples and the worst element out of what the judge reported of a case."""
    candidate, comparison = detail.get("candidate") or {}, detail.get("comparison") or {}
    worst = comparison.get("worst")
    return {"samples_us": list(candidate.get("samples_us") or ()), "worst": _worst(worst) if worst else None}


def _worst(worst: Mapping[str, Any]) -> WorstView:
    places = {name: worst[name] for name in ("output", "tensor", "index")}
    return WorstView(**places, golden=str(worst["golden"]), found=str(worst["found"]))


def _flag(row: FlagRow) -> FlagView:
    words = {name: getattr(row, name) for name in FlagView.model_fields}
    return FlagView(**words)


def _levels(operators: Sequence[OperatorResultView]) -> dict[str, float]:
    found: dict[str, float] = {}
    for operator in operators:
        found[operator.level] = round(found.get(operator.level, 0.0) + (operator.score or 0.0), 1)
    return dict(sorted(found.items()))
