"""Users and their tokens."""
