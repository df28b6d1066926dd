"""The project's own Python files, read as text and syntax trees; nothing is imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "kernel_eval", "local_stack", "worker")


@dataclass(frozen=True)
class Module:
    """One source file under its dotted name."""

    path: Path
    name: str

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Dotted names of everything imported anywhere in the file, `TYPE_CHECKING` blocks left out."""
        found: set[str] = set()
        _collect(self.tree, found)
        return frozenset(found)

    @property
    def place(self) -> str:
        """Path relative to the root, for messages."""
        return str(self.path.relative_to(ROOT))


def _collect(node: ast.AST, found: set[str]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            continue
        if isinstance(child, ast.Import):
            found.update(alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.level == 0 and child.module:
            found.update(f"{child.module}.{alias.name}" for alias in child.names)
        _collect(child, found)


@cache
def modules(*packages: str) -> list[Module]:
    """All modules below the given top-level folders or sub-packages (`kernel_eval/hap`)."""
    found = []
    for package in packages or PACKAGES:
        base = ROOT / package.replace(".", "/")
        files = [base.with_suffix(".py")] if base.with_suffix(".py").is_file() else sorted(base.rglob("*.py"))
        for path in files:
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(Module(path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)))
    return found


def imported_from(module: Module, prefix: str) -> list[str]:
    """What the module imports from `prefix` or below it."""
    return sorted(name for name in module.imports if name == prefix or name.startswith(prefix + "."))
