"""The keys of a scenario as `sojourn explain` shows them, read from its JSON Schema."""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

from sojourn import _core

Schema = dict[str, Any]
# These keys are explained as AQMs and congestion controls, with dialects and sources.
_ELSEWHERE = {
    "Queue": "text, or table: see `sojourn list aqms`",
    "CongestionControl": "text, or table: see `sojourn list ccs`",
    "StepRate": "rate, or 0bit",
}

_PLAIN = {
    "array": "list",
    "boolean": "true | false",
    "integer": "whole number",
    "number": "number",
    "object": "table",
    "string": "text",
}


class SchemaKey(NamedTuple):
    """A key of a scenario.

    Attributes:
        path: its place, such as ``links.rate`` or ``flows.app.web.main``; names of links
            and of wireless LANs are left out, kinds of tables are steps.
        schema: its JSON Schema, with its own description and default.
        required: whether a table must have it.
    """

    path: str
    schema: Schema
    required: bool

    @property
    def doc(self) -> str:
        """The meaning of the key."""
        return str(self.schema.get("description", ""))

    @property
    def value(self) -> str:
        """Allowed values, and the default."""
        default = self.schema.get("default")
        if self.required:
            return f"{_value(self.schema)}; must be given"
        if default is None or isinstance(default, dict):
            return _value(self.schema)
        return f"{_value(self.schema)}; default {json.dumps(default)}"


def find(topic: str) -> SchemaKey | None:
    """The key at that path, if there is one; ``links.bottleneck.rate`` is ``links.rate``.

    The kind of a table may be left out where one kind only has the key: ``topology.hops``.
    """
    known = keys()
    first, _, rest = topic.partition(".")
    named = rest.partition(".")[2]
    if topic not in known and first in ("links", "wlans") and named:
        topic = f"{first}.{named}"
    topic = topic.removesuffix(".kind")
    alike = of_kinds(topic)
    return known.get(topic) or (alike[0] if len(alike) == 1 else None)


def of_kinds(topic: str) -> list[SchemaKey]:
    """The keys whose path without the kinds of tables is ``topic``."""
    return _without_kinds().get(topic, [])


@functools.cache
def _without_kinds() -> dict[str, list[SchemaKey]]:
    kinds = [key.path for key in keys().values() if _has_kind(key.schema)]
    found: dict[str, list[SchemaKey]] = {}
    for key in keys().values():
        steps = key.path.split(".")
        starts = [".".join(steps[: place + 1]) for place in range(len(steps))]
        kept = [step for step, start in zip(steps, starts, strict=True) if start not in kinds]
        if kept != steps and key.path not in kinds:
            found.setdefault(".".join(kept), []).append(key)
    return found


def below(key: SchemaKey) -> list[SchemaKey]:
    """The keys of its table, or the kinds of its table."""
    start = f"{key.path}."
    known = keys().values()
    return [k for k in known if k.path.startswith(start) and "." not in k.path[len(start) :]]


@functools.cache
def keys() -> dict[str, SchemaKey]:
    """Every key, by its path, in the order of the schema."""
    found: dict[str, SchemaKey] = {}
    _collect("", _whole(), found)
    return found


@functools.cache
def _whole() -> Schema:
    schema: Schema = json.loads(_core.schema_json())
    return schema


def _collect(path: str, schema: Schema, found: dict[str, SchemaKey]) -> None:
    for table in _tables(schema):
        kind = table["properties"].get("kind", {}).get("const")
        prefix = path if kind is None else f"{path}.{kind}"
        if kind is not None:
            found[prefix] = SchemaKey(prefix, table, required=False)
        for name, value in table["properties"].items():
            if name == "kind":
                continue
            inner = f"{prefix}.{name}" if prefix else name
            found[inner] = SchemaKey(inner, value, required=name in table.get("required", ()))
            _collect(inner, value, found)


def _tables(schema: Schema) -> list[Schema]:
    """The tables that a value may be, within choices, lists and maps."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in _ELSEWHERE:
        return []
    if name:
        return _tables(_whole()["$defs"][name])
    if "properties" in schema:
        return [schema]
    parts = [*_branches(schema), schema.get("items"), schema.get("additionalProperties")]
    return [table for part in parts if isinstance(part, dict) for table in _tables(part)]


def _branches(schema: Schema) -> list[Schema]:
    branches: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
    return branches


def _value(schema: Schema) -> str:
    """Allowed values, in short."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name:
        definition = _whole()["$defs"][name]
        is_text = definition.get("type") == "string"
        return _ELSEWHERE.get(name) or (name.lower() if is_text else _value(definition))
    kinds = [t["properties"]["kind"]["const"] for t in _tables(schema) if _has_kind(t)]
    choices = schema.get("enum") or [b["const"] for b in _branches(schema) if "const" in b]
    if choices:
        return " | ".join(str(choice) for choice in choices)
    if "prefixItems" in schema:
        return f"[{', '.join(map(_value, schema['prefixItems']))}]"
    if schema.get("type") == "array" and not kinds:
        return f"list of {_value(schema['items'])}"
    if _branches(schema):
        others = [_value(branch) for branch in _branches(schema) if not _tables(branch)]
        return ", or ".join([*others, *([f"table of kind {' | '.join(kinds)}"] if kinds else [])])
    plain = _PLAIN[schema["type"]]
    if "minimum" not in schema:
        return plain
    most = f" to {schema['maximum']}" if "maximum" in schema else " or more"
    return f"{plain}, {schema['minimum']}{most}"


def _has_kind(table: Schema) -> bool:
    return "const" in table.get("properties", {}).get("kind", {})
