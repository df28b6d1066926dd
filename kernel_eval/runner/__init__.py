"""Runs an operator of a submission in a child that shares nothing with the judge but two memory files.

Judge side: `RunBox`, `CaseChild`, `Pool`, `Play`. Child side: `runner.child`, which
imports the standard library, `runner.protocol`, `device` and the output arena only.
This package's `__init__` imports nothing, so that the child loads no judge code.
"""
