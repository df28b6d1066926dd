"""The subcommands of `kernel-eval`. Together with `kernel_eval.cli` the only modules that print.

What loads torch is imported inside the commands that need it, so that `list` and `info` stay quick.
"""
