"""Starts a zygote, the one place that joins it with the confinement: `python -I -B start.py <socket> <settings>`."""

from __future__ import annotations

import json
import os
import socket
import sys


def main() -> None:
    """Import torch, then serve the judge until it is gone."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(os.path.dirname(here)))
    from kernel_eval.sandbox.confine import close_memory, confine

    settings = json.loads(sys.argv[2])
    if settings["closed"]:
        close_memory()
    cores = os.sched_getaffinity(0)
    from kernel_eval.runner.zygote import Zygote

    os.sched_setaffinity(0, cores)  # OMP_PROC_BIND ties the first thread to one core, and all that comes of it
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        Zygote(channel, settings, confine if settings["confined"] else None).serve()


if __name__ == "__main__":
    main()
