"""From an upload to an importable package: archive rules, the build box, wheels, quarantine."""
