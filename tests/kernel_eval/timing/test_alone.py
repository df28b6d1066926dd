"""Two judges of a host never measure at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from kernel_eval.timing.alone import alone, lock_path

HOLDER = """
import sys
from kernel_eval.timing.alone import alone
with alone():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_waits_for_another_judge_and_a_dead_one_frees_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        taken = threading.Event()

        def take() -> None:
            with alone():
                taken.set()

        thread = threading.Thread(target=take)
        thread.start()
        time.sleep(0.2)
        assert not taken.is_set()
        other.kill()
        thread.join(20)
        assert taken.is_set()


def test_the_lock_is_the_owners_alone() -> None:
    with alone():
        assert lock_path().stat().st_mode & 0o077 == 0
