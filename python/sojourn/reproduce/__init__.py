"""Reproduces papers: runs what is not stored, measures, judges claims, writes a dossier.

The papers are in `sojourn.papers`; no code here depends on a particular paper. Runs are stored by
content, reduced to the arrays that an item needs. A measure is one function, called with all seeds
pooled and with each seed alone, so every value has a spread.
"""

from sojourn.reproduce.export import export
from sojourn.reproduce.outcome import Reproduction, reproduce, to_json

__all__ = ["Reproduction", "export", "reproduce", "to_json"]
