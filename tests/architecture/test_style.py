"""Sizes, names and habits that keep the house readable."""

from __future__ import annotations

import ast
import re
import subprocess

from source_tree import ROOT, modules

LONGEST_MODULE = 400
LONGEST_FUNCTION = 60
BANNED = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|info)($|_)", re.IGNORECASE)
PUBLISHED_NAMES = {"info"}
"""`kernel-eval info` is the published evaluator's name for that action."""
CLI_LAYER = ("kernel_eval/cli.py", "kernel_eval/commands/", "app/cli.py", "local_stack/")


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_no_module_is_longer_than_the_limit() -> None:
    found = modules()
    assert len(found) > 50
    assert [f"{m.place}: {n}" for m in found if (n := m.text.count("\n")) > LONGEST_MODULE] == []


def test_no_function_is_longer_than_the_limit() -> None:
    looked, long = 0, []
    for module in modules():
        for node in functions(module.tree):
            looked += 1
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > LONGEST_FUNCTION:
                long.append(f"{module.place}:{node.lineno} {node.name}: {size}")
    assert looked > 200
    assert long == []


def test_no_name_is_a_word_that_says_nothing() -> None:
    looked, wrong = 0, []
    for module in modules():
        names = [module.path.stem, *(f.name for f in functions(module.tree))]
        names += [node.name for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
        looked += len(names)
        wrong += [f"{module.place}: {n}" for n in names if BANNED.search(n) and n not in PUBLISHED_NAMES]
    assert looked > 200
    assert wrong == []


def test_nothing_prints_outside_the_command_lines() -> None:
    looked, wrong = 0, []
    for module in modules():
        calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
        looked += len(calls)
        if module.place.startswith(CLI_LAYER):
            continue
        wrong += [
            f"{module.place}:{call.lineno}"
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id == "print"
        ]
    assert looked > 200
    assert wrong == []


def test_no_module_works_at_import() -> None:
    """At module level stand imports, definitions, constants and guards, but no bare calls."""
    wrong = [
        f"{module.place}:{node.lineno} {ast.unparse(node)[:60]}"
        for module in modules("app", "kernel_eval", "worker")
        if module.path.name != "__main__.py"
        for node in module.tree.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    assert wrong == []


def test_nothing_is_left_for_later() -> None:
    mark = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
    found = modules()
    assert found
    assert [m.place for m in found if mark.search(m.text)] == []


def test_sandbox_arguments_never_degrade_silently() -> None:
    sandbox = modules("kernel_eval.sandbox")
    assert any("--unshare-" in m.text for m in sandbox)
    assert [m.place for m in sandbox if re.search(r"--unshare-\w+-try", m.text)] == []


def tracked_files() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_repository_names_no_registry_and_no_machine() -> None:
    """No address of a package registry, no index option with one, no absolute home of this machine."""
    needle = re.compile(r"https?://[^\s\"']*(pypi\.org/simple|download\.pytorch\.org|deb\.debian|registry\.npmjs)")
    own = {"tests/architecture/test_style.py"}
    files = [f for f in tracked_files() if f not in own]
    assert len(files) > 50
    wrong = []
    for name in files:
        path = ROOT / name
        if (
            path.is_file()
            and path.suffix not in {".png", ".svg", ".woff2"}
            and needle.search(path.read_text("utf-8", "replace"))
        ):
            wrong.append(name)
    assert wrong == []
