"""Evaluation hosts: lease a run, judge it with `kernel_eval`, record it."""
