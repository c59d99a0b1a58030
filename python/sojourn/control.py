"""Congestion controls written in Python, for experiments.

docs/how-to/python-cc.md says how to write one and what it costs. A scenario file never names code:
only a call such as ``sojourn.run("small.toml", ccs={"bulk": MyCc})`` does.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from typing import Any, Protocol

from sojourn._core import Ack
from sojourn.errors import InputError

__all__ = ["Ack", "Control", "CustomControl", "custom_controls", "digest"]

CustomControl = tuple[str, Any, str]
"""Name of the flows, class, and the name of that class in the manifest."""

_METHODS = ("on_ack", "on_loss", "on_ecn", "on_timeout")


class Control(Protocol):
    """What the class of a congestion control must have; one object is made per connection.

    The class is called without arguments. Then `cwnd` is set to the initial window. An attribute
    `pacing_rate` in the class turns pacing on: packets per second, or None for the rule of Linux.
    """

    cwnd: float
    """Window in packets, at least 1; read after every call, fractions are dropped."""

    def on_ack(self, ack: Ack, /) -> None:
        """An acknowledgement, except while the sender comes down to `cwnd` after a loss."""

    def on_loss(self, now_s: float, /) -> None:
        """A loss was found, once per window; the sender comes down to `cwnd` by itself."""

    def on_ecn(self, now_s: float, /) -> None:
        """Marks were reported, once per round trip, before `on_ack`."""

    def on_timeout(self, now_s: float, /) -> None:
        """The retransmission timer expired; the sender starts again with one packet."""


def custom_controls(ccs: Mapping[str, type[Control]] | None) -> tuple[CustomControl, ...]:
    """Controls by name of the flows in the form that the core takes.

    Args:
        ccs: classes; None for none.

    Raises:
        InputError: no mapping, not a class, a method is missing, or the source cannot be read.
    """
    if ccs is None:
        return ()
    if not isinstance(ccs, Mapping):
        raise InputError(f"ccs: {ccs!r} does not say for which flows; give {{flows: class}}")
    return tuple((flows, cls, _described(flows, cls)) for flows, cls in ccs.items())


def digest(cls: type) -> str:
    """SHA-256 of a class: its methods' source and plain attributes, bases included.

    Raises:
        OSError: the source cannot be read.
    """
    sums = hashlib.sha256()
    for base in reversed(cls.__mro__[:-1]):
        for name, found in sorted(vars(base).items()):
            member = getattr(found, "__func__", getattr(found, "fget", found))
            if inspect.isfunction(member):
                sums.update(f"{base.__name__}.{name}\n{inspect.getsource(member)}\n".encode())
            elif isinstance(member, bool | int | float | str | None) and not name.startswith("__"):
                sums.update(f"{base.__name__}.{name} = {member!r}\n".encode())
    return sums.hexdigest()


def _described(flows: str, cls: type[Control]) -> str:
    place = f"ccs[{flows!r}]"
    if not inspect.isclass(cls):
        raise InputError(f"{place}: {cls!r} is not a class; give the class itself, not an object")
    missing = [method for method in _METHODS if not callable(getattr(cls, method, None))]
    if missing:
        raise InputError(f"{place}: {cls.__name__} has no method {missing[0]}; see sojourn.control")
    try:
        return f"python:{cls.__module__}.{cls.__qualname__} sha256={digest(cls)}"
    except (OSError, TypeError):
        raise InputError(
            f"{place}: the source of {cls.__name__} cannot be read, so the manifest could not say "
            "what ran; define it in a file or a notebook"
        ) from None
