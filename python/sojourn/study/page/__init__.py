"""The page of a study: figures with one selection, and what is behind each point."""

from sojourn.study.page.page import save

__all__ = ["save"]
