"""Papers made again: run what is not cached, measure, judge claim by claim, write a dossier.

What a paper claims stands in `sojourn.papers`; this room knows none of them by name.
"""

from sojourn.reproduce.outcome import Reproduction, reproduce, to_json

__all__ = ["Reproduction", "reproduce", "to_json"]
