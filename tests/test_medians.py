"""Medians over seeds, the sign test, and coverage of intervals for distributions of any shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from sojourn.comparing.centres import estimate_about, operands_of
from sojourn.comparing.medians import median_estimate, sign_test
from sojourn.comparing.statistics import Estimate, estimate
from sojourn.describing.metrics import row_of
from sojourn.plots.data import Completions, Distribution

TEN = [3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, 5.0, 3.5, 8.0]


def test_the_interval_of_ten_values_lies_between_the_second_and_third_from_either_end() -> None:
    found = median_estimate(TEN)
    assert (found.mean, found.n, found.centre) == (3.75, 10, "median")
    # The 2nd and 9th enclose the median in 1 - 22/1024, the 3rd and 8th in 1 - 112/1024; 95 % lies
    # at 0.3250 of the way, which Hettmansperger and Sheather turn into 8 x 0.325 / (2 + 6 x 0.325).
    excess = (1 - 22 / 1024 - 0.95) / (90 / 1024)
    inwards = 8 * excess / (2 + 6 * excess)
    ordered = sorted(TEN)
    assert found.low == pytest.approx(ordered[1] + inwards * (ordered[2] - ordered[1]))
    assert found.high == pytest.approx(ordered[8] - inwards * (ordered[8] - ordered[7]))
    assert found.half_width == pytest.approx((found.high - found.low) / 2)


def test_five_values_have_a_median_and_no_interval_and_six_have_their_range_at_most() -> None:
    five, six = median_estimate([5.0, 1.0, 2.0, 3.0, 4.0]), median_estimate(range(6))
    assert five.mean == 3.0 and math.isnan(five.half_width) and math.isnan(five.low)
    assert 0.0 <= six.low < six.high <= 5.0
    assert median_estimate([math.nan]).n == 0


def test_values_that_are_not_known_but_large_leave_the_median_known() -> None:
    few = median_estimate([*sorted(TEN)[:9], math.inf])
    assert few.mean == 3.75 and few.high < math.inf
    some = median_estimate([*sorted(TEN)[:7], *[math.inf] * 3])
    assert some.mean == 3.75 and some.high == math.inf and some.half_width == math.inf
    most = median_estimate([1.0, 2.0, *[math.inf] * 8])
    assert most.mean == math.inf and most.high == math.inf
    assert math.isnan(estimate_about("mean", [1.0, math.inf]).mean)


def test_the_sign_test_is_the_binomial_test_of_scipy_and_never_zero() -> None:
    differences = [1.0, 2.0, -0.5, 3.0, 4.0, 0.0, math.inf, math.nan, -math.inf, 5.0]
    expected = stats.binomtest(2, 8).pvalue
    assert sign_test(differences) == pytest.approx(expected)
    assert sign_test([1.0] * 10) == 2**-9
    assert sign_test([0.0, 0.0]) == 1.0
    assert math.isnan(sign_test([1.0, math.nan]))


def test_metrics_of_tails_and_borders_are_medians_and_those_of_volumes_means() -> None:
    medians = ("waiting", "owd_p50", "jain", "rtt_p95", "completion_p95", "mark_rate")
    assert {row_of(metric).centre for metric in medians} == {"median"}
    means = ("goodput", "utilisation", "delay_p95", "loss_rate")
    assert {row_of(metric).centre for metric in means} == {"mean"}
    assert [operands_of(row_of(metric)) for metric in ("delay_p95", "delay_mean")] == [1, 0]


def coverage(made: Callable[[Sequence[float]], Estimate], draw: str, truth: float) -> float:
    """The share of 1,500 intervals of ten values each that contain the truth."""
    rng = np.random.default_rng(14)
    groups = getattr(rng, draw)(size=(1500, 10)).tolist()
    return float(np.mean([e.low <= truth <= e.high for e in map(made, groups)]))


@pytest.mark.parametrize(
    ("draw", "median"),
    [("standard_normal", 0.0), ("standard_exponential", math.log(2)), ("lognormal", 1.0),
     ("standard_cauchy", 0.0)],
)  # fmt: skip
def test_intervals_of_medians_cover_95_percent_whatever_the_shape(draw: str, median: float) -> None:
    # 1,500 intervals: 0.56 points of standard error.
    assert 0.93 < coverage(median_estimate, draw, median) < 0.97


def test_intervals_of_means_cover_95_percent_of_normal_and_fewer_of_skewed_values() -> None:
    assert 0.93 < coverage(estimate, "standard_normal", 0.0) < 0.97
    assert coverage(estimate, "lognormal", math.exp(0.5)) < 0.90


def test_pooled_completion_times_follow_kaplan_and_meier() -> None:
    def of(values: Sequence[float]) -> Distribution:
        # Bins without width.
        return Distribution(np.array(values), np.array(values), np.ones(len(values)))

    # The group with 6-MP of Freireich et al. 1963: median 23 weeks, a third quartile not reached.
    finished = [6.0, 6, 6, 7, 10, 13, 16, 22, 23]
    found = Completions(of(finished), of([6.0, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]))
    quantiles = [found.quantile_s(q) for q in (0.14, 0.15, 0.25, 0.5, 0.56, 0.75)]
    assert quantiles == [6, 7, 13, 23, math.inf, math.inf]
    assert found.longest_s == 35
    none = Completions(of([]), of([2.0]))
    assert none and none.quantile_s(0.5) == math.inf and none.longest_s == 2
    whole = Completions(of(finished), of([]))
    assert [whole.quantile_s(q) for q in (0.05, 0.5, 0.95)] == [6, 10, 23]
