"""What several benchmarks need: a running stack, and figures in one form."""
