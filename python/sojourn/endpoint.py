"""Transport libraries that run inside the simulator; docs/how-to/endpoints.md says how.

A scenario says ``transport = "quic"`` and names no code. The library comes from the command line,
``--endpoint quic=quinn``, or from a call, ``sojourn.run(..., endpoints={"quic": "quinn"})``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sojourn import _core
from sojourn.errors import InputError

__all__ = ["parse_endpoints", "with_endpoints"]


def with_endpoints(scenario: _core.Scenario, endpoints: Mapping[str, str] | None) -> _core.Scenario:
    """The same scenario with transport libraries; with those that it has, where none are given.

    Args:
        scenario: what is run.
        endpoints: the library, such as ``quinn:cc=bbr``, by what the scenario calls the transport.

    Raises:
        InputError: it is no mapping of texts.
        ScenarioError: there is no such library, or it has no such setting.
    """
    if endpoints is None:
        return scenario
    if not isinstance(endpoints, Mapping) or not all(
        isinstance(text, str) for pair in endpoints.items() for text in pair
    ):
        raise InputError(f'endpoints: {endpoints!r} is not like {{"quic": "quinn"}}')
    return scenario.with_endpoints(list(endpoints.items()))


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
