"""Input tensors of a case: deterministic in (seed, case, trial), bit by bit, on every machine and thread count."""
