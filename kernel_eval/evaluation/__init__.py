"""The phases of an evaluation, each in its own module; `kernel_eval.pipeline` reads as their list."""
