"""Calls a foreign golden and its hooks. A copy lies in the packages that run in boxes; it needs torch alone.

Nothing here is trusted by the judge: a golden can change whatever it likes in this process. Shapes, dtypes and values
leave it as claims.
"""

from __future__ import annotations

import importlib
import inspect
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

SEED = "hap_seed"
"""Name of the attribute that carries the seed of hooks and goldens."""
DESCRIBED_BYTES = 1 << 16
SEPARATOR = "__of__"


def find(package: str, entries: Mapping[str, Mapping[str, Any]], name: str) -> Any:
    """The function `<mode>__of__<function>` or `<function>`, which is the golden in native precision.

    The golden's file is imported only now, so that a broken one breaks nothing else. Raises `AttributeError`.
    """
    mode, separator, function = name.rpartition(SEPARATOR)
    entry = entries.get(function)
    if entry is None or (separator and mode not in MODES):
        raise AttributeError(name)
    module = importlib.import_module(f"{package}.{entry['file']}")
    if entry["module"] and not separator:
        return module.__dict__[entry["golden"]]
    golden = ForeignGolden(module.__dict__, entry)
    if not separator:
        return golden.baseline()
    run = MODES[mode]

    def call(**given: Any) -> Any:
        torch.set_num_threads(1)
        _seed(int(given.pop(SEED, 0)))
        with torch.no_grad():
            return run(golden, given)

    return call


def register(package: str, entries: Mapping[str, Mapping[str, Any]], schemas: Mapping[str, str]) -> Any:
    """Register what torch understands as `torch.ops.<package>.<function>`; the library must be kept."""
    library = torch.library.Library(package, "DEF")  # type: ignore[no-untyped-call]
    for function, schema in schemas.items():
        try:
            arguments = torch._C.parse_schema(f"{package}::{schema}").arguments
        except RuntimeError:
            continue
        library.define(schema)  # type: ignore[no-untyped-call]
        library.impl(function, _kernel(package, entries, function, arguments), "CPU")  # type: ignore[no-untyped-call]
    return library


def _kernel(
    package: str, entries: Mapping[str, Mapping[str, Any]], function: str, arguments: Sequence[Any]
) -> Callable[..., Any]:
    names = [argument.name for argument in arguments]
    defaults = {argument.name: argument.default_value for argument in arguments if argument.has_default_value()}

    def kernel(*given: Any, **named: Any) -> Any:
        run = find(package, entries, f"exact{SEPARATOR}{function}")
        return run(**{**defaults, **dict(zip(names, given, strict=False)), **named})

    return kernel


