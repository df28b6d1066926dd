"""The Celery side of a worker: one task, one at a time, given back when the process dies.

A message only wakes a worker: what it then judges is the next run in PostgreSQL.
So a doubled, late or lost message does no harm, and the broker's own redelivery
is only the second line behind the sweeper.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from celery import Celery, signals

from app.queue import EVALUATE, queue_of

VISIBILITY_S = 12 * 3600
"""Above the longest evaluation: below it the broker would hand the message out twice."""

PREPARE_S = 300.0
"""A fresh child may take so long to load the judge; Celery's 4 s would kill it for ever on a busy host."""


@dataclass(frozen=True)
class StopFlag:
    """Set in the worker's main process, seen by its forked children at once."""

    _page: mmap.mmap = field(default_factory=lambda: mmap.mmap(-1, 1))

    def set(self) -> None:
        """Asks running evaluations to stop and to give their run back."""
        self._page[0] = 1

    def is_set(self) -> bool:
        """Whether the worker is stopping."""
        return self._page[0] != 0


def create_celery(
    broker_url: str,
    hardware: str,
    evaluate: Callable[[], None],
    prepare: Callable[[], None],
    stopping: StopFlag,
) -> Celery:
    """The Celery app of a worker for `hardware`.

    `evaluate` claims and judges one run; `prepare` is called once in each child
    process after its fork; `stopping` is set when the worker is told to stop.
    """
    app = Celery("hapboard-worker", broker=broker_url, set_as_current=False)
    app.conf.update(**_configuration(hardware))

    @app.task(name=EVALUATE)
    def wake(run_id: int | None = None) -> None:  # noqa: ARG001 - the queue of record says which run is next
        if not stopping.is_set():
            evaluate()

    def tell_children(**_: Any) -> None:
        stopping.set()

    def prepare_child(**_: Any) -> None:
        prepare()

    signals.worker_shutting_down.connect(tell_children, weak=False)
    signals.worker_process_init.connect(prepare_child, weak=False)
    return app


def _configuration(hardware: str) -> dict[str, Any]:
    return {
        "task_default_queue": queue_of(hardware),
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_ignore_result": True,
        "worker_prefetch_multiplier": 1,
        "worker_concurrency": 1,
        "worker_max_tasks_per_child": 20,
        "worker_proc_alive_timeout": PREPARE_S,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_send_task_events": False,
        "worker_enable_remote_control": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_S,
            "unacked_restore_interval": 10,
            "unacked_restore_throttle": 1,
        },
    }
