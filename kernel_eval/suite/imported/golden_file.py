"""Looks at a foreign golden's syntax tree for the functions it defines. Nothing is compiled or executed."""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Mapping, Sequence

from kernel_eval.model import Foreign
from kernel_eval.suite.faults import FaultList
from kernel_eval.suite.imported.schema import Schema

Definition = ast.FunctionDef | ast.ClassDef | None


def definitions(source: str, where: str, faults: FaultList) -> Mapping[str, Definition] | None:
    """Names at the file's top level; None as value where a name is bound by something else than a definition."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        faults.add("import.golden", f"{where}{line}", f"is no Python that this version reads: {said}")
        return None
    found: dict[str, Definition] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0]: None for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id: None for target in node.targets if isinstance(target, ast.Name)}
    return found


def read_golden(source: str, schema: Schema, where: str, faults: FaultList) -> Foreign:
    """The golden and hooks of an operator; a missing or contradicting golden is a fault."""
    names = definitions(source, where, faults)
    name = schema.function
    if names is None:
        return Foreign(name)
    if name not in names:
        faults.add("import.golden", where, f"defines no function {name}; the schema names it, so define it")
    for function in (name, f"{name}_oracle", f"{name}_bench"):
        node = names.get(function)
        if isinstance(node, ast.FunctionDef):
            _check_arguments(node, schema, where, faults)
        elif isinstance(node, ast.ClassDef):
            faults.add("import.golden", where, f"{function} is a class; it must be a function")
    return Foreign(
        golden=name,
        oracle=f"{name}_oracle" if f"{name}_oracle" in names else "",
        bench=f"{name}_bench" if f"{name}_bench" in names else "",
        inputs="get_input" in names,
        outputs="get_output" in names,
    )


def literal_defaults(source: str, function: str) -> dict[str, object]:
    """Defaults of a function's arguments, as far as they are literals; none where the source cannot be read."""
    names = definitions(source, "", FaultList())
    node = names.get(function) if names is not None else None
    if not isinstance(node, ast.FunctionDef):
        return {}
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(positional), reversed(node.args.defaults), strict=False)]
    pairs += [(name, value) for name, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
    found: dict[str, object] = {}
    for name, value in pairs:
        with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            found[name.arg] = ast.literal_eval(value)
    return found


def _check_arguments(node: ast.FunctionDef, schema: Schema, where: str, faults: FaultList) -> None:
    """The golden must take what the schema gives, and need nothing else."""
    arguments = node.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keyword = [argument.arg for argument in arguments.kwonlyargs]
    needed = positional[: len(positional) - len(arguments.defaults)]
    needed += [name for name, default in zip(keyword, arguments.kw_defaults, strict=True) if default is None]
    given = [part.name for part in schema.arguments]
    place = f"{where}, {node.name}, line {node.lineno}"
    for name in _without(needed, given):
        faults.add("import.arguments", place, f"needs {name!r}, which the schema does not have; add it there")
    if arguments.kwarg is None:
        for name in _without(given, positional + keyword):
            faults.add("import.arguments", place, f"does not take {name!r} of the schema; name its arguments alike")


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]
