"""The goal of a search, as text: ``minimise delay_p95 subject to utilisation >= 0.95``.

Metrics are keys of table ``summary``; one without a slash belongs to the tuned queue. Bounds are in
the units of scenarios (``20ms``, ``5mbit``), or plain numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.describing.metrics import TABLE
from sojourn.describing.quantity import Quantity, required
from sojourn.errors import InputError
from sojourn.search.trials import Numbers

_FORM = (
    "write it as `minimise delay_p95 subject to utilisation >= 0.95`; goals and conditions are "
    "joined by `and`"
)
_AIM = re.compile(r"(minimise|maximise)\s+(\S+)")
# How texts write the units of table `summary`; the others are plain numbers.
_UNITS = {"s": "s", "bit/s": "bit"}
_CONDITION = re.compile(r"(\S+?)\s*(<=|>=)\s*(\S+)")


@dataclass(frozen=True)
class Aim:
    """A metric to minimise or maximise.

    Attributes:
        metric: key of table ``summary``.
        is_least: whether smaller is better.
    """

    metric: str
    is_least: bool

    def loss(self, value: float, default: float) -> float:
        """The logarithm of the ratio to the default; positive is worse, negative is better."""
        return math.log(value / default) * (1.0 if self.is_least else -1.0)


@dataclass(frozen=True)
class Condition:
    """A bound that a metric must meet in every scenario, as a mean over seeds.

    Attributes:
        metric: key of table ``summary``.
        is_most: whether the bound is an upper bound.
        bound: bound in the SI unit of the metric.
        text: the text as it was written.
    """

    metric: str
    is_most: bool
    bound: float
    text: str

    def excess(self, value: float) -> float:
        """Excess of a value over the bound, relative to the bound; at most 0 if it is met."""
        beyond = value - self.bound if self.is_most else self.bound - value
        return beyond / (abs(self.bound) or 1.0)


@dataclass(frozen=True)
class Goal:
    """The goal for an AQM.

    Attributes:
        text: the text as it was written.
        aims: one or two.
        conditions: bounds that must hold.
    """

    text: str
    aims: tuple[Aim, ...]
    conditions: tuple[Condition, ...]

    @property
    def metrics(self) -> list[str]:
        """The metrics of aims and conditions, each once."""
        aims = [aim.metric for aim in self.aims]
        return list(dict.fromkeys(aims + [condition.metric for condition in self.conditions]))


def read_goal(text: object, link: str) -> Goal:
    """Read a goal.

    Args:
        text: the text.
        link: the link that is tuned.

    Raises:
        InputError: it is not of that form.
    """
    if not isinstance(text, str):
        raise InputError(f"goal: is missing; {_FORM}")
    aims, _, conditions = text.partition(" subject to ")
    found = [_AIM.fullmatch(part.strip()) for part in aims.split(" and ")]
    if not all(found):
        raise InputError(f"goal: `{aims}` names no aim; {_FORM}")
    if len(found) > 2:
        raise InputError(f"goal: has {len(found)} aims; a front is drawn of two at most")
    named = [Aim(_key(each[2], link), each[1] == "minimise") for each in found if each]
    if len({aim.metric for aim in named}) < len(named):
        raise InputError(f"goal: `{named[0].metric}` is an aim twice")
    parts = conditions.split(" and ") if conditions.strip() else []
    if " subject to " in text and not parts:
        raise InputError(f"goal: nothing follows `subject to`; {_FORM}")
    return Goal(text, tuple(named), tuple(_condition(part.strip(), link) for part in parts))


def _condition(text: str, link: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(f"goal: `{text}` is not a condition such as utilisation >= 0.95; {_FORM}")
    key, bound = _key(match[1], link), required(f"goal: {text}", match[3])
    _check_bound(text, key, bound)
    return Condition(key, match[2] == "<=", bound.size, text)


def _check_bound(text: str, key: str, bound: Quantity) -> None:
    """Refuse a bound in another unit than the metric's, and a share above 1.

    Raises:
        InputError: it is one of these.
    """
    row = TABLE.get(key.rpartition("/")[2])
    if row is None:
        return
    unit = _UNITS.get(row.unit, "")
    if bound.family != Quantity(1.0, unit).family:
        example = "20ms" if unit == "s" else "5mbit" if unit == "bit" else "0.95"
        raise InputError(f"goal: {text}: {row.name} is not in that unit; write such as {example}")
    if row.kind == "share" and bound.size > 1.0:
        raise InputError(f"goal: {text}: {row.name} is at most 1; write 95 % as 0.95")


def _key(metric: str, link: str) -> str:
    return metric if "/" in metric else f"queue/{link}/{metric}"


def check_numbers(place: str, numbers: Sequence[Numbers], goal: Goal) -> None:
    """Refuse a goal that cannot be computed from the default's runs of a scenario.

    Raises:
        InputError: a metric is missing, or is 0 where a ratio is needed.
    """
    from sojourn.study.keys import near

    known = sorted({key for run in numbers for key in run})
    for metric in goal.metrics:
        if not known:
            raise InputError(f"{place}: no run with the default could be made")
        if any(metric not in run or not math.isfinite(run[metric]) for run in numbers):
            raise InputError(f"goal: {place} has no `{metric}` in every run{near(metric, known)}")
    for aim in goal.aims:
        if any(run[aim.metric] <= 0.0 for run in numbers):
            raise InputError(
                f"goal: {place} has `{aim.metric}` = 0 with the default, so there is no "
                "ratio to it; aim at another metric, or leave the scenario out"
            )
