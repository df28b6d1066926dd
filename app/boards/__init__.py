"""Boards: a suite on a hardware, and who stands where on it."""
