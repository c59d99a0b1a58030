"""Finding and reading scenarios: files, shipped scenarios by name, overrides."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from sojourn import _core, reading
from sojourn.describing.arguments import in_order, whole
from sojourn.describing.nearest import meant
from sojourn.errors import InputError

# Dotted keys with Python values, or with TOML values as text (plain words need no quotes).
Sets = Mapping[str, object] | Iterable[tuple[str, str]]


class WritesToml(Protocol):
    """A scenario that can be written as TOML, such as `sojourn.scenario.Scenario`."""

    def to_toml(self) -> str:
        """The text of the file."""


ScenarioLike = str | Path | WritesToml | _core.Scenario

# Seeds are 64 bits.
LARGEST_SEED = 2**64 - 1
STANDARD_INPUT = "-"

_FOLDER = Path(__file__).parents[1] / "scenarios"


def shipped() -> dict[str, Path]:
    """The scenarios that come with Sojourn: file by name, sorted by name.

    Those in a folder have its name in front: ``rfc7928/mild-congestion``.
    """
    paths = _FOLDER.rglob("*.toml")
    names = {path.relative_to(_FOLDER).with_suffix("").as_posix(): path for path in paths}
    return dict(sorted(names.items()))


def describe(path: Path) -> str:
    """One line about a scenario file: its ``description``, or else its first comment."""
    import tomllib

    text = path.read_text(encoding="utf-8")
    description = tomllib.loads(text).get("description")
    if isinstance(description, str):
        return " ".join(description.split())
    comments = (line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("#"))
    return next((comment for comment in comments if comment), "")


def load(source: ScenarioLike, sets: Sets | None = None) -> _core.Scenario:
    """Read, check and resolve a scenario.

    Args:
        source: a file (TOML, or JSON if it ends in ``.json``), ``-`` for TOML from standard input,
            the name of a shipped scenario, a `sojourn.scenario.Scenario`, or a scenario that is
            already loaded.
        sets: dotted keys with values that override the file, such as ``{"links.bottleneck.rate":
            "20mbit"}``; not for a loaded scenario.

    Raises:
        InputError: neither a file nor a shipped scenario has that name.
        ScenarioError: the content is not a legal scenario.
        OSError: the file, or a trace it names, cannot be read.
        TypeError: the source is none of these.
    """
    if isinstance(source, _core.Scenario):
        if sets:
            raise InputError("sets: a loaded scenario cannot be changed; load it with these sets")
        return source
    if not isinstance(source, str | Path):
        if not hasattr(source, "to_toml"):
            raise TypeError(f"scenario: is a {type(source).__name__}; give a path or a Scenario")
        return _core.Scenario.load(source.to_toml(), sets=set_pairs(sets or {}))
    if str(source) == STANDARD_INPUT:
        given = reading.all_of(sys.stdin.buffer, "scenario")
        text = reading.decoded(given, "standard input", "scenario")
        return _core.Scenario.load(text, sets=set_pairs(sets or {}))
    path = find(source)
    text, is_json = reading.text(path, "scenario"), path.suffix == ".json"
    if is_json:
        reading.refuse_mark(text, reading.shown(source))
    try:
        return _core.Scenario.load(
            text,
            format="json" if is_json else "toml",
            origin=reading.shown(source),
            folder=path.parent,
            sets=set_pairs(sets or {}),
        )
    except _core.ScenarioError:
        if is_json and (result := _result_of(text)):
            raise InputError(
                f"{reading.shown(path)}: is the {result}, not a scenario; give the file that it "
                "was made from"
            ) from None
        raise


def seeded(scenario: _core.Scenario, seed: int) -> _core.Scenario:
    """The scenario under another seed.

    Raises:
        InputError: the seed is not a whole number, or does not fit into 64 bits.
    """
    remedy = f"give 0 to {LARGEST_SEED}"
    seed = whole("seed", seed, remedy=remedy)
    if seed > LARGEST_SEED:
        raise InputError(f"seed: {seed} does not fit into 64 bits; {remedy}")
    return scenario.with_seed(seed)


def reseeded(scenario: _core.Scenario, seed: int | None) -> _core.Scenario:
    """The scenario under the seed of a call; itself without one.

    Raises:
        InputError: as for `seeded`, or the key `seed` is overridden by another one.
    """
    if seed is None:
        return scenario
    found = seeded(scenario, seed)
    if any(key == "seed" for key, _ in scenario.sets) and scenario.seed != seed:
        raise InputError(
            f"--seed {seed}: --set seed={scenario.seed} gives another; write one of them"
        )
    return found


def find(source: str | Path) -> Path:
    """The file of a scenario given by path or by shipped name.

    Raises:
        InputError: neither exists; the nearest names are shown.
    """
    if "\n" in str(source):
        raise InputError(
            "scenario: is a text of several lines, not a file's name; give "
            "`sojourn.Scenario.load(text)`"
        )
    path = Path(source)
    if str(source) == "":
        raise InputError("scenario: is an empty text; give its file, or the name of a shipped one")
    if path.is_dir():
        raise InputError(f"{source}: is a folder; give a scenario file, such as {source}/demo.toml")
    if path.exists():
        return path
    named = shipped()
    if str(source) in named:
        return named[str(source)]
    hint = _hint(str(source), named)
    raise InputError(f"{source}: no such file, and no shipped scenario of that name{hint}")


def _hint(name: str, named: Iterable[str]) -> str:
    near = meant(Path(name).stem, named) or ";"
    return f"{near} `sojourn list scenarios` shows what there is"


def _result_of(text: str) -> str:
    """A description of a result file; empty if the file is not one."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(facts, dict):
        return ""
    if {"digest", "scenario"} <= facts.keys():
        return "manifest of a run"
    return "report of a comparison" if {"aqms", "metrics", "seeds"} <= facts.keys() else ""


def parse_set(text: str) -> tuple[str, str]:
    """Read ``links.bottleneck.rate=20mbit`` as key and value.

    Raises:
        InputError: ``=`` is missing, or nothing stands before it.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set {text}: write KEY=VALUE, such as links.bottleneck.rate=20mbit")
    return key.strip(), value.strip()


def set_pairs(sets: Sets) -> list[tuple[str, str]]:
    """Overrides as dotted keys with TOML values, in order.

    Raises:
        InputError: they are neither a mapping nor pairs.
    """
    if isinstance(sets, Mapping):
        return [(key, _toml(value)) for key, value in sets.items()]
    remedy = 'give a mapping such as {"links.bottleneck.rate": "20mbit"}'
    pairs = in_order("sets", sets, remedy)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"sets: {pair!r} is not a pair of texts; {remedy}")
    return pairs


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)
