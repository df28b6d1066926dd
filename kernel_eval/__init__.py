"""The judge of HapBoard: builds, runs, checks, times and scores NPU kernels.

Runs with no portal, no database and no network. Importing this package, or
`kernel_eval.model`, loads no torch.
"""

__version__ = "0.1.0"
