"""Papers made again: do the runs that are missing, measure, judge each claim, write a dossier.

The papers are in `sojourn.papers`; nothing here knows one of them by name.
"""

from sojourn.reproduce.outcome import Reproduction, reproduce, to_json

__all__ = ["Reproduction", "reproduce", "to_json"]
