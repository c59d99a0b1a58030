"""Papers reproduced: run what is not stored, measure, judge claim by claim, write a dossier.

The papers are in `sojourn.papers`; nothing here knows one of them by name. Runs are stored by
content, reduced to the arrays that an item needs. A measure is one function, called with all seeds
pooled and with each seed alone, so that every value has a spread.
"""

from sojourn.reproduce.export import export
from sojourn.reproduce.outcome import Reproduction, reproduce, to_json

__all__ = ["Reproduction", "export", "reproduce", "to_json"]
