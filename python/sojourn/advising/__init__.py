"""Finds problems in set-ups of tc and measures their cost."""
