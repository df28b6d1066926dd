"""Eight level-1 operators for the CPU, as `torch.ops.cann_bench.<function>`."""

from pathlib import Path

import torch

torch.ops.load_library(next(Path(__file__).parent.glob("_C*.so")))
