"""Transport libraries that run inside the simulator; docs/how-to/endpoints.md says how.

A scenario says ``transport = "quic"`` and names no code. The library comes from the command line,
``--endpoint quic=quinn`` or ``--endpoint quic=./libmine.so``, or from a call,
``sojourn.run(..., endpoints={"quic": "quinn"})``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from sojourn import _core
from sojourn.errors import InputError

__all__ = ["library_file", "parse_endpoints", "transports", "with_endpoints"]


def with_endpoints(scenario: _core.Scenario, endpoints: Mapping[str, str] | None) -> _core.Scenario:
    """The same scenario with transport libraries; if none are given, it keeps those that it has.

    Args:
        scenario: the scenario to run.
        endpoints: the library, such as ``quinn:cc=bbr`` or ``./libmine.so``, by the scenario's name
            for the transport.

    Raises:
        InputError: it is not a mapping of texts, or loading a library ends the process.
        ScenarioError: the library or a setting is unknown.
    """
    if endpoints is None:
        return scenario
    if not isinstance(endpoints, Mapping) or not all(
        isinstance(text, str) for pair in endpoints.items() for text in pair
    ):
        raise InputError(f'endpoints: {endpoints!r} is not like {{"quic": "quinn"}}')
    from sojourn.loading import library

    files = {name: library_file(text) for name, text in endpoints.items()}
    opened = {name: library.opened(file, library.ENDPOINT) for name, file in files.items() if file}
    chosen: list[tuple[str, str, tuple[str, str, str] | None]] = [
        (name, text, opened.get(name)) for name, text in endpoints.items()
    ]
    made = scenario.with_endpoints(chosen)
    for name, found in opened.items():
        library.check_unchanged(files[name] or Path(), found)
    return made


def transports(scenario: _core.Scenario) -> list[str]:
    """The scenario's names for the transports of its flows, other than the simulator's TCP."""
    flows = json.loads(scenario.document_json()).get("flows", [])
    return [*dict.fromkeys(flow["transport"] for flow in flows if flow.get("transport"))]


def library_file(text: str) -> Path | None:
    """The file that an endpoint names; None for an endpoint that is compiled in."""
    path = text.partition(":")[0].strip()
    return Path(path) if path.endswith((".so", ".dylib")) else None


def parse_endpoints(texts: Iterable[str]) -> dict[str, str] | None:
    """The libraries of options such as ``quic=quinn``; None without any.

    Raises:
        InputError: a text is not of this form, or a transport is given twice.
    """
    endpoints: dict[str, str] = {}
    for text in texts:
        transport, _, library = text.partition("=")
        if not transport or not library:
            raise InputError(f"--endpoint {text}: write TRANSPORT=LIBRARY, such as quic=quinn")
        if transport in endpoints:
            raise InputError(f"--endpoint {text}: `{transport}` is given twice; give one library")
        endpoints[transport] = library
    return endpoints or None
