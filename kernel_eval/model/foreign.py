"""Code of an imported suite: names in a file that nobody here has read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Foreign:
    """What an imported operator's file defines. The file is untrusted: it is executed in boxes only.

    `golden` is a function, or a `torch.nn.Module` class where `module` is true; `oracle` and `bench` are the functions
    that stand in for it in FP64 and in native precision, empty where it does so itself. `inputs` and `outputs` say
    whether `get_input` and `get_output` rewrite what goes in and what is compared. `init` holds a module's arguments
    as a JSON list, `seed` the seed of its weights.
    """

    golden: str
    oracle: str = ""
    bench: str = ""
    inputs: bool = False
    outputs: bool = False
    module: bool = False
    init: str = "[]"
    seed: int = 0

    @property
    def draws_inputs(self) -> bool:
        """Whether the file itself makes or rewrites inputs, so that only it can make further ones."""
        return self.inputs or self.module
