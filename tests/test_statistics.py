"""Intervals, paired tests and Holm's correction against scipy and worked examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sojourn.comparing.statistics import estimate, holm, paired, share_estimate

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=2, max_size=30)


def test_interval_of_a_worked_example():
    # t(0.975, 4) = 2.7764; mean 3, s = sqrt(2.5), half-width = 2.7764 * sqrt(2.5 / 5).
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found.mean == 3.0
    assert found.half_width == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert found.n == 5


@given(VALUES)
def test_interval_is_that_of_scipy(values):
    found = estimate(values)
    if found.half_width == 0.0:
        assert len(set(values)) == 1
        return
    low, high = stats.t.interval(
        0.95, len(values) - 1, loc=sum(values) / len(values), scale=stats.sem(values)
    )
    assert found.low == pytest.approx(low, rel=1e-6, abs=1e-6)
    assert found.high == pytest.approx(high, rel=1e-6, abs=1e-6)


def test_values_that_do_not_exist_are_left_out():
    assert estimate([1.0, math.nan, 3.0]) == estimate([1.0, 3.0])
    assert estimate([math.nan]).n == 0
    assert math.isnan(estimate([math.nan]).mean)


def test_one_value_has_no_interval():
    found = estimate([4.0])
    assert found.mean == 4.0
    assert math.isnan(found.half_width)


@given(st.lists(st.integers(0, 10**6).map(lambda n: n / 1e6), min_size=2, max_size=10))
def test_intervals_of_shares_hold_the_mean_and_are_shares(values):
    found = share_estimate(values)
    assert found.mean == estimate(values).mean
    assert 0.0 <= found.low <= found.mean * (1 + 1e-12)
    assert found.mean * (1 - 1e-12) <= found.high <= 1.0
    assert (found.low == found.high) == (estimate(values).half_width == 0.0)


def test_the_interval_of_a_share_is_that_of_its_logit():
    # Mean 0.02, s = 0.0255; of the logit 2.7764 * 0.0114 / (0.02 * 0.98) = 1.615.
    values = [0.0, 0.0, 0.01, 0.03, 0.06]
    plain, found = estimate(values), share_estimate(values)
    assert plain.low < 0.0
    reach = math.exp(2.776445 * math.sqrt(0.00065 / 5) / (0.02 * 0.98))
    ends = [0.02 / 0.98 / reach, 0.02 / 0.98 * reach]
    assert [found.low, found.high] == pytest.approx([end / (1 + end) for end in ends], rel=1e-6)


def test_the_interval_of_a_share_far_from_its_borders_is_students():
    values = [0.501, 0.499, 0.5005, 0.4995, 0.5]
    plain, found = estimate(values), share_estimate(values)
    assert found.ends == pytest.approx((plain.low, plain.high), rel=1e-5)


def test_intervals_of_rare_events_cover_more_with_the_logit_than_without():
    # Drops in half of the runs, exponentially distributed: 0.56 points of standard error.
    rng = np.random.default_rng(16)
    groups = (rng.exponential(1e-3, (1500, 5)) * rng.integers(0, 2, (1500, 5))).tolist()
    known = [group for group in groups if any(group)]
    covers = [
        np.mean([one.low <= 5e-4 <= one.high for one in map(made, known)])
        for made in (estimate, share_estimate)
    ]
    assert covers[0] < 0.90
    assert 0.93 < covers[1] < 0.97


def test_paired_test_is_that_of_scipy():
    values, baseline = [1.1, 2.3, 2.9, 4.4, 5.2], [1.0, 2.0, 3.0, 4.0, 5.0]
    found, expected = paired(values, baseline), stats.ttest_rel(values, baseline)
    assert found.p_value == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high))


def test_pairs_with_a_missing_value_are_left_out():
    found = paired([1.0, math.nan, 3.5, 4.0], [0.5, 1.0, 3.0, math.nan])
    assert found.difference.n == 2


def test_a_p_value_that_is_too_small_for_a_number_is_the_smallest_and_not_zero():
    found = paired([1e9 + seed % 2 for seed in range(60)], [0.0] * 60)
    assert found.p_value == 5e-324


def test_the_same_difference_under_every_seed_has_the_smallest_p_value_that_signs_can_give():
    assert paired([2.0, 3.0], [2.0, 3.0]).p_value == 1.0
    assert paired([2.0, 3.0], [1.0, 2.0]).p_value == 0.5
    assert paired([1.1] * 10, [0.1] * 10).p_value == 2**-9
    # 0.1 + 0.2 - 0.3 is 5.6e-17: floating-point rounding does not count as spread.
    noisy = paired([0.1 + 0.2 + i for i in range(5)], [float(i) - 1 for i in range(5)])
    assert noisy.difference.half_width == 0.0
    assert noisy.p_value == 2**-4


@given(VALUES, st.floats(0.0, 1e6))
def test_a_p_value_is_never_zero(values, shift):
    assert 0.0 < paired(values, [value - shift for value in values]).p_value <= 1.0


def test_seeds_in_one_bin_have_an_interval_as_wide_as_the_bin_allows():
    found = paired([0.0200] * 10, [0.0100] * 10, rounding=1e-5)
    # t(0.975, 9) = 2.2622.
    assert found.difference.half_width == pytest.approx(2.262157 * 1e-5 / math.sqrt(10), rel=1e-6)
    assert 0.0 < found.p_value < 1e-6


def test_one_pair_is_not_a_test():
    assert math.isnan(paired([2.0], [1.0]).p_value)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="longer"):
        paired([1.0], [1.0, 2.0])


def test_holm_of_a_worked_example():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, then made monotone.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_out_what_was_not_tested():
    adjusted = holm([0.02, math.nan, 0.5])
    assert adjusted[0] == pytest.approx(0.04)
    assert math.isnan(adjusted[1])


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40))
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, p * len(p_values)) + 1e-12
    by_raw = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert by_raw == sorted(by_raw)
