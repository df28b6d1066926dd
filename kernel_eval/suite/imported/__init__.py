"""Task sets of other benchmarks, kept as suites of this one. Nothing of them is executed here."""
