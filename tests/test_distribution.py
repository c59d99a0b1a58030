"""Distributions in bins: quantiles, shares, and merged bins of several runs."""

import numpy as np
import pytest

from sojourn.plots.data import Distribution


def of(*bins):
    lower, upper, counts = np.array(bins, dtype=np.float64).T
    return Distribution(lower, upper, counts)


def test_quantiles_are_interpolated_within_their_bin():
    found = of((1.0, 2.0, 4), (3.0, 5.0, 4))
    quantiles = [found.quantile_s(q) for q in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert quantiles == pytest.approx([1.0, 1.5, 2.0, 4.0, 5.0])


def test_medians_in_one_bin_differ_where_the_counts_do():
    # The upper edge of the bin, 15.008 ms, was the median of both.
    one = of((0.014, 0.0141, 1), (0.015, 0.015008, 3), (0.016, 0.0161, 1))
    other = of((0.015, 0.015008, 3), (0.016, 0.0161, 1), (0.017, 0.0171, 1))
    assert 0.015 < one.quantile_s(0.5) < other.quantile_s(0.5) < 0.015008


def test_a_bin_without_width_is_a_step():
    found = of((0.0, 0.0, 3), (0.0, 1.0, 1))
    assert found.quantile_s(0.75) == 0.0
    assert found.quantile_s(1.0) == 1.0
    shares = found.share_below(np.array([-1.0, 0.0, 0.5, 1.0, 2.0]))
    assert shares == pytest.approx([0.0, 0.75, 0.875, 1.0, 1.0])


def test_the_share_below_a_quantile_is_its_fraction():
    found = of((1.0, 2.0, 4), (3.0, 5.0, 4), (5.0, 6.0, 2))
    for q in (0.1, 0.35, 0.6, 0.99):
        assert found.share_below(np.array([found.quantile_s(q)])) == pytest.approx([q])


def test_bins_of_several_runs_overlap_without_losing_a_value():
    # The same bin from 1 to 2, cut at the largest value of one run and the smallest of the other.
    found = of((1.0, 1.5, 2), (1.25, 2.0, 6))
    assert found.counts.sum() == pytest.approx(8)
    assert (found.quantile_s(0.0), found.quantile_s(1.0)) == (1.0, 2.0)
    # 1 below 1.25, another 1 and a third of 6 up to 1.5.
    assert found.share_below(np.array([1.25, 1.5])) == pytest.approx([1 / 8, 4 / 8])
    assert found.quantile_s(0.5) == pytest.approx(1.5)


def test_a_distribution_without_values_is_false():
    empty = np.array([])
    assert not Distribution(empty, empty, empty)
