"""Cold build of examples/cpu_cpp in the build box, without a compiler cache: seconds, as JSON.

    python -m benchmarks.build_example [--repeat N]

`import_torch_seconds` is what importing torch takes in the same box: the part of it that no submission can avoid,
and a yardstick for how loaded the machine is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from kernel_eval.build.compile import build_candidate
from kernel_eval.model import Candidate
from kernel_eval.sandbox.box import run_command
from kernel_eval.sandbox.host import build_policy
from kernel_eval.settings import Settings

EXAMPLE = Path(__file__).parents[1] / "examples" / "cpu_cpp"
AIM_SECONDS = 25.0


def build_seconds() -> float:
    """One build into a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder), Path(folder))
        build = build_candidate(Candidate(EXAMPLE), settings, Path(folder, "build"))
    if not build.succeeded:
        raise SystemExit(f"the example does not build: {build.message}")
    return build.seconds


def import_seconds() -> float:
    """Importing torch in the build box."""
    policy = build_policy(jobs=2)
    return run_command(policy, ("python", "-c", "import torch"), timeout_s=120, log_cap_bytes=1 << 16).seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    imports = [import_seconds() for _ in range(repeat)]
    builds = [build_seconds() for _ in range(repeat)]
    result = {
        "benchmark": "build_example",
        "build_seconds": round(statistics.median(builds), 2),
        "all_build_seconds": [round(seconds, 2) for seconds in builds],
        "import_torch_seconds": round(statistics.median(imports), 2),
        "aim_seconds": AIM_SECONDS,
        "met": statistics.median(builds) <= AIM_SECONDS,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
