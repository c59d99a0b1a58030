"""Expectations about values that are not known: unfinished transfers, damaged baselines."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from sojourn import _core
from sojourn.errors import InputError
from sojourn.study.until import Until
from sojourn.testing import baseline
from sojourn.testing.decisions import decide

KEY = "class/web/completion_p95"
RULE = Until(KEY, math.inf, False, 0.95, 8)


def expected(low: float, high: float):
    return SimpleNamespace(key=KEY, metric="completion_p95", low=low, high=high, rule=RULE,
                           is_ratio=False)  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-math.inf, 10.0, "undecided"),  # longer than 0.1 s, perhaps than 10 s
        (10.0, math.inf, "undecided"),
        (0.05, math.inf, "passed"),
        (-math.inf, 0.05, "failed"),
    ],
)
def test_a_lower_bound_decides_only_what_it_can(low, high, outcome):
    found = decide(expected(low, high), [math.inf] * 8, 1, [0.1] * 8)
    assert found.outcome == outcome
    assert found.measured == "> 100 ms, the same under each of 8 seeds"


def test_some_unknown_values_leave_the_median_known():
    found = decide(expected(-math.inf, 10.0), [0.2] * 7 + [math.inf], 1, [0.2] * 7 + [0.1])
    assert (found.outcome, found.centre) == ("undecided", 0.2)
    assert found.measured == "200 ms (100 to ∞), 8 seeds"


def test_an_interval_without_an_end_is_not_narrow_enough():
    assert not Until(KEY, 0.05, True, 0.95, 40).is_met([0.2] * 3 + [math.inf] * 15)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "true", "1" * 400])
def test_a_stored_value_that_is_no_finite_number_is_refused(tmp_path, value):
    head = f'{{"format": 1, "sojourn": "{_core.__version__}", "values": '
    (tmp_path / "a.baseline.json").write_text(f'{head}{{"x": {{"1": {value}}}}}}}')
    with pytest.raises(InputError, match=r"not a number|is not a baseline"):
        baseline.read(tmp_path / "a.toml")
