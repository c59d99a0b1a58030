"""Transport libraries in studies: as plain data for workers, and set into scenarios.

As with custom laws, code comes from the caller alone: ``--endpoint quic=./libmine.so`` or
``endpoints=``. A store holds the name and digest of a library, and workers refuse other content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn import _core
from sojourn.endpoint import library_file, with_endpoints, without_process
from sojourn.errors import InputError

_EMPTY = """name = "any"\nduration = "1s"\n[links.any]\nrate = "1mbit"\n[[flows]]\npath = ["any"]
rtt = "1ms"\napp = { kind = "bulk" }\n"""


@dataclass(frozen=True)
class EndpointLibrary:
    """A transport library, for any machine with access to its file.

    Attributes:
        transport: the scenario's name of the transport.
        library: the library with its settings; a file has an absolute path.
        source: the library in full with its transport, as manifests name it.
    """

    transport: str
    library: str
    source: str

    @property
    def written(self) -> str:
        """The argument of `--endpoint` for it."""
        return f"{self.transport}={self.library}"


def named_endpoints(endpoints: Mapping[str, str] | None) -> tuple[EndpointLibrary, ...]:
    """The transport libraries that a caller gives.

    Raises:
        InputError: as `sojourn.endpoint.with_endpoints`.
        ScenarioError: a library or a setting is unknown.
    """
    if endpoints is None:
        return ()
    sources = with_endpoints(_core.Scenario.load(_EMPTY), endpoints).endpoint_sources
    full = {source.partition("=")[0]: source for source in sources}
    return tuple(
        EndpointLibrary(name, _absolute(text), full[name])
        for name, text in sorted(endpoints.items())
    )


def _absolute(library: str) -> str:
    file = library_file(library)
    if file is None:
        return library
    plain = without_process(library)
    before = library.removesuffix(plain)
    _, colon, settings = plain.partition(":")
    return f"{before}{file.resolve()}{colon}{settings}"


def same_endpoints(
    wanted: Sequence[Mapping[str, str]], endpoints: Mapping[str, str] | None
) -> tuple[EndpointLibrary, ...]:
    """The libraries that a store needs; the caller gives those in files again.

    Args:
        wanted: fields of each `EndpointLibrary`.
        endpoints: given by the caller.

    Raises:
        InputError: one is missing, superfluous, or not that of the store.
    """
    given = {each.transport: each for each in named_endpoints(endpoints)}
    found = []
    for library in (EndpointLibrary(**each) for each in wanted):
        own = given.pop(library.transport, None)
        if own is None and library_file(library.library) is not None:
            raise InputError(
                f"the runs used a library for `{library.transport}`; a store names no code, so "
                f"give it again: --endpoint {library.written}"
            )
        if own is not None and own.source != library.source:
            raise InputError(
                f"--endpoint {own.written}: is not the library that made the runs, "
                f"{library.source}; run the study again, which makes those that are missing"
            )
        found.append(own or library)
    for own in given.values():
        raise InputError(f"--endpoint {own.written}: the study has no library for it; leave it out")
    return tuple(found)


def with_libraries(
    scenario: _core.Scenario, libraries: Sequence[EndpointLibrary]
) -> _core.Scenario:
    """A scenario with transport libraries; itself without any.

    Raises:
        InputError: a file does not exist, or has changed since.
        ScenarioError: it is no longer a transport library.
    """
    if not libraries:
        return scenario
    made = with_endpoints(scenario, {each.transport: each.library for each in libraries})
    for library in libraries:
        if library.source not in made.endpoint_sources:
            raise InputError(
                f"--endpoint {library.written}: has changed since the runs were planned; start "
                "again"
            )
    return made
