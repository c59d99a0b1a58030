"""Our distributions against scipy's, and their limits."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from sojourn.comparing.distributions import outside_median, root, t_cdf, t_quantile

DEGREES = (1, 2, 3, 4, 7, 19, 99, 150, 199, 200, 201, 999, 9_999, 1_000_000)


@pytest.mark.parametrize("degrees", DEGREES)
def test_student_s_t_is_that_of_scipy_in_both_tails(degrees):
    values = [*np.geomspace(1e-6, 30.0, 60), 0.0, 0.999999, 1.0, 1.000001]
    for t in [*values, *(-v for v in values)]:
        expected = float(stdtr(degrees, t))
        if expected > 1e-250:
            assert t_cdf(degrees, t) == pytest.approx(expected, rel=1e-10)


def test_student_s_t_of_one_degree_is_cauchy_s():
    for t in (-1e3, -29.0, -1.0, -0.999, -1e-6, 0.0, 1e-6, 0.5, 1.0, 3.0):
        assert t_cdf(1, t) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-13)


def test_student_s_t_of_many_degrees_is_almost_normal():
    # Abramowitz and Stegun 26.7.8, the first term of the expansion.
    n, degrees = NormalDist(), 10**6
    for t in (0.3, 1.211, 2.0, 5.0):
        expected = n.cdf(-t) + n.pdf(t) * t * (t * t + 1) / (4 * degrees)
        assert t_cdf(degrees, -t) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantiles_of_student_s_t_are_those_of_scipy(degrees):
    for p in (1e-9, 1e-4, 0.005, 0.025, 0.05, 0.1, 0.4, 0.5, 0.6, 0.95, 0.975, 0.9995):
        expected = float(stdtrit(degrees, p))
        assert t_quantile(degrees, p) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_student_s_t_ends_at_zero_and_one():
    assert t_cdf(5, -math.inf) == 0.0
    assert t_cdf(5, math.inf) == 1.0
    assert t_cdf(5, 1e200) == 1.0
    assert math.isnan(t_cdf(5, math.nan))
    for probability in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="quantile"):
            t_quantile(5, probability)


def test_the_median_s_interval_leaves_out_as_many_as_the_binomial_allows():
    for n, level in itertools.product((2, 5, 6, 9, 40, 301, 2_000), (0.2, 0.05, 0.007, 1e-5)):
        outside = outside_median(n, level)
        assert 2.0 * stats.binom.cdf(outside - 1, n, 0.5) <= level
        assert 2.0 * stats.binom.cdf(outside, n, 0.5) > level


def test_a_root_is_that_of_scipy():
    for function in (lambda x: x**3 - 2, lambda x: math.exp(-x) - 0.3, lambda x: x - 1.0):
        expected = brentq(function, 0.0, 2.0)
        assert root(function, 0.0, 2.0, tolerance=1e-9) == pytest.approx(expected, abs=1e-8)
