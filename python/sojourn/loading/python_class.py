"""Checks the declarations of a Python class that is a law."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import sys
from pathlib import Path
from typing import Any

from sojourn import control
from sojourn._core import CustomLaw
from sojourn.describing.nearest import meant
from sojourn.errors import InputError
from sojourn.law import HOOKS, Param, Var

_GUIDE = "see docs/how-to/own-aqm.md and help(sojourn.law.Law)"


def custom_law(cls: type) -> CustomLaw:
    """A class in the form that the core takes.

    Raises:
        InputError: it is not a law; the text says what is missing.
        ScenarioError: the declaration of a parameter or state variable is invalid.
    """
    if not inspect.isclass(cls):
        raise InputError(f"law {cls!r}: is not a class; give the class itself, not an object")
    place, source, file = _place(cls), _source(cls), _file(cls)
    hooks = _hooks(cls, place)
    members = _members(cls)
    for name, member in members.items():
        if isinstance(member, Param | Var):
            _check_texts(f"{place}: {cls.__name__}.{name}", member)
    params = [
        (name, p.doc, p.kind, p.absent, list(p.words), p.rule, p.default, p.source)
        for name, p in members.items()
        if isinstance(p, Param)
    ]
    names = [(name, v.unit, v.doc) for name, v in members.items() if isinstance(v, Var)]
    return CustomLaw.python(cls, cls.__name__, _doc(cls), source, place, file, params, names,
                             hooks)  # fmt: skip


def is_law(cls: object) -> bool:
    """Whether an object is a class with a hook that decides about packets."""
    return inspect.isclass(cls) and any(
        callable(getattr(cls, hook, None)) for hook in ("on_enqueue", "on_dequeue")
    )


def _hooks(cls: type, place: str) -> list[str]:
    """The hooks of a class, checked for missing and misspelled ones."""
    found = [hook for hook in HOOKS if callable(getattr(cls, hook, None))]
    for name in dir(cls):
        if name.startswith("on_") and name not in HOOKS:
            raise InputError(
                f"{place}: {cls.__name__}.{name}: no hook has that name{meant(name, HOOKS)}"
            )
    for hook in HOOKS:
        # Data such as `on_dequeue = 5`, or a property, would be left out silently.
        if hook not in found and getattr(cls, hook, None) is not None:
            raise InputError(f"{place}: {cls.__name__}.{hook}: is not a function; write a method")
    if not {"on_enqueue", "on_dequeue"} & set(found):
        raise InputError(
            f"{place}: {cls.__name__} has neither on_enqueue nor on_dequeue, so it would never "
            f"signal; {_GUIDE}"
        )
    for one, other in (("next_timer", "on_timer"), ("on_timer", "next_timer")):
        if one in found and other not in found:
            raise InputError(f"{place}: {cls.__name__} has {one} but no {other}; {_GUIDE}")
    return found


def _check_texts(place: str, member: Param | Var) -> None:
    """Refuse declarations whose text is not a string: ``law.time(5, ...)`` has no unit."""
    for field in dataclasses.fields(member):
        value = getattr(member, field.name)
        if field.name == "words":
            is_right = all(isinstance(word, str) for word in value)
        else:
            is_right = isinstance(value, str) or (value is None and field.name == "absent")
        if not is_right:
            raise InputError(
                f"{place}: its {field.name} must be a text, not `{value!r}`; write values with "
                'their unit, such as "5ms"'
            )


def _members(cls: type) -> dict[str, Any]:
    """The attributes of a class and its bases, in the order of declaration."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        members |= vars(base)
    return members


def _doc(cls: type) -> str:
    doc = inspect.getdoc(cls) or ""
    return doc.strip().split("\n\n", 1)[0].replace("\n", " ")


def _place(cls: type) -> str:
    """File and line of a class, such as ``mine.py:12``."""
    try:
        file = inspect.getsourcefile(cls)
        _, line = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        file, line = None, 0
    return f"{Path(file).name}:{line}" if file else f"{cls.__module__}.{cls.__qualname__}"


def _file(cls: type) -> str | None:
    """The file of a class, for another process that loads it again."""
    file: str | None = getattr(sys.modules.get(cls.__module__), "__sojourn_file__", None)
    return file


def _source(cls: type) -> str:
    """The manifest's description of the code; the digest covers the class, or the named file."""
    file = _file(cls)
    if file is not None:
        text = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        return f"python:{Path(file).name}:{cls.__name__} sha256={text}"
    try:
        return f"python:{cls.__module__}.{cls.__qualname__} sha256={control.digest(cls)}"
    except (OSError, TypeError):
        raise InputError(
            f"law {cls.__name__}: its source cannot be read, so the manifest could not say what "
            "ran; define it in a file or a notebook"
        ) from None
