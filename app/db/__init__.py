"""Engine, sessions and migrations."""
