"""Filters: which points of a study are kept.

A filter is a table from axes to conditions: a value, a list of values, or a comparison such as
``"<= 50ms"``. A point matches when it meets all of them. A study keeps the points that match one of
``only`` (all, if it is empty) and none of ``skip``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sojourn.describing.quantity import quantity, required
from sojourn.errors import InputError
from sojourn.study.axes import StudyAxis, Value
from sojourn.study.keys import near

Filter = Mapping[str, Any]
# Longer ones first, so `<=` is not read as `<`.
_COMPARISONS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    ("<=", operator.le), (">=", operator.ge), ("<", operator.lt), (">", operator.gt),
)  # fmt: skip


def check(place: str, filters: object, axes: Sequence[StudyAxis]) -> tuple[Filter, ...]:
    """The filters of a list, checked.

    Raises:
        InputError: it is not a list of tables, or names an unknown axis or a value that its axis
            lacks, because a misspelt value would silently select other points.
    """
    if not isinstance(filters, list) or not all(isinstance(one, Mapping) for one in filters):
        raise InputError(f'{place}: must be a list of tables such as {{ rtt = "<= 50ms" }}')
    by_name = {axis.name: axis for axis in axes}
    for one in filters:
        if not one:
            raise InputError(f"{place}: a filter without a condition matches every point")
        for name, condition in one.items():
            if name not in by_name:
                raise InputError(f"{place}: unknown axis `{name}`{near(name, list(by_name))}")
            _check_values(place, by_name[name], condition)
    return tuple(filters)


def _check_values(place: str, axis: StudyAxis, condition: object) -> None:
    if axis.ends is not None:
        return  # its values are samples
    for one in condition if isinstance(condition, list) else [condition]:
        is_comparison = isinstance(one, str) and one.startswith(("<", ">"))
        if not is_comparison and not any(_meets(axis.name, value, one) for value in axis.values):
            known = near(str(one), [str(value) for value in axis.values[:20]])
            raise InputError(f"{place}: the axis `{axis.name}` has no value `{one}`{known}")


def is_kept(values: Mapping[str, Value], only: Sequence[Filter], skip: Sequence[Filter]) -> bool:
    """Whether a point is kept.

    Args:
        values: its value by axis.
        only: if there are any, it must match one.
        skip: it must match none.

    Raises:
        InputError: a comparison is between different units.
    """
    if only and not any(_matches(values, one) for one in only):
        return False
    return not any(_matches(values, one) for one in skip)


def _matches(values: Mapping[str, Value], conditions: Filter) -> bool:
    return all(_meets(axis, values[axis], condition) for axis, condition in conditions.items())


def _meets(axis: str, value: Value, condition: object) -> bool:
    if isinstance(condition, list):
        return any(_meets(axis, value, one) for one in condition)
    if isinstance(condition, str):
        for sign, compare in _COMPARISONS:
            if condition.startswith(sign):
                return _compare(axis, value, condition.removeprefix(sign).strip(), compare)
    one, other = quantity(value), quantity(condition)
    if one and other and one.family == other.family:
        return one.size == other.size
    return value == condition


def _compare(axis: str, value: Value, bound: str, compare: Callable[[float, float], bool]) -> bool:
    one, other = required(f"axis {axis}", value), required(f"filter of {axis}", bound)
    if one.family != other.family:
        raise InputError(f"filter of {axis}: `{bound}` and `{value}` are of different units")
    return compare(one.size, other.size)
