"""`python -m kernel_eval` is `kernel-eval`."""

import sys

from kernel_eval.cli import main

if __name__ == "__main__":
    sys.exit(main())
