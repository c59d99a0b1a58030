"""Runs: one or many at once, their results as tables, and what this machine can run."""
