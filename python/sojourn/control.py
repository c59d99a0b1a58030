"""Congestion controls written in Python, for experiments.

docs/how-to/python-cc.md says how to write one and what it costs. A scenario file never names code:
only a call such as ``sojourn.run("small.toml", ccs={"bulk": MyCc})`` does.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Protocol

from sojourn._core import Ack
from sojourn.errors import InputError

__all__ = ["Ack", "Control", "CustomControl", "custom_controls", "digest"]

CustomControl = tuple[str, Any, str]
"""Name of the flows, class, and the name of that class in the manifest."""

_METHODS = ("on_ack", "on_loss", "on_ecn", "on_timeout")


class Control(Protocol):
    """The interface of a congestion control class; one object is created per connection.

    The class is called without arguments. Then `cwnd` is set to the initial window. An attribute
    `pacing_rate` in the class turns pacing on: packets per second, or None for the rule of Linux.
    """

    cwnd: float
    """Window in packets, at least 1; read after every call and truncated to an integer."""

    def on_ack(self, ack: Ack, /) -> None:
        """An acknowledgement, except while the sender reduces its window to `cwnd` after a loss."""

    def on_loss(self, now_s: float, /) -> None:
        """A loss was detected, once per window; the sender itself reduces its window to `cwnd`."""

    def on_ecn(self, now_s: float, /) -> None:
        """Marks were reported, once per round trip, before `on_ack`."""

    def on_timeout(self, now_s: float, /) -> None:
        """The retransmission timer expired; the sender restarts with one packet."""


def custom_controls(ccs: Mapping[str, type[Control]] | None) -> tuple[CustomControl, ...]:
    """Controls by name of the flows in the form that the core takes.

    Args:
        ccs: classes; None for none.

    Raises:
        InputError: not a mapping, not a class, a method is missing, or the source cannot be read.
    """
    if ccs is None:
        return ()
    if not isinstance(ccs, Mapping):
        raise InputError(f"ccs: {ccs!r} does not say for which flows; give {{flows: class}}")
    return tuple((flows, cls, _described(flows, cls)) for flows, cls in ccs.items())


def digest(cls: type) -> str:
    """SHA-256 of a class and of everything that its methods use.

    It covers the source of methods and the values of attributes, bases included, and the globals
    and variables of enclosing functions that methods name, through other functions and classes.
    Modules and installed functions are covered by name only, and objects whose repr does not show
    their value by type only.

    Raises:
        OSError: the source cannot be read.
    """
    sums = hashlib.sha256()
    for line in _lines_of_class(cls, set()):
        sums.update(f"{line}\n".encode(errors="surrogatepass"))
    return sums.hexdigest()


def _lines_of_class(cls: type, seen: set[int]) -> Iterator[str]:
    seen.add(id(cls))
    for base in reversed(cls.__mro__[:-1]):
        for name, found in sorted(vars(base).items()):
            member = getattr(found, "__func__", getattr(found, "fget", found))
            if inspect.isfunction(member) or not name.startswith("__"):
                yield from _lines_of(f"{base.__name__}.{name}", member, seen)


def _lines_of(name: str, value: Any, seen: set[int]) -> Iterator[str]:
    """A description of a value, with the name by which code refers to it."""
    if inspect.ismodule(value):
        yield f"{name} is the module {value.__name__}"
    elif inspect.isfunction(value) or inspect.isclass(value):
        yield f"{name} is {value.__module__}.{value.__qualname__}"
        if id(value) not in seen and not _is_installed(value.__module__):
            seen.add(id(value))
            if inspect.isclass(value):
                yield from _lines_of_class(value, seen)
            else:
                yield from _lines_of_function(value, seen)
    elif isinstance(value, list | tuple | dict):
        yield f"{name} is a {type(value).__name__} of {len(value)}"
        if id(value) not in seen:
            seen.add(id(value))
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, each in items:
                yield from _lines_of(f"{name}[{key!r}]", each, seen)
    elif isinstance(value, set | frozenset):
        yield f"{name} = {sorted(map(repr, value))}"
    elif hasattr(value, "tobytes"):
        yield f"{name} has the bytes {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif " at 0x" in (text := repr(value)):
        yield f"{name} is a {type(value).__qualname__}"
    else:
        yield f"{name} = {text}"


def _lines_of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield inspect.getsource(function)
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    named: dict[str, Any] = {}
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            named[name] = function.__globals__[name]
    for name, cell in free:
        with contextlib.suppress(ValueError):  # not bound yet
            named[name] = cell.cell_contents
    for index, default in enumerate(function.__defaults__ or ()):
        named[f"default {index}"] = default
    named |= function.__kwdefaults__ or {}
    for name, value in named.items():
        yield from _lines_of(f"{function.__qualname__}: {name}", value, seen)


def _names(code: CodeType) -> set[str]:
    """The globals and attributes that code names, nested functions included."""
    within = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(_names, within))


def _is_installed(module: str) -> bool:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "sojourn":
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return file is not None and any(Path(file).is_relative_to(folder) for folder in folders)


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
