"""The stopping rule: its constants, and the coverage of its interval at the stop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from sojourn.study.until import Until, pocock_level

pytestmark = pytest.mark.slow

MEAN, MEDIAN = "queue/bottleneck/utilisation", "class/bulk/jain"


@pytest.mark.parametrize(("looks", "bound"), [(1, 1.960), (2, 2.178), (5, 2.413), (10, 2.555)])
def test_bounds_are_those_of_pocock(looks, bound):
    # Jennison and Turnbull 2000, Table 2.1, alpha = 0.05, groups of equal size.
    counts = tuple(range(20, 20 * looks + 1, 20))
    assert -ndtri(pocock_level(counts, 0.05) / 2) == pytest.approx(bound, abs=6e-4)


def held_at_every_look(rule: Until, draw, truth: float, studies: int = 800) -> float:
    """The share of studies whose intervals contain the truth at all looks."""
    rng = np.random.default_rng(20)
    hits = 0
    for _ in range(studies):
        values = draw(rng, rule.max_seeds)
        ends = [rule.interval(values[:look])[1:] for look in rule.looks]
        # The rule cannot stop without an interval.
        hits += all(np.isnan(low) or low <= truth <= high for low, high in ends)
    return hits / studies


# With a true coverage of 95 %, 800 studies show less than 92.6 % once in a thousand times.
LEAST = 0.926


def test_the_intervals_of_a_mean_hold_at_all_looks_together():
    rule = Until(MEAN, 0.1, False, 0.95, 90)
    assert held_at_every_look(rule, lambda rng, n: rng.normal(1.0, 1.0, n), 1.0) >= LEAST


def test_the_intervals_of_a_median_of_skewed_values_hold_at_all_looks_together():
    rule = Until(MEDIAN, 0.1, False, 0.95, 90)
    draw, truth = (lambda rng, n: rng.exponential(1.0, n)), float(np.log(2.0))
    assert held_at_every_look(rule, draw, truth) >= LEAST


def test_unadjusted_intervals_would_not_hold_at_all_looks():
    rule = Until(MEAN, 0.1, False, 0.95, 90)
    rule.__dict__["level"] = 0.05
    assert held_at_every_look(rule, lambda rng, n: rng.normal(1.0, 1.0, n), 1.0) < 0.87


def test_the_interval_holds_when_the_rule_stops():
    rule, rng = Until(MEAN, 0.3, False, 0.95, 90), np.random.default_rng(3)
    stops, hits = set(), 0
    for _ in range(800):
        values = rng.normal(1.0, 1.0, rule.max_seeds)
        stop = rule.wanted(values)
        _, low, high = rule.interval(values[:stop])
        stops.add(stop)
        hits += low <= 1.0 <= high
    assert len(stops) > 3
    assert hits / 800 >= LEAST


def test_a_point_without_spread_stops_at_the_first_look():
    rule = Until(MEAN, 0.05, True, 0.95, 200)
    assert rule.wanted([]) == 8
    assert rule.wanted([1.0] * 8) == 8


def test_a_point_with_much_spread_goes_on_to_the_bound():
    rule = Until(MEAN, 0.001, True, 0.95, 20)
    values = [1.0, 2.0] * 10
    assert [rule.wanted(values[:n]) for n in (0, 8, 12, 18, 20)] == [8, 12, 18, 20, 20]
