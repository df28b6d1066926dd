"""Entries: what a user stands on boards with."""
