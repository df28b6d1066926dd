"""Makes a module of an imported suite and calls it like a function. Runs inside a box."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch

PREFIX = "input"


def module_function(kind: Callable[..., Any], init: str, seed: int) -> Callable[..., Any]:
    """An instance of `kind` whose weights follow from the seed, called with `input0`, `input1`, … in their order.

    A function takes the place of an instance. Golden, baseline and candidate are made after the same seed, which is
    how their weights come to be the same.
    """
    torch.manual_seed(seed)
    module = kind(*json.loads(init)) if isinstance(kind, type) else kind

    def call(**given: Any) -> Any:
        arguments = [given[name] for name in sorted(given, key=_place)]
        with torch.no_grad():
            return module(*arguments)

    return call


def _place(name: str) -> int:
    return int(name.removeprefix(PREFIX))
