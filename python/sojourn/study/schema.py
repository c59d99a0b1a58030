"""The JSON Schema of a study's file, for editors; written by ``sojourn study schema``.

It describes the form of a file. Rules that involve several keys (zips, samples, filters, metrics of
the scenario) are checked only by `sojourn.study.definition.parse`.
"""

from __future__ import annotations

from typing import Any

from sojourn.describing.metrics import TABLE
from sojourn.study.axes import METHODS, SCALES
from sojourn.study.definition import DEFAULT_SEEDS, MOST_POINTS
from sojourn.study.until import DEFAULT_CONFIDENCE

_TEXT = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 1}
_END = {"type": ["string", "number"]}
_VALUE = {"type": ["string", "number", "boolean"]}


def study_schema() -> dict[str, Any]:
    """The schema of `study.toml`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Study",
        "description": "A sweep of sojourn study: docs/how-to/studies.md.",
        "type": "object",
        "required": ["name", "scenario", "axes", "metrics"],
        "additionalProperties": False,
        "not": {"required": ["seeds", "until"]},
        "properties": {
            "name": _about(_TEXT, "Name of the study."),
            "description": {"type": "string", "description": "What it is for."},
            "scenario": _about(_TEXT, "Base scenario: a file next to this one, or a shipped name."),
            "set": {"type": "object", "description": "Scenario keys that hold for every point."},
            "axes": {"type": "array", "minItems": 1, "items": _axis()},
            "sample": _sample(),
            "only": _filters("A point must match one of these, if there are any."),
            "skip": _filters("A point must match none of these."),
            "metrics": _about(
                _texts(_metric()), "Keys of table summary, as queue/bottleneck/delay_p95."
            ),
            "seeds": _about(_COUNT, "Seeds per point, from 1 on.") | {"default": DEFAULT_SEEDS},
            "until": _until(),
            "max_points": _about(_COUNT, "More points are refused.") | {"default": MOST_POINTS},
        },
    }


def _axis() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "What varies: a list of values, or a range.",
        "required": ["name"],
        "additionalProperties": False,
        "oneOf": [{"required": ["values"]}, {"required": ["from", "to"]}],
        "dependentSchemas": {
            "values": {"not": {"anyOf": [{"required": [key]} for key in _OF_RANGES]}}
        },
        "properties": {
            "name": _about(_TEXT, "Column of the results."),
            "key": _about(_texts(), "Scenario words that get the value, or engine; else the name."),
            "values": {
                "type": "array", "minItems": 1, "uniqueItems": True, "items": _VALUE,
                "description": "The values.",
            },
            "from": _about(_END, "Least value of a range, such as 10ms."),
            "to": _about(_END, "Largest value of a range."),
            "points": _about(_COUNT, "Values of the range; without it the axis is sampled."),
            "scale": {
                "enum": list(SCALES), "default": SCALES[0],
                "description": "Whether steps or ratios are equal.",
            },
            "zip": {"type": "string", "description": "Axes with the same word advance together."},
        },
    }  # fmt: skip


_OF_RANGES = ("from", "to", "points", "scale")


def _sample() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "How axes without a number of points are sampled.",
        "required": ["method", "points"],
        "additionalProperties": False,
        "properties": {
            "method": {"enum": list(METHODS), "description": "Of scipy.stats.qmc, or random."},
            "points": _about(_COUNT, "Samples; a power of two with sobol."),
            "seed": {
                "type": "integer", "minimum": 0, "default": 1, "description": "Of the samples.",
            },
        },
    }  # fmt: skip


def _until() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "The stopping rule, in place of seeds.",
        "required": ["metric", "within", "max_seeds"],
        "additionalProperties": False,
        "properties": {
            "metric": _about(_metric(), "One of metrics."),
            "within": _about(_END, "Half of the interval: a share as 5%, or in the metric's unit."),
            "confidence": {
                "type": "number", "minimum": 0.5, "exclusiveMaximum": 1.0,
                "default": DEFAULT_CONFIDENCE, "description": "Probability that it holds.",
            },
            "max_seeds": _about(_COUNT, "No point gets more."),
        },
    }  # fmt: skip


def _filters(about: str) -> dict[str, Any]:
    """Tables from axes to a value, a list of values, or a comparison."""
    condition = {"anyOf": [_VALUE, {"type": "array", "items": _VALUE}]}
    table = {"type": "object", "minProperties": 1, "additionalProperties": condition}
    return {"type": "array", "items": table, "description": about}


def _texts(text: dict[str, Any] = _TEXT) -> dict[str, Any]:
    return {"anyOf": [text, {"type": "array", "minItems": 1, "items": text}]}


def _metric() -> dict[str, Any]:
    """The key of a metric that some engine writes; that of a whole run has no name part."""
    names: dict[str, list[str]] = {}
    for row in TABLE.values():
        if not row.never:
            names.setdefault(row.scope, []).append(row.name)
    # A leaf class has metrics of a queue.
    of = {"queue": "(queue|leaf)/.+/", "class": "class/.+/", "run": "run/"}
    keys = (f"{of[scope]}({'|'.join(found)})" for scope, found in names.items())
    return {"type": "string", "pattern": f"^({'|'.join(keys)})$"}


def _about(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return schema | {"description": text}
