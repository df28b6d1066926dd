"""Operators of a suite and their public cases."""
