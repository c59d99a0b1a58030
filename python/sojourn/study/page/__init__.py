"""The page of a study: figures with a common selection, and details of each point."""

from sojourn.study.page.page import save

__all__ = ["save"]
