"""One run's way through a worker: claim, fetch, judge, record under the fence, or give back."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import structlog
from sqlalchemy import select

from app.db.session import Database
from app.models import Board, Mode
from app.models import Suite as SuiteRow
from app.runs import service
from app.runs.errors import LeaseError
from app.runs.lease import Lease
from app.storage import FileStore
from kernel_eval.build.archive import unpack
from kernel_eval.errors import EvaluationStopped, InternalError, SandboxIncomplete
from kernel_eval.hap import CpuPeaks
from kernel_eval.later import load_later
from kernel_eval.model import AnchorSet, Candidate, Report, Split, Suite
from kernel_eval.settings import Settings
from worker import anchors, devices
from worker.boxes import kill_own_boxes
from worker.celery_app import StopFlag
from worker.hidden import season_suite
from worker.lease import LeaseKeeper
from worker.progress import Progress
from worker.record import Judged, measured_baselines, rows_of, run_report
from worker.settings import WorkerSettings
from worker.sources import source_digests
from worker.workplace import work_folder

ERROR_CAP_CHARACTERS = 8_000
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Assignment:
    """A lease with everything that judging it needs."""

    lease: Lease
    suite: Suite
    anchors: AnchorSet | None


class StoppedByUs(Exception):
    """Judging ended early because the run is no longer ours, or the worker stops."""


class Evaluator:
    """Judges runs, one at a time. Made once per worker process; loads suite and peaks once.

    `on_unfit` is told why this host can judge no more; the run goes back uncounted.
    """

    def __init__(
        self, settings: WorkerSettings, database: Database, stopping: StopFlag, on_unfit: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._on_unfit = on_unfit
        self._database = database
        self._stopping = stopping
        self._store = FileStore(settings.storage_dir)

    @cached_property
    def suite(self) -> Suite:
        """The suite with this season's hidden cases, as far as settings let it through."""
        whole = season_suite(self._settings)
        operators, case_ids = self._settings.worker_operators, self._settings.worker_case_ids
        return whole.select(operators=operators or None, case_ids=case_ids or None)

    @cached_property
    def peaks(self) -> CpuPeaks:
        """This host's peaks."""
        return devices.host_peaks(self._settings)

    def prepare(self) -> None:
        """Loads what every evaluation needs, so that the first one does not wait for it; torch comes with the build."""
        load_later("torch")
        import kernel_eval.pipeline  # noqa: F401 - for this process alone

        _ = self.suite, self.peaks

    def evaluate_next(self) -> bool:
        """Claims the next run and judges it to its end; False where nothing waits."""
        with self._database.session() as session:
            settings, now = self._settings, datetime.now(UTC)
            lease = service.claim(session, settings.worker_hardware, settings.worker_name, now, settings.worker_lease_s)
        if lease is None:
            return False
        with structlog.contextvars.bound_contextvars(run_id=lease.run_id, submission=lease.public_id):
            _log.info("run_claimed", attempt=lease.attempt, fence=lease.fence)
            self._hold(lease)
        return True

    def _hold(self, lease: Lease) -> None:
        """Judges under a kept lease. Whatever goes wrong here is a fault of ours and ends the attempt."""
        keeper = LeaseKeeper(
            self._database,
            lease,
            lease_s=self._settings.worker_lease_s,
            every_s=self._settings.worker_heartbeat_s,
            stopping=self._stopping.is_set,
            end_now=kill_own_boxes,
        )
        with keeper:
            try:
                judged = self._judge(self._assignment(lease), keeper)
                keeper.stop()
                self._record(lease, judged)
            except (LeaseError, StoppedByUs, SandboxIncomplete) as reason:
                _log.warning("run_stopped", reason=str(reason))
                self._give_back(lease, keeper)
                if isinstance(reason, SandboxIncomplete):
                    self._on_unfit(str(reason))
            except Exception as error:  # noqa: BLE001 - the edge of the process: ours, retried, never a verdict
                self._fail(lease, error)

    def _assignment(self, lease: Lease) -> Assignment:
        with self._database.session() as session:
            board = session.scalars(select(Board).where(Board.slug == lease.board)).one()
            digest = session.get_one(SuiteRow, board.suite_id).digest
            found = anchors.load(session, board)
            pinned = dict(board.fingerprint), (digest, board.hidden_digest)
        if lease.board != self._settings.board:
            raise InternalError(f"this worker serves {self._settings.board}, not {lease.board}")
        if unlike := devices.why_not_like(pinned[0], self.peaks):
            raise InternalError(f"this host is not the one that {lease.board} pins: {unlike}")
        if pinned[1] != (self.suite.digest, self.suite.hidden_digest):
            raise InternalError(f"this worker's suite or hidden cases are not those that {lease.board} pins")
        suite = self.suite if lease.mode is Mode.RANKED else self.suite.select(splits=frozenset({Split.PUBLIC}))
        return Assignment(lease, suite, found)

    def _judge(self, assignment: Assignment, keeper: LeaseKeeper) -> Judged:
        with work_folder(self._settings.work_folder, assignment.lease) as folder:
            candidate = self._fetch(assignment.lease, folder)
            report = self._evaluate(candidate, assignment, folder, keeper)
            self._stop_if_told(keeper)
            names = [operator.name for operator in assignment.suite.operators]
            return Judged(report, source_digests(candidate.source_dir, names))

    def _evaluate(self, candidate: Candidate, assignment: Assignment, folder: Path, keeper: LeaseKeeper) -> Report:
        from kernel_eval.pipeline import evaluate

        public = sum(case.split is Split.PUBLIC for case in assignment.suite.cases)
        progress = Progress(self._database, assignment.lease, public, self._settings.worker_tick_s)
        try:
            report = evaluate(
                candidate,
                assignment.suite,
                self._judge_settings(folder),
                progress,
                peaks=self.peaks,
                anchors=assignment.anchors,
                should_stop=lambda: keeper.gone or self._stopping.is_set(),
            )
            progress.close()
            return report
        except EvaluationStopped as reason:
            raise StoppedByUs(str(reason)) from reason
        except InternalError:
            self._stop_if_told(keeper)
            raise

    def _judge_settings(self, folder: Path) -> Settings:
        plain = Settings(work_dir=folder / "judge", cache_dir=self._settings.cache_folder)
        return replace(
            plain,
            hardware=self._settings.worker_hardware,
            timed=self._settings.worker_timed,
            threads=self._settings.worker_threads,
        )

    def _fetch(self, lease: Lease, folder: Path) -> Candidate:
        source = folder / "source"
        source.mkdir()
        (folder / "judge").mkdir()
        with self._store.open(lease.artifact_sha256) as archive:
            unpacked = unpack(archive, lease.filename, source)
        if unpacked.sha256 != lease.artifact_sha256:
            raise InternalError(f"the stored archive is damaged: its SHA-256 is {unpacked.sha256}")
        return Candidate(source_dir=source, sha256=unpacked.sha256)

    def _record(self, lease: Lease, judged: Judged) -> None:
        """Everything in one transaction, refused as a whole where the fence is stale."""
        now = datetime.now(UTC)
        with self._database.session() as session:
            service.held_run(session, lease)
            session.add_all(rows_of(judged, lease.run_id))
            board = session.scalars(select(Board).where(Board.slug == lease.board)).one()
            if board.anchors_id is not None and judged.report.trusted:
                anchors.record_baselines(session, board.anchors_id, measured_baselines(judged.report.operators), now)
            status = service.finish(session, lease, now, self._report(judged))
        _log.info("run_recorded", status=str(status))

    def _report(self, judged: Judged) -> Mapping[str, object]:
        return {**run_report(judged.report), "worker": self._settings.worker_name}

    def _stop_if_told(self, keeper: LeaseKeeper) -> None:
        if keeper.gone:
            raise StoppedByUs("the run is no longer ours")
        if self._stopping.is_set():
            raise StoppedByUs("the worker is stopping")

    def _give_back(self, lease: Lease, keeper: LeaseKeeper) -> None:
        """A worker that stops in good order returns its run uncounted; a lost run is nobody's to return."""
        if keeper.gone:
            return
        try:
            with self._database.session() as session:
                service.release(session, lease, datetime.now(UTC))
        except LeaseError as reason:
            _log.warning("run_not_released", reason=str(reason))

    def _fail(self, lease: Lease, error: Exception) -> None:
        text = "".join(traceback.format_exception(error))[-ERROR_CAP_CHARACTERS:]
        _log.error("run_failed", error=text)
        try:
            with self._database.session() as session:
                status = service.fail(session, lease, datetime.now(UTC), f"attempt {lease.attempt}: {text}")
            _log.info("attempt_ended", status=str(status))
        except LeaseError as reason:
            _log.warning("run_not_failed", reason=str(reason))
