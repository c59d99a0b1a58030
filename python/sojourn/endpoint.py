"""Transport libraries that run inside the simulator; docs/how-to/endpoints.md says how.

A scenario says ``transport = "quic"`` and names no code. The library comes from the command line,
``--endpoint quic=quinn`` or ``--endpoint quic=./libmine.so``, or from a call,
``sojourn.run(..., endpoints={"quic": "quinn"})``. With ``process:./libmine.so`` its endpoints run
as processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

from sojourn import _core
from sojourn.errors import InputError

__all__ = [
    "EndpointsLike", "contending_libraries", "is_process", "library_file", "open_library",
    "parse_endpoints", "parse_libraries", "transports", "with_endpoints", "without_process",
]  # fmt: skip

EndpointsLike = Mapping[str, str | Sequence[str]]
"""The libraries to compare, or the only one, keyed by the scenario's name of the transport."""

_PROCESS = "process:"
_File = tuple[str, str, str, str | None]
"""A file to load, its name in messages and in manifests, and the program of its processes."""


def with_endpoints(scenario: _core.Scenario, endpoints: Mapping[str, str] | None) -> _core.Scenario:
    """The same scenario with transport libraries; if none are given, it keeps those that it has.

    Args:
        scenario: what is run.
        endpoints: the library, such as ``quinn:cc=bbr``, ``./libmine.so`` or
            ``process:./libmine.so``, keyed by the scenario's name of the transport.

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
    opened = {name: open_library(text) for name, text in endpoints.items()}
    made = scenario.with_endpoints(
        [(name, without_process(text), opened[name]) for name, text in endpoints.items()]
    )
    for name, found in opened.items():
        if found is not None:
            _check_unchanged(library_file(endpoints[name]) or Path(), found)
    return made


def open_library(text: str) -> _File | None:
    """The file of a library, for the compiled core; None for one that is compiled in.

    Raises:
        InputError: it does not exist, or loading it ends the process.
    """
    file = library_file(text)
    if file is None:
        return None
    if is_process(text):
        from sojourn.loading import process

        return process.opened(file)
    from sojourn.loading import library

    return (*library.opened(file, library.ENDPOINT), None)


def _check_unchanged(file: Path, found: _File) -> None:
    from sojourn.loading import library

    library.check_unchanged(file, library.Opened(*found[:3]))


def is_process(text: str) -> bool:
    """Whether the library's endpoints run as processes."""
    return text.startswith(_PROCESS)


def transports(scenario: _core.Scenario) -> list[str]:
    """The scenario's names for the transports of its flows, other than the simulator's TCP."""
    flows = json.loads(scenario.document_json()).get("flows", [])
    return [*dict.fromkeys(flow["transport"] for flow in flows if flow.get("transport"))]


def without_process(text: str) -> str:
    """A library and its settings, without ``process:``."""
    return text.removeprefix(_PROCESS)


def library_file(text: str) -> Path | None:
    """The file that an endpoint names; None for one that is compiled in."""
    path = without_process(text).partition(":")[0].strip()
    return Path(path) if is_process(text) or path.endswith((".so", ".dylib")) else None


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


def parse_libraries(texts: Iterable[str]) -> dict[str, list[str]] | None:
    """The libraries of options such as ``quic=quinn:cc=cubic,quinn:cc=bbr``; None without any.

    An item that is a setting, ``name=value`` without a colon before, belongs to the library before.

    Raises:
        InputError: see `parse_endpoints`.
    """
    endpoints = parse_endpoints(texts)
    if endpoints is None:
        return None
    return {name: _split(text) for name, text in endpoints.items()}


def _split(text: str) -> list[str]:
    libraries: list[str] = []
    for item in text.split(","):
        if libraries and "=" in item and ":" not in item.split("=", 1)[0]:
            libraries[-1] += f",{item}"
        else:
            libraries.append(item.strip())
    return libraries


def contending_libraries(endpoints: EndpointsLike | None) -> dict[str, dict[str, str] | None]:
    """The libraries of each contender, by its name, which is empty if it is the only one.

    Raises:
        InputError: a library is given twice, or none.
    """
    if not isinstance(endpoints, Mapping):
        return {"": endpoints}
    given = {
        name: [libraries] if isinstance(libraries, str) else [*libraries]
        for name, libraries in endpoints.items()
    }
    for name, libraries in given.items():
        for place, library in enumerate(libraries):
            if library in libraries[:place]:
                raise InputError(f"--endpoint {name}: `{library}` is given twice; give it once")
        if not libraries or "" in libraries:
            raise InputError(f"--endpoint {name}: a library is missing; write such as {name}=quinn")
    several = [name for name, libraries in given.items() if len(libraries) > 1]
    chosen = [dict(zip(given, libraries, strict=True)) for libraries in product(*given.values())]
    return {" and ".join(each[name] for name in several): each for each in chosen}
