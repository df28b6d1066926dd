"""`python -m kernel_eval` is `kernel-eval`."""

from kernel_eval.cli import run

if __name__ == "__main__":
    run()
