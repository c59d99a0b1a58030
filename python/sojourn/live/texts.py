"""The text of a scenario as it was loaded, for an address of the live page."""

from __future__ import annotations

import json

from sojourn import _core
from sojourn.describing import library
from sojourn.scenario import document_toml


def written(scenario: _core.Scenario) -> str:
    """A loaded scenario as TOML, with the values of ``--set``."""
    return document_toml(json.loads(scenario.document_json()))


def changed(source: library.ScenarioLike, sets: library.Sets) -> str:
    """A scenario as TOML with keys replaced, like ``--set``.

    Args:
        source: a name, a path, or another argument of `library.load`.
        sets: values by dotted key.

    Raises:
        InputError: as `library.load`.
    """
    return written(library.load(source, sets))
