"""An AQM's parameters as numbers, from the registry that the simulator uses.

All text goes through the compiled core, which has units, rules and defaults per dialect; here its
canonical texts are only converted to numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sojourn import _core
from sojourn.describing.quantity import required
from sojourn.errors import InputError

_LINK = "bottleneck"

# Rows of (output below which the row holds, factor on a step), ascending; the last has no bound.
StepRows = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Settings:
    """An AQM with every default of its dialect filled in.

    Attributes:
        text: canonical form, such as ``pie@linux:target=5ms``.
        kind: name in the registry.
        dialect: name of the dialect.
        words: parameters as canonical texts.
    """

    text: str
    kind: str
    dialect: str
    words: Mapping[str, str]

    def number(self, name: str) -> float:
        """A parameter in SI units (seconds, hertz, bytes, packets)."""
        return required(name, self.words[name]).size

    def flag(self, name: str) -> bool:
        """A boolean parameter."""
        return self.words[name] == "true"


def settings(aqm: str) -> Settings:
    """Look an AQM up.

    Args:
        aqm: text form, ``kind[@dialect][:param=value,...]``.

    Raises:
        ScenarioError: the AQM, dialect or parameter does not exist, or a value is out of range.
    """
    text = _core.check_aqm(aqm)
    queue = _resolved().with_queue(_LINK, aqm)
    found = json.loads(queue.resolved_json())["links"][0]["queue"]
    return Settings(text, found["kind"], found.get("dialect", ""), found.get("settings", {}))


def step_rows(kind: str, param: str, word: str) -> StepRows:
    """The factors by which an AQM scales its controller's steps, RFC 8033 §4.2's auto-tuning.

    Args:
        kind: name in the registry.
        param: parameter that chooses among the AQM's tables.
        word: value of that parameter.
    """
    rows = _core.describe_aqm(kind)["step_tables"][param][word]
    return tuple((math.inf if below is None else below, factor) for below, factor in rows)


def rate_bps(text: str) -> float:
    """A rate such as ``10mbit`` in bits per second.

    Raises:
        InputError: it is not such a value.
    """
    return _checked("rate", text, rate=text)


def seconds(text: str) -> float:
    """A time such as ``100ms`` in seconds.

    Raises:
        InputError: it is not such a value.
    """
    return _checked("time", text, delay=text)


def _checked(what: str, text: str, **link: str) -> float:
    try:
        resolved = json.loads(_resolved(**link).resolved_json())["links"][0]
    except _core.ScenarioError as error:
        raise InputError(f"{what} `{text}`: {error.message}") from None
    (name,) = link
    return required(name, resolved[name]).size


def _resolved(rate: str = "10mbit", delay: str = "1ms") -> _core.Scenario:
    """A minimal scenario, which is never run."""
    link = {"rate": rate, "delay": delay, "buffer": "1MB", "queue": "taildrop"}
    flow = {"path": [_LINK], "rtt": "1000s", "app": {"kind": "bulk"}}
    words = {"name": "settings", "duration": "1s", "links": {_LINK: link}, "flows": [flow]}
    return _core.Scenario.load(json.dumps(words), format="json")
