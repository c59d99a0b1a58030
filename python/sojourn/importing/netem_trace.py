"""Rates, delays and losses in the JSON forms of the Rust crate netem-trace, which rattan reads.

Sources: netem-trace 0.4, model::{bw, delay, loss}, whose quantities are structures or, with its
feature `human`, text; and series, lists of a model's output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sojourn.errors import InputError
from sojourn.importing import units
from sojourn.importing.measured import Measurement, curve, rate_curve, share_curve

_KINDS = {"Bw": "bw", "Delay": "delay", "Loss": "loss"}
_WORDS = {"bw": "rate", "delay": "delay", "loss": "loss"}
_MOST_STEPS = 1_000_000

Step = tuple[float, Any]
"""Duration in seconds, and a value in the crate's form."""


def is_trace(document: dict[str, Any]) -> bool:
    """Whether this is one model of that crate."""
    return len(document) == 1 and next(iter(document)).endswith("Config")


def is_series(documents: list[Any]) -> bool:
    """Whether this is a list of values over time."""
    return all(
        isinstance(point, dict) and {"start_time", "value", "duration"} <= set(point)
        for point in documents
    )


def read(document: dict[str, Any], name: str) -> Measurement:
    """The steps of a model that contains a recording.

    Raises:
        InputError: the model is random, or describes another quantity.
    """
    result = Measurement("netem-trace model")
    quantity = _quantity(next(iter(document)), name)
    return _taken(quantity, _steps(document, quantity, name, result), name, result)


def read_series(points: list[dict[str, Any]], name: str) -> Measurement:
    """The steps of a series.

    Raises:
        InputError: values are of no known quantity.
    """
    value = points[0]["value"]
    quantity = "bw" if isinstance(value, dict) else "loss" if isinstance(value, list) else "delay"
    steps = ((float(point["duration"]), point["value"]) for point in points)
    return _taken(quantity, steps, name, Measurement("netem-trace series"))


def _taken(quantity: str, steps: Iterator[Step], name: str, result: Measurement) -> Measurement:
    points, now = [], 0.0
    for number, (duration, value) in enumerate(steps, start=1):
        if number > _MOST_STEPS:
            raise InputError(f"{name}: has more than {_MOST_STEPS} steps")
        if duration <= 0:
            raise InputError(f"{name}, step {number}: a step of {duration:g} s has no length")
        points.append((now, _value(quantity, value, f"{name}, step {number}"), f"step {number}"))
        now += duration
    if not points:
        raise InputError(f"{name}: has no steps")
    steps_and_end = [*points, (now, points[-1][1], "end")]
    match quantity:
        case "bw":
            result.down = rate_curve(steps_and_end, name, end_s=now)
        case "delay":
            result.delay = curve(steps_and_end, name, end_s=now)
        case _:
            result.losses = share_curve(steps_and_end, name, end_s=now)
            result.loss = result.losses.mean
    result.read.append(f"{len(points)} steps of {_WORDS[quantity]} over {now:.6g} s")
    return result


def _value(quantity: str, value: Any, place: str) -> float:
    try:
        return _VALUES[quantity](value, place)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(place) else f"{place}: {text}") from None


def _quantity(kind: str, name: str) -> str:
    for word, quantity in _KINDS.items():
        if kind in _names(word):
            return quantity
    raise InputError(
        f"{name}: `{kind}` is not a recorded rate, delay or loss; {', '.join(_names('Bw'))} and "
        "the like of Delay and Loss can be imported"
    )


def _names(word: str) -> tuple[str, ...]:
    fixed = ("FixedBwConfig",) if word == "Bw" else ()
    compact = ("TraceBwConfig",) if word == "Bw" else ()
    return (f"Repeated{word}PatternConfig", f"Static{word}Config", *fixed, *compact)


def _steps(model: Any, quantity: str, name: str, result: Measurement) -> Iterator[Step]:
    """Duration and value of each step."""
    (kind, content), *_ = model.items()
    if _quantity(kind, name) != quantity:
        raise InputError(f"{name}: `{kind}` is within a model of {_WORDS[quantity]}")
    if kind.startswith("Trace"):
        for duration, rates in content["pattern"]:
            for rate in rates:
                yield _duration(duration), rate
    elif kind.startswith("Repeated"):
        count = content.get("count", 0)
        if count == 0:
            result.unknown.append("it repeats for ever: one turn is imported")
        for _ in range(max(count, 1)):
            for part in content["pattern"]:
                yield from _steps(part, quantity, name, result)
    else:
        yield _duration(content["duration"]), content[quantity]


def _rate(value: Any, _: str) -> float:
    if isinstance(value, str):
        return units.rate_bps(value)
    return float(value.get("gbps", 0) * 1e9 + value.get("bps", 0))


def _duration(value: Any, _: str = "") -> float:
    if isinstance(value, str):
        return units.seconds(value)
    if isinstance(value, int | float):
        return float(value)
    return float(value["secs"] + value.get("nanos", 0) / 1e9)


def _loss(value: Any, place: str) -> float:
    if len(value) > 1 and len(set(value)) > 1:
        raise InputError(
            f"{place}: the probability of loss depends on the packets before; one probability for "
            "each step can be imported"
        )
    return float(value[0]) if value else 0.0


_VALUES = {"bw": _rate, "delay": _duration, "loss": _loss}
