"""Fixtures of these tests."""

from tests.factories.threads import one_thread

__all__ = ["one_thread"]
