"""Rates in the JSON form of the Rust crate netem-trace, which rattan reads.

Source: netem-trace 0.4, model::bw; bandwidths and durations as structures or, with its feature
`human`, as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sojourn.errors import InputError
from sojourn.importing import units
from sojourn.importing.measured import Measurement, rate_curve

_REPEATED = "RepeatedBwPatternConfig"
_CONSTANT = ("StaticBwConfig", "FixedBwConfig")
_COMPACT = "TraceBwConfig"
_MOST_STEPS = 1_000_000


def is_trace(document: dict[str, Any]) -> bool:
    """Whether this is one model of that crate."""
    return len(document) == 1 and next(iter(document)).endswith("Config")


def read(document: dict[str, Any], name: str) -> Measurement:
    """The rates of a model that contains a recording.

    Raises:
        InputError: the model is random, or describes something other than a rate.
    """
    result = Measurement("netem-trace model")
    points, now = [], 0.0
    for number, (rate, duration) in enumerate(_steps(document, name, result), start=1):
        if number > _MOST_STEPS:
            raise InputError(f"{name}: has more than {_MOST_STEPS} steps")
        if duration <= 0:
            raise InputError(f"{name}, step {number}: a step of {duration:g} s has no length")
        points.append((now, rate, f"step {number}"))
        now += duration
    result.down = rate_curve([*points, (now, points[-1][1], "end")], name, end_s=now)
    result.read.append(f"{len(points)} steps of rate over {now:.6g} s")
    return result


def _steps(model: Any, name: str, result: Measurement) -> Iterator[tuple[float, float]]:
    """Rate in bit/s and duration in seconds of each step."""
    (kind, content), *_ = model.items()
    if kind in _CONSTANT:
        yield _rate(content["bw"]), _duration(content["duration"])
    elif kind == _COMPACT:
        for duration, rates in content["pattern"]:
            for rate in rates:
                yield _rate(rate), _duration(duration)
    elif kind == _REPEATED:
        count = content.get("count", 1)
        if count == 0:
            result.unknown.append("it repeats for ever: one turn is imported")
        for _ in range(max(count, 1)):
            for part in content["pattern"]:
                yield from _steps(part, name, result)
    else:
        raise InputError(
            f"{name}: `{kind}` is not a recorded rate; {_REPEATED}, {_CONSTANT[0]} and {_COMPACT} "
            "can be imported"
        )


def _rate(value: Any) -> float:
    if isinstance(value, str):
        return units.rate_bps(value)
    return float(value.get("gbps", 0) * 1e9 + value.get("bps", 0))


def _duration(value: Any) -> float:
    if isinstance(value, str):
        return units.seconds(value)
    return float(value["secs"] + value.get("nanos", 0) / 1e9)
