"""Papers reproduced: run what is not stored, measure, judge claim by claim, write a dossier.

The papers are in `sojourn.papers`; nothing here knows one of them by name.
"""

from sojourn.reproduce.outcome import Reproduction, reproduce, to_json

__all__ = ["Reproduction", "reproduce", "to_json"]
