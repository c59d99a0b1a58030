"""Tables of a paper's file, read key by key; every complaint has file, line and remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.describing.nearest import meant
from sojourn.errors import InputError
from sojourn.reproduce.toml_lines import Place, line_of

_MISSING = object()


@dataclass(frozen=True)
class Reader:
    """One table of the file.

    Attributes:
        file: the file as the user named it.
        text: the text of the whole file.
        place: place of the table.
        table: its keys.
    """

    file: str
    text: str
    place: Place
    table: Mapping[str, Any]

    def refuse(self, why: str, *keys: str | int) -> InputError:
        """An error about the table or a key in it."""
        place = (*self.place, *keys)
        dotted = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in place).lstrip(".")
        start = f"{self.file}:{line_of(self.text, place)}: "
        return InputError(f"{start}{dotted}: {why}" if dotted else f"{start}{why}")

    def known(self, *keys: str) -> None:
        """Refuse keys that mean nothing here."""
        for key in self.table:
            if key not in keys:
                raise self.refuse(f"is an unknown key{nearest(key, keys)}", key)

    def text_of(self, key: str, default: str | None = None) -> str:
        """A text; required unless there is a default."""
        value = self._value(key, default, "a text")
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.refuse('must be a text, such as "Figure 3"', key)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number; required unless there is a default."""
        value = self._value(key, default, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse("must be a number, without quotes", key)
        return float(value)

    def texts(self, key: str) -> list[str]:
        """A list of texts with at least one entry."""
        value = self._value(key, None, "a list of names")
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self.refuse('must be a list of names, such as ["pie", "codel"]', key)
        return value

    def tables(self, key: str, what: str) -> dict[str, Reader]:
        """Tables by name, in the order of the file."""
        value = self._value(key, None, what)
        if not isinstance(value, dict) or not value:
            raise self.refuse(f"must have {what}", key)
        for name, each in value.items():
            if not isinstance(each, dict):
                raise self.refuse(f"must be a table: write [{key}.{name}]", key, name)
        return {name: self.below(each, key, name) for name, each in value.items()}

    def array(self, key: str) -> list[Reader]:
        """The tables of an array, such as ``[[claims]]``."""
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.refuse(f"must be tables: write [[{key}]]", key)
        return [self.below(each, key, i) for i, each in enumerate(value)]

    def below(self, table: Mapping[str, Any], *keys: str | int) -> Reader:
        """A table within this table."""
        return Reader(self.file, self.text, (*self.place, *keys), table)

    def _value(self, key: str, default: Any, what: str) -> Any:
        value = self.table.get(key, _MISSING if default is None else default)
        if value is _MISSING:
            raise self.refuse(f"has no `{key}`; add {what}")
        return value


def nearest(name: str, known: Sequence[str]) -> str:
    """The nearest name, and all names if they are few."""
    near = meant(name, known, cutoff=0.5)
    listed = f" Known: {', '.join(known)}" if len(known) <= 40 else ""
    return f"{near or ';'}{listed}" if near or listed else ""
