"""The expectations that did not pass the last time, for ``--last-failed``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from sojourn import files
from sojourn.running.store import default_folder
from sojourn.testing.decisions import Decision
from sojourn.testing.expectations import Expected

_FILE = "not-passed.json"


def select(expected: Sequence[Expected]) -> list[Expected]:
    """The expectations that did not pass the last time; all if unknown."""
    known = _read()
    found = [each for each in expected if each.name in known.get(_file(each), [])]
    return found or list(expected)


def note(decisions: Sequence[Decision]) -> None:
    """Record the expectations that did not pass; an unwritable cache is not an error."""
    known = _read()
    for decision in decisions:
        names = [n for n in known.get(_file(decision.expected), []) if n != decision.expected.name]
        passed = decision.outcome == "passed"
        known[_file(decision.expected)] = names + ([] if passed else [decision.expected.name])
    with contextlib.suppress(OSError):
        text = json.dumps({file: names for file, names in known.items() if names}, indent=1)
        files.write(default_folder() / _FILE, text + "\n")


def _file(expected: Expected) -> str:
    return str(Path(expected.file).absolute())


def _read() -> dict[str, list[str]]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((default_folder() / _FILE).read_text(encoding="utf-8"))
        if isinstance(found, dict) and all(isinstance(names, list) for names in found.values()):
            return found
    return {}
