"""How long `kernel-eval` takes before it does what it was asked for.

`eval`: from the start of the process, with a candidate whose wheel is built, until it announces the first operator's
cases (`first_case_s`: everything is loaded, the sandbox stands, the submission's interfaces were listed in it) and
until the first case's verdict is there (`first_verdict_s`). Once for correctness alone and once with times, for which a
second box is opened; peaks are probed and the arena is compiled beforehand, as on any machine's second run. `list` and
`info`: the whole process, which must not load torch. `import torch` by itself stands beside them, since no judge can
start sooner. Usage:

    python -m benchmarks.start [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.support.figures import aim, finish, spread, tell
from benchmarks.support.judged import kernel_eval, ready_source, run
from kernel_eval.device.cpu_probe import probe
from kernel_eval.hap import save_peaks
from kernel_eval.runner.arena_build import arena_library
from kernel_eval.settings import Settings
from kernel_eval.suite import default_bench_data, load_suite

OPERATOR, CASE = "exp", "1"
FIRST_CASE_S, ANSWER_S = 3.0, 0.4


class Starts:
    """Samples of everything that is measured, in seconds."""

    def __init__(self, folder: Path) -> None:
        operator = load_suite(default_bench_data(), "cann-bench-small").operator(OPERATOR)
        source = ready_source(folder, [operator], example=False)
        peaks, cache = folder / "peaks.json", folder / "cache"
        save_peaks(probe(Settings(folder, folder).threads), peaks)
        arena_library(cache)
        words = ["eval", "-v", "--source-dir", source, "--cache-dir", cache, "--peaks", peaks, "-o", OPERATOR]
        self._words = [*map(str, words), "-c", CASE, "--repeat", "1", "--reports-dir", str(folder / "reports")]
        self.samples: dict[str, list[float]] = {}

    def sample(self) -> None:
        """Start everything once."""
        for name, more in (("correctness", ["--no-perf"]), ("timed", [])):
            found = kernel_eval([*self._words, *more])
            if found.code:
                raise RuntimeError(f"kernel-eval ended with {found.code}: {found.lines[-1:]}")
            self._add(f"{name}_first_case_s", found.first(f"{OPERATOR}: 1 cases"))
            self._add(f"{name}_first_verdict_s", found.first(f"public {CASE}: accepted"))
        self._add("list_s", kernel_eval(["list"]).seconds)
        self._add("info_s", kernel_eval(["info", OPERATOR]).seconds)
        self._add("import_torch_s", run([sys.executable, "-c", "import torch"]).seconds)

    def _add(self, name: str, seconds: float) -> None:
        self.samples.setdefault(name, []).append(seconds)


def main() -> int:
    """Print the figures; 0 where every aim is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="hapboard-bench-") as folder:
        starts = Starts(Path(folder))
        starts.sample()  # fills the golden cache, writes byte code, brings files into memory
        starts.samples.clear()
        for turn in range(rounds):
            tell(f"round {turn + 1} of {rounds}")
            starts.sample()
    medians = {name: statistics.median(samples) for name, samples in starts.samples.items()}
    return finish(
        "start",
        {
            "correctness_first_case_s": aim(medians["correctness_first_case_s"], FIRST_CASE_S),
            "timed_first_case_s": aim(medians["timed_first_case_s"], FIRST_CASE_S),
            "list_s": aim(medians["list_s"], ANSWER_S),
            "info_s": aim(medians["info_s"], ANSWER_S),
        },
        seconds={name: spread(samples) for name, samples in starts.samples.items()},
    )


if __name__ == "__main__":
    sys.exit(main())
