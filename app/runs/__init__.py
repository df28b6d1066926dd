"""Runs: queued, leased, judged, recorded, published."""