class ForeignGolden:
    """One operator's file and what the judge knows of it."""

    def __init__(self, names: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
        self._names, self._entry = names, entry
        self._lists: Sequence[bool] = entry["lists"]

    def inputs(self, given: dict[str, Any]) -> Any:
        """The inputs as `get_input` rewrites them, or as `get_inputs` makes them; omitted ones are left out."""
        if self._entry["module"]:
            tensors = [value for value in self._names["get_inputs"]() if isinstance(value, torch.Tensor)]
            return _returned([plain(tensor) for tensor in tensors])
        hook = self._names["get_input"]
        found = hook(**_accepted(hook, {**given, "skip2_exist": True}))
        names = [name for name in self._entry["inputs"] if given.get(name) is not None]
        return _returned([plain(self._placed(found, given)[name]) for name in names])

    def _placed(self, found: Any, given: dict[str, Any]) -> dict[str, Any]:
        """What a hook returned by the inputs' names: it returns them in the order of the golden's arguments."""
        if isinstance(found, dict):
            return found
        values = list(found) if isinstance(found, list | tuple) else [found]
        order = list(inspect.signature(self._names[self._entry["golden"]]).parameters)
        names = [name for name in order if name in self._entry["inputs"]]
        names += [name for name in self._entry["inputs"] if name not in names]
        if len(values) != len(names):
            names = [name for name in names if given.get(name) is not None]
        return dict(zip(names, values, strict=True))

    def native(self, given: dict[str, Any]) -> Any:
        """The golden's outputs on what it is given."""
        return self._arranged(self._run(self._entry["bench"] or self._entry["golden"], given))

    def baseline(self) -> Callable[..., Any]:
        """The golden to be timed: nothing stands around it once its results were seen to be as they must be."""
        function = self._names[self._entry["bench"] or self._entry["golden"]]
        names = _accepted(function, dict.fromkeys(self._entry["arguments"]))
        whole = len(names) == len(self._entry["arguments"])
        bare: list[bool] = []

        def call(**given: Any) -> Any:
            if bare:
                return function(**given)
            found = function(**(given if whole else {name: given[name] for name in names}))
            arranged = self._arranged(found)
            if whole and _alike(found, arranged):
                bare.append(True)
            return arranged

        return call

    def oracle(self, given: dict[str, Any]) -> Any:
        """The golden's outputs in FP64."""
        if self._entry["module"]:
            return self._exact_module(given)
        lifted = {name: raised(value) for name, value in given.items()}
        return raised(self._arranged(self._run(self._entry["oracle"] or self._entry["golden"], lifted)))

    def exact(self, given: dict[str, Any]) -> Any:
        """The golden as a submission: the values of the FP64 run in the dtypes of the native one."""
        return _as(self.oracle(given), self.native(given))

    def native_seen(self, given: dict[str, Any]) -> Any:
        """The same as `get_output` rewrites them for comparison."""
        return self._seen(self.native(given), given)

    def oracle_seen(self, given: dict[str, Any]) -> Any:
        """The same in FP64."""
        return raised(self._seen(self.oracle(given), given))

    def seen(self, given: dict[str, Any]) -> Any:
        """Given outputs as `get_output` rewrites them."""
        outputs = [given[name] for name in self._entry["outputs"]]
        return self._seen(outputs[0] if len(outputs) == 1 else tuple(outputs), given)

    def describe(self, _: dict[str, Any]) -> torch.Tensor:
        """What a module's file says of its inputs, its outputs and the module's arguments, as JSON."""
        given = list(self._names["get_inputs"]())
        inputs = [_described(value) for value in given]
        make = self._names.get("get_init_inputs", list)
        init = make() if callable(make) else make
        if isinstance(init, dict):
            raise TypeError("get_init_inputs returns a mapping; it must return a list")
        found = make_module(self._names[self._entry["golden"]], json.dumps(list(init)), self._entry["seed"])(*given)
        outputs = [_described(value) for value in (found if isinstance(found, list | tuple) else [found])]
        text = json.dumps({"inputs": inputs, "outputs": outputs, "init": list(init)}).encode()
        if len(text) > DESCRIBED_BYTES:
            raise ValueError(f"the description takes {len(text)} bytes, at most {DESCRIBED_BYTES} are read")
        return torch.frombuffer(bytearray(text.ljust(DESCRIBED_BYTES)), dtype=torch.uint8).clone()

    def _run(self, name: str, given: dict[str, Any]) -> Any:
        if self._entry["module"]:
            return self._module()(*ordered(given))
        function = self._names[name]
        known = {key: value for key, value in given.items() if key in self._entry["arguments"]}
        return function(**_accepted(function, known))

    def _module(self) -> torch.nn.Module:
        made: torch.nn.Module = make_module(
            self._names[self._entry["golden"]], self._entry["init"], self._entry["seed"]
        )
        return made

    def _exact_module(self, given: dict[str, Any]) -> Any:
        """In FP64 where the module's code allows that, else in its own precision."""
        try:
            return raised(self._arranged(self._module().double()(*ordered({k: raised(v) for k, v in given.items()}))))
        except (RuntimeError, TypeError, ValueError):
            return raised(self._arranged(self._module()(*ordered(given))))

    def _seen(self, outputs: Any, given: dict[str, Any]) -> Any:
        names = self._entry["outputs"]
        hook = self._names["get_output"]
        values = (outputs,) if len(names) == 1 else outputs
        attributes = {name: value for name, value in given.items() if name in self._entry["attributes"]}
        return self._arranged(hook(**_accepted(hook, {**attributes, **dict(zip(names, values, strict=True))})))

    def _arranged(self, found: Any) -> Any:
        """One tensor or list per declared output, whatever container it came in."""
        if len(self._lists) == 1 and not self._lists[0]:
            return plain(found[0] if isinstance(found, list | tuple) and len(found) == 1 else found)
        if len(self._lists) == 1:
            return [plain(entry) for entry in (found if isinstance(found, list | tuple) else [found])]
        return tuple(plain(entry) for entry in found)


MODES: Mapping[str, Callable[[ForeignGolden, dict[str, Any]], Any]] = {
    "inputs": ForeignGolden.inputs,
    "native": ForeignGolden.native,
    "oracle": ForeignGolden.oracle,
    "exact": ForeignGolden.exact,
    "native_seen": ForeignGolden.native_seen,
    "oracle_seen": ForeignGolden.oracle_seen,
    "seen": ForeignGolden.seen,
    "describe": ForeignGolden.describe,
}


def make_module(kind: Any, init: str, seed: int) -> Any:
    """An instance whose weights follow from the seed."""
    _seed(seed)
    return kind(*json.loads(init))


def ordered(given: Mapping[str, Any]) -> list[Any]:
    """Arguments named `input0`, `input1`, … in their order."""
    return [given[name] for name in sorted(given, key=lambda name: int(name.removeprefix("input")))]


def plain(value: Any) -> Any:
    """A tensor as the judge takes it: no subclass, no gradient, contiguous. Lists alike; anything else as it is."""
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if not isinstance(value, torch.Tensor):
        return value
    if type(value) is torch.Tensor and value.is_contiguous() and not (value.requires_grad or value.is_neg()):
        return value
    bare = value.detach().resolve_neg().resolve_conj()
    return (bare if type(bare) is torch.Tensor else bare.as_subclass(torch.Tensor)).contiguous()


def raised(value: Any) -> Any:
    """Floating tensors in FP64, in lists as well; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype.is_floating_point else value
    if isinstance(value, list | tuple):
        return type(value)(raised(entry) for entry in value)
    return value


def _as(exact: Any, native: Any) -> Any:
    """Values of the one in the dtypes and containers of the other."""
    if isinstance(native, list | tuple):
        return type(native)(_as(one, other) for one, other in zip(exact, native, strict=True))
    return exact.to(native.dtype)


def _alike(found: Any, arranged: Any) -> bool:
    """Whether arranging changed nothing."""
    if isinstance(arranged, list | tuple):
        return type(found) is type(arranged) and len(found) == len(arranged) and all(map(_alike, found, arranged))
    return found is arranged


def _returned(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _accepted(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Of the arguments those that the function takes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return given
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return given
    return {name: value for name, value in given.items() if name in parameters}


def _described(value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
    if isinstance(value, bool | int | float):
        return {"value": value}
    raise TypeError(f"{type(value).__name__} among the inputs or outputs; there must be tensors and numbers only")


def _seed(seed: int) -> None:
    """Hooks draw from global generators, so these begin at the same place in every process."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))
