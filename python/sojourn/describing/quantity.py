"""Numbers with a unit as scenarios write them: read, compared and written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sojourn.errors import InputError

# Size of each unit in terms of the first of its family.
_FAMILIES: tuple[dict[str, float], ...] = (
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1048576.0},
    {"hz": 1.0},
    {"bdp": 1.0},
    {"packets": 1.0},
    {"p": 1.0},
    {"": 1.0},
)
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)")


@dataclass(frozen=True)
class Quantity:
    """A number and its unit.

    Attributes:
        number: the number in that unit.
        unit: the unit as written; empty for a plain number.
    """

    number: float
    unit: str

    @property
    def family(self) -> int:
        """Quantities of one family can be compared."""
        return next(i for i, units in enumerate(_FAMILIES) if self.unit in units)

    @property
    def size(self) -> float:
        """The value in the first unit of its family: seconds, bits per second, bytes."""
        return self.number * _FAMILIES[self.family][self.unit]

    def at(self, size: float) -> str:
        """A size of the same family written in this unit, with six digits."""
        return f"{size / _FAMILIES[self.family][self.unit]:.6g}{self.unit}"

    def shortest(self, size: float) -> str:
        """A size of the same family in the unit that makes it shortest, with six digits."""
        units = _FAMILIES[self.family]
        texts = {unit: f"{size / one:.6g}{unit}" for unit, one in units.items()}
        return min(texts.values(), key=lambda text: (text.startswith("0."), len(text)))


def base_unit(unit: str) -> str:
    """The unit of `Quantity.size`: ``s`` for ``ms``.

    Args:
        unit: a known unit; empty for a plain number.
    """
    return next(next(iter(units)) for units in _FAMILIES if unit in units)


def quantity(value: object) -> Quantity | None:
    """A number, or a text such as ``20ms``, as a quantity; None if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Quantity(float(value), "")
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None or not any(match[2] in units for units in _FAMILIES):
        return None
    return Quantity(float(match[1]), match[2])


def required(place: str, value: object) -> Quantity:
    """The quantity of a value, or an error that names its place.

    Raises:
        InputError: the value is not a number with a known unit.
    """
    found = quantity(value)
    if found is None:
        raise InputError(f"{place}: `{value}` is not a number with a unit; write one such as 20ms")
    return found
