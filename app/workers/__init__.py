"""Evaluation hosts and how they are."""
