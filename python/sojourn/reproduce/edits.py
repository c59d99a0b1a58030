"""Changes to a case after it is read: keys of its scenario, and the AQM of a link."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.describing.library import load
from sojourn.describing.queues import choose_link
from sojourn.scenario import Scenario

_QUEUE = re.compile(r"links\.(?P<link>[^.]+)\.queue(?:\.(?P<parameter>\w+))?")
_HEAD = re.compile(r"^(?P<kind>[^:@]*)(?:@(?P<dialect>\w+))?(?P<end>\)?)(?::(?P<settings>.*))?$")


@dataclass(frozen=True)
class Edit:
    """One change of a case.

    Attributes:
        sets: dotted keys with TOML values, as for ``sojourn run --set``.
        aqm: the AQM of a link, in its text form; empty to leave it.
        link: the link that gets the AQM; by default the only one, or ``bottleneck``.
        laws: custom laws that the AQM names.
    """

    sets: tuple[tuple[str, str], ...] = ()
    aqm: str = ""
    link: str | None = None
    laws: tuple[_core.CustomLaw, ...] = ()


@dataclass
class _Changes:
    """The combined effect of a case's edits."""

    # Queues that the scenario writes as texts, and queues that an edit replaces, by link.
    written: dict[str, str]
    sets: list[tuple[str, str]] = field(default_factory=list)
    queues: dict[str, str] = field(default_factory=dict)

    def set(self, key: str, value: str) -> None:
        """Add one key; if the queue is a text, a parameter of it changes that text."""
        found = _QUEUE.fullmatch(key)
        link = found["link"] if found else ""
        parameter = found["parameter"] if found else None
        if link in self.queues and parameter:
            self.queues[link] = with_parameter(self.queues[link], parameter, value)
            return
        if link in self.written and parameter not in (None, "kind"):
            assert parameter is not None, "it has just been looked at"
            value = json.dumps(with_parameter(self.written[link], parameter, value))
            key = f"links.{link}.queue"
        if found and (parameter is None or link in self.written):
            self.written[link] = plain_text(value)
        self.sets.append((key, value))


def load_edited(
    scenario: Scenario | Path, edits: Sequence[Edit], sets: Sequence[tuple[str, str]] = ()
) -> _core.Scenario:
    """Read a scenario and change it.

    Args:
        scenario: scenario of a case.
        edits: edits in order; a later one wins.
        sets: further keys, after those of the edits.

    Raises:
        InputError: the link is unknown, or there are several and none is named.
        ScenarioError: a key, a value or an AQM is not legal.
    """
    if not edits:
        return load(scenario, sets)
    plain = load(scenario)
    changes = _Changes(_texts(json.loads(plain.document_json())))
    for edit in edits:
        for key, value in edit.sets:
            changes.set(key, value)
        if edit.aqm:
            changes.queues[choose_link(plain, edit.link)] = edit.aqm
    loaded = load(scenario, [*changes.sets, *sets])
    loaded = loaded.with_laws([law for edit in edits for law in edit.laws])
    for link, aqm in changes.queues.items():
        loaded = loaded.with_queue(link, aqm)
    return loaded


def queue_link(key: str) -> str | None:
    """The link whose queue a dotted key belongs to; None for another key."""
    found = _QUEUE.fullmatch(key)
    return found["link"] if found else None


def with_parameter(aqm: str, name: str, value: str) -> str:
    """An AQM in its text form with one parameter, or its dialect, set to a value.

    Args:
        aqm: such as ``fq(pie@ns2):target=20ms``.
        name: name of the parameter, or ``dialect``.
        value: value in TOML; plain words need no quotes.
    """
    found = _HEAD.match(aqm)
    assert found is not None, "a queue that was read has this form"
    dialect, text = found["dialect"], plain_text(value)
    settings = dict(pair.split("=", 1) for pair in (found["settings"] or "").split(",") if pair)
    if name == "dialect":
        dialect = text
    else:
        settings[name] = text
    head = found["kind"].removesuffix(")") + (f"@{dialect}" if dialect else "")
    head += ")" if found["end"] or found["kind"].endswith(")") else ""
    rest = ",".join(f"{key}={each}" for key, each in settings.items())
    return f"{head}:{rest}" if rest else head


def _texts(document: dict[str, Any]) -> dict[str, str]:
    """The queues that a scenario writes as texts, by link."""
    queues = {name: link.get("queue") for name, link in document.get("links", {}).items()}
    return {name: queue for name, queue in queues.items() if isinstance(queue, str)}


def plain_text(value: str) -> str:
    """A TOML value in the syntax of an AQM's text form."""
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value
