"""The portal: HTTP API and pages. Never sees hidden cases, never runs submitted code."""
