"""Applications written in Python, for experiments; docs/how-to/own-aqm.md says how to write one.

A scenario is data and names no code, so opening somebody else's file never runs their program; only
a call such as ``sojourn.run("small.toml", apps={"web": Reader})`` sets an application. The flows
keep everything else of the scenario: transport, path, ECN, class, start and stop.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Protocol

from sojourn._core import Random
from sojourn.control import digest
from sojourn.errors import InputError

__all__ = ["CustomApp", "Datagrams", "Random", "Transfers", "custom_apps"]

CustomApp = tuple[str, type, str]
"""Name of the flows, class, and the name of that class in the manifest."""

_METHODS = ("next_bytes", "next_start", "next_datagram")


class Transfers(Protocol):
    """The class of an application over TCP, for flows whose app is bulk, files or chunks.

    One object is made per flow, without arguments. Each transfer has its own connection; the first
    opens when the flow starts.
    """

    def next_bytes(self, now_ns: int, random: Random, /) -> int | None:
        """The number of bytes for the connection that opens now; None: unlimited."""

    def next_start(
        self, now_ns: int, begun_ns: int, size_bytes: int, random: Random, /
    ) -> int | None:
        """When the next connection opens, after a transfer of `size_bytes` that finishes now.

        At `now_ns` or later; None: no further connection.
        """


class Datagrams(Protocol):
    """The class of an application that sends datagrams, for flows whose scenario does so.

    One object is made per flow, without arguments.
    """

    def next_datagram(self, now_ns: int, random: Random, /) -> tuple[int, int] | None:
        """When the next datagram leaves, and its size with IP and UDP headers; None: no more.

        Called when the flow starts, and whenever a datagram has left. The time is `now_ns` or
        later; a datagram is at most as large as the ``packet`` of the scenario's own application.
        """


def custom_apps(apps: Mapping[str, type] | None) -> list[CustomApp]:
    """Applications by name of the flows in the form that the core takes.

    Args:
        apps: classes; None for none.

    Raises:
        InputError: not a mapping, not a class, a method is missing, or the source cannot be read.
    """
    if apps is None:
        return []
    if not isinstance(apps, Mapping):
        raise InputError(f"apps: {apps!r} does not say for which flows; give {{flows: class}}")
    return [(flows, cls, _described(flows, cls)) for flows, cls in apps.items()]


def _described(flows: str, cls: type) -> str:
    place = f"apps[{flows!r}]"
    if not inspect.isclass(cls):
        raise InputError(f"{place}: {cls!r} is not a class; give the class itself, not an object")
    has = {method for method in _METHODS if callable(getattr(cls, method, None))}
    if has not in ({"next_bytes", "next_start"}, {"next_datagram"}):
        raise InputError(
            f"{place}: {cls.__name__} has {', '.join(sorted(has)) or 'none of the methods'}; an "
            "application has next_bytes and next_start, or next_datagram; see help(sojourn.app)"
        )
    try:
        return f"python:{cls.__module__}.{cls.__qualname__} sha256={digest(cls)}"
    except (OSError, TypeError):
        raise InputError(
            f"{place}: the source of {cls.__name__} cannot be read, so the manifest could not say "
            "what ran; define it in a file or a notebook"
        ) from None
