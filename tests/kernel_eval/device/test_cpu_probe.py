from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kernel_eval.device import cpu_probe
from kernel_eval.device.cpu_probe import is_stable, matmul_rates, peaks_of, probe, run_program
from kernel_eval.device.cpu_topology import read_topology
from kernel_eval.errors import InternalError, UsageError
from kernel_eval.hap import CpuPeaks, peaks_from_json, peaks_to_json

THREADS = len(read_topology().cpus)


@pytest.fixture(scope="module")
def peaks() -> CpuPeaks:
    return probe(THREADS, seconds=1.5)


def test_the_probe_finds_rates_a_processor_can_have(peaks: CpuPeaks) -> None:
    assert 1e9 < peaks.memory_bytes_per_s < 2e12
    assert peaks.memory_bytes_per_s <= peaks.near[0].bytes_per_s
    assert 1e9 < peaks.vector_ops["b64"] < peaks.vector_ops["b32"] <= peaks.vector_ops["b16"]
    assert peaks.flops["float32"] >= peaks.vector_ops["b32"]
    assert peaks.threads == THREADS
    assert peaks_from_json(peaks_to_json(peaks)) == peaks


def test_the_nearer_the_cache_the_faster(peaks: CpuPeaks) -> None:
    rates = [level.bytes_per_s for level in peaks.near] + [peaks.cache_bytes_per_s]
    assert rates == sorted(rates, reverse=True)


KERNELS = r"""
#include <chrono>
#include <cstdio>
#include <cstring>
#include <algorithm>
#include <thread>
#include <vector>
#include <cmath>
using Clock = std::chrono::steady_clock;
template <typename F> double best(size_t n, int threads, F part) {
  double least = 1e9;
  for (int round = 0; round < 40; ++round) {
    auto begin = Clock::now();
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) team.emplace_back([&, t] { part(n * t / threads, n * (t + 1) / threads); });
    for (auto& thread : team) thread.join();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return least;
}
int main(int, char** argv) {
  const int threads = std::atoi(argv[1]);
  const size_t n = size_t(1) << 25;  // 128 MiB in, 128 MiB out
  std::vector<float> in(n, 0.5f), out(n, 0.f);
  double copy = best(n, threads, [&](size_t a, size_t b) { std::memcpy(&out[a], &in[a], (b - a) * 4); });
  double relu = best(n, threads, [&](size_t a, size_t b) {
    for (size_t i = a; i < b; ++i) out[i] = std::max(in[i] * 1.5f + 0.5f, 0.f);
  });
  std::vector<float> sums(64 * threads);
  double sum = best(n, threads, [&](size_t a, size_t b) {
    float parts[32] = {};
    for (size_t i = a; i + 32 <= b; i += 32) for (int u = 0; u < 32; ++u) parts[u] += in[i + u];
    sums[a * threads / n * 64] = parts[0] + parts[31];
  });
  std::printf("{\"copy\": %g, \"relu\": %g, \"sum\": %g}", 8.0 * n / copy, 8.0 * n / relu, 4.0 * n / sum);
}
"""


@pytest.mark.slow
def test_no_honest_kernel_moves_more_than_the_probed_peak(tmp_path: Path) -> None:
    (tmp_path / "kernels.cpp").write_text(KERNELS)
    build = ["g++", "-O3", "-march=native", "-ffast-math", "-pthread", "kernels.cpp", "-o", "kernels"]
    subprocess.run(build, cwd=tmp_path, check=True)
    found: dict[str, float] = {}
    best = probe(THREADS).memory_bytes_per_s
    for _ in range(5):
        run = subprocess.run([tmp_path / "kernels", str(THREADS)], capture_output=True, text=True, check=True)
        for name, rate in json.loads(run.stdout).items():
            found[name] = max(found.get(name, 0.0), rate)
        best = max(best, probe(THREADS, seconds=2).memory_bytes_per_s)
    assert {name: rate for name, rate in found.items() if rate > best} == {}


@pytest.mark.parametrize("threads", [0, -1, THREADS + 1])
def test_threads_that_this_process_has_no_cores_for_are_refused(threads: int) -> None:
    with pytest.raises(UsageError, match=f"{threads} threads can't be probed"):
        probe(threads)


@pytest.mark.parametrize("steady_at", [1, 2, 9])
def test_a_machine_that_wavers_is_measured_again_and_the_best_kept(
    monkeypatch: pytest.MonkeyPatch, steady_at: int
) -> None:
    measured: list[cpu_probe.Tries] = []

    def run(*given: Any) -> cpu_probe.Tries:
        measured.append(run_program(*given))
        return measured[-1]

    monkeypatch.setattr(cpu_probe, "run_program", run)
    monkeypatch.setattr(cpu_probe, "is_stable", lambda _: len(measured) >= steady_at)
    found = probe(1, 0.1, most_runs=3)
    assert len(measured) == min(steady_at, 3)
    assert found.stable == (steady_at <= 3)
    memory = [max(rates) for tries in measured for name, rates in tries.items() if name.startswith("memory.")]
    assert found.fill_bytes_per_s == max(memory)


def test_a_missing_compiler_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InternalError, match="install g"):
        probe(1, 0.1)


def test_a_probe_program_that_does_not_compile_tells_its_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.cpp").write_text("int main() { return nothing; }")
    monkeypatch.setattr(cpu_probe, "SOURCE", tmp_path / "broken.cpp")
    with pytest.raises(InternalError, match=r"(?s)failed while probing.*nothing"):
        probe(1, 0.1)


@pytest.mark.parametrize(
    ("control", "copy", "stable"),
    [([1, 1, 1], [9, 9.9, 10], False), ([1, 1, 1], [9.6, 9.9, 10], True), ([0.9, 0.9, 1], [10, 10, 10], False)],
)
def test_a_wavering_machine_makes_the_probe_unstable(control, copy, stable) -> None:
    assert is_stable({"control": control, "memory.copy": copy, "memory.fill_streamed": [99, 1, 1]}) is stable


def test_the_best_try_counts_and_writing_alone_stands_apart() -> None:
    tries = {
        "control": [1.0],
        "memory.read4": [3e9, 5e9],
        "memory.copy": [4e9],
        "memory.fill_streamed": [7e9],
        "llc.read": [20e9],
        "l1.read": [90e9],
        "l2.read": [50e9],
        "b32.fused": [8e9],
        "b32.mixed": [9e9],
        "b64.fused": [4e9],
    }
    tries = {key: rates * 3 for key, rates in tries.items()}
    peaks = peaks_of(tries, read_topology(), 1, {"bfloat16": 30e9, "float32": 1e9})
    assert (peaks.memory_bytes_per_s, peaks.fill_bytes_per_s, peaks.cache_bytes_per_s) == (5e9, 7e9, 20e9)
    assert peaks.vector_ops == {"b16": 9e9, "b32": 9e9, "b64": 4e9}
    assert peaks.flops == {"float64": 4e9, "float32": 9e9, "float16": 9e9, "bfloat16": 30e9}


@pytest.mark.slow
def test_matrix_products_are_measured_for_every_float_type() -> None:
    rates = matmul_rates(THREADS)
    assert set(rates) == {"float64", "float32", "float16", "bfloat16"}
    assert all(rate > 1e7 for rate in rates.values())
