"""Becomes a judge without root: `become_user.py <order as JSON>`, run as root.

The order names the control groups to step into (`groups`), the closed folders to cover (`covers`), `uid`, `argv`
and `env`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from local_stack.launch import open_view


def main() -> None:
    order = json.loads(sys.argv[1])
    for group in order["groups"]:
        Path(group, "cgroup.procs").write_text("0")
    if order["covers"]:
        open_view(order["covers"])
    os.setgroups([])
    os.setresgid(*(order["uid"],) * 3)
    os.setresuid(*(order["uid"],) * 3)
    os.chdir("/")
    os.execve(order["argv"][0], order["argv"], order["env"])


if __name__ == "__main__":
    main()
