"""Who may import whom. Each rule first proves that it looks at something."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest
from source_tree import ROOT, Module, imported_from, modules

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "later", "model", "settings"),
    ("suite", "cases", "check", "hap", "score", "timing.statistics", "sandbox.policy"),
    ("device", "sandbox"),
    ("golden", "build", "runner"),
    ("timing", "guard"),
    ("evaluation", "pipeline", "report"),
    ("commands", "cli", "__main__"),
)
"""The judge, low to high; a module imports from its own layer or from below."""

APP_SEES = (
    "kernel_eval.model",
    "kernel_eval.score",
    "kernel_eval.hap",
    "kernel_eval.suite.digest",
    "kernel_eval.build.archive",
    "kernel_eval.errors",
)
DOMAINS = (
    "submissions", "runs", "boards", "entries", "operators", "reviews", "rejudges", "users", "workers", "audit",
)  # fmt: skip
STEPS = ("models", "schemas", "repository", "service", "endpoints")
"""In a domain: endpoints → service → repository → models."""


def layer_of(name: str) -> int:
    """Index of the layer of a dotted module below `kernel_eval`; the longest match decides."""
    best = (0, -1)
    for index, members in enumerate(LAYERS):
        for member in members:
            full = f"kernel_eval.{member}"
            if name == full or name.startswith(full + "."):
                best = max(best, (len(member), index))
    return best[1]


def offences(found: list[Module], *prefixes: str) -> list[str]:
    return [f"{m.place} imports {name}" for m in found for p in prefixes for name in imported_from(m, p)]


def test_the_judge_knows_neither_app_nor_worker() -> None:
    judge = modules("kernel_eval")
    assert len(judge) > 10
    assert offences(judge, "app", "worker", "local_stack") == []


def test_app_never_imports_worker() -> None:
    portal = modules("app")
    assert len(portal) > 5
    assert offences(portal, "worker", "local_stack") == []


def test_app_sees_only_the_pure_parts_of_the_judge() -> None:
    seen = [(m, name) for m in modules("app") for name in imported_from(m, "kernel_eval")]
    assert seen
    assert [
        f"{m.place} imports {name}"
        for m, name in seen
        if name != "kernel_eval.__version__" and not any(name == ok or name.startswith(ok + ".") for ok in APP_SEES)
    ] == []


def test_every_module_of_the_judge_has_a_layer() -> None:
    known = [m for m in modules("kernel_eval") if m.name != "kernel_eval"]
    assert known
    assert [m.place for m in known if layer_of(m.name) < 0] == []


def test_arrows_in_the_judge_go_down_only() -> None:
    looked, wrong = 0, []
    for module in modules("kernel_eval"):
        if layer_of(module.name) < 0:
            continue
        for name in imported_from(module, "kernel_eval"):
            target = layer_of(name)
            looked += target >= 0
            if target > layer_of(module.name):
                wrong.append(f"{module.place} imports {name}")
    assert looked > 20
    assert wrong == []


def packages_used_by(found: list[Module]) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for module in found:
        own = ".".join(module.name.split(".")[:2])
        for name in imported_from(module, "kernel_eval"):
            other = ".".join(name.split(".")[:2])
            if other != own and layer_of(other) >= 0:
                edges.setdefault(own, set()).add(other)
    return edges


def test_no_packages_of_one_layer_import_each_other_in_a_circle() -> None:
    edges = packages_used_by(modules("kernel_eval"))
    assert edges

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        return any(
            step == goal or (step not in seen and reaches(step, goal, seen | {step})) for step in edges.get(start, ())
        )

    split = {"kernel_eval.timing", "kernel_eval.sandbox"}  # each has one pure module in a lower layer
    assert sorted(name for name in edges if name not in split and reaches(name, name, {name})) == []


CHILD_SIDE = ("kernel_eval/runner/zygote.py", "kernel_eval/runner/child.py")


def test_the_child_side_imports_only_the_standard_library_protocol_and_device() -> None:
    child = [m for m in modules("kernel_eval.runner") if "child" in m.path.stem or "zygote" in m.path.stem]
    assert child, f"none of {CHILD_SIDE} exists"
    allowed = ("kernel_eval.runner", "kernel_eval.device")
    wrong = []
    for module in child:
        for name in module.imports:
            top = name.split(".")[0]
            if top in sys.stdlib_module_names or top == "torch" or name.startswith(allowed):
                continue
            wrong.append(f"{module.place} imports {name}")
    assert wrong == []


def test_only_the_npu_device_and_its_profiler_name_torch_npu() -> None:
    everything = modules()
    assert len(everything) > 50
    allowed = ("kernel_eval.device.npu", "kernel_eval.timing.npu")
    assert [m.place for m in everything if imported_from(m, "torch_npu") and not m.name.startswith(allowed)] == []


@pytest.mark.parametrize("library", ["yaml", "csv", "tomllib", "pandas"])
def test_only_suite_knows_file_formats_of_a_task_set(library: str) -> None:
    judge = modules("kernel_eval")
    users = [m for m in judge if imported_from(m, library)]
    if library in {"yaml", "csv", "tomllib"}:
        assert users
    assert [m.place for m in users if not m.name.startswith("kernel_eval.suite")] == []


def domain_modules() -> list[tuple[str, str, Module]]:
    found = []
    for module in modules("app"):
        parts = module.name.split(".")
        if len(parts) >= 3 and parts[1] in DOMAINS and parts[2] in STEPS:
            found.append((parts[1], parts[2], module))
    return found


def test_in_a_domain_endpoints_use_service_use_repository_use_models() -> None:
    found = domain_modules()
    assert len(found) >= 8
    wrong = []
    for domain, step, module in found:
        for name in imported_from(module, f"app.{domain}"):
            other = name.split(".")[2] if name.count(".") >= 2 else ""
            if other in STEPS and STEPS.index(other) > STEPS.index(step):
                wrong.append(f"{module.place} imports {name}")
        if step == "endpoints" and imported_from(module, "app.models"):
            wrong.append(f"{module.place} imports models past its service")
    assert wrong == []


def test_a_domain_uses_another_through_its_service() -> None:
    found = domain_modules()
    assert found
    wrong = []
    for domain, _, module in found:
        for other in DOMAINS:
            if other == domain:
                continue
            wrong += [f"{module.place} imports {name}" for name in imported_from(module, f"app.{other}.repository")]
    assert wrong == []


def calls_of(found: list[Module], needle: str) -> list[str]:
    return [m.place for m in found if needle in m.text]


def test_there_is_one_commit_in_the_session_scope() -> None:
    places = calls_of(modules("app", "worker"), ".commit()")
    assert places == ["app/db/session.py"]


def test_celery_messages_have_one_sender() -> None:
    places = calls_of(modules("app", "worker", "local_stack"), "send_task(") + calls_of(
        modules("app", "worker", "local_stack"), ".apply_async("
    )
    assert places == ["app/queue.py"]


def test_only_the_workers_settings_name_the_hidden_cases_folder() -> None:
    places = {
        module.place
        for module in modules("app", "worker", "kernel_eval")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"(^|/)hidden_cases(/|$)", node.value)
    }
    assert places == {"worker/settings.py"}


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("app.main", ("torch", "numpy", "pandas")),
        ("kernel_eval.model", ("torch", "numpy", "yaml")),
        ("kernel_eval.score", ("torch", "numpy", "yaml")),
        ("kernel_eval.hap", ("torch", "numpy", "yaml")),
        ("kernel_eval.suite.digest", ("torch", "numpy")),
        ("kernel_eval.build.archive", ("torch", "numpy")),
        ("kernel_eval.cli", ("torch", "numpy")),
    ],
)
def test_importing_it_loads_nothing_heavy(module: str, forbidden: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(sorted(set({forbidden!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
