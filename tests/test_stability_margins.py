"""Margins of loops that have them in closed form."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.stability.loops.margin import margins


@dataclass
class Loop:
    """A rational function and a delay, one loop per element."""

    rational: object
    delay: object
    scale: object = 1.0

    def __post_init__(self):
        delay, scale = np.broadcast_arrays(np.asarray(self.delay, float), self.scale)
        self.shape = delay.shape
        self.delay_s, self.scale_s = delay.ravel(), np.asarray(scale, float).ravel()

    def without_delay(self, s, points):
        return self.rational(s, points)


def first_order(gain, delay, scale=1.0):
    return Loop(lambda s, points: gain / (1.0 + s), delay, scale)


@pytest.mark.parametrize("gain", [1.5, 2.0, 10.0, 300.0])
@pytest.mark.parametrize("delay", [0.0, 0.01, 0.3])
def test_first_order_plus_delay(gain, delay):
    found = margins(first_order(gain, delay))
    crossover = np.sqrt(gain**2 - 1.0)
    phase = np.pi - np.arctan(crossover) - crossover * delay
    assert found.crossover_rad_per_s == pytest.approx(crossover, rel=1e-12)
    assert np.radians(found.phase_margin_deg) == pytest.approx(phase, abs=1e-10)
    assert found.delay_margin_s == pytest.approx(phase / crossover, rel=1e-9)
    if delay == 0.0:
        assert np.isinf(found.gain_margin_db)
        assert np.isnan(found.phase_crossover_rad_per_s)
    else:
        at = float(found.phase_crossover_rad_per_s)
        assert np.arctan(at) + at * delay == pytest.approx(np.pi, rel=1e-12)
        expected_db = 10 * np.log10(1 + at**2) - 20 * np.log10(gain)
        assert found.gain_margin_db == pytest.approx(expected_db, abs=1e-9)


def test_a_loop_whose_gain_stays_below_one_has_no_crossover_and_no_limit():
    found = margins(first_order(0.5, 0.1))
    assert np.isnan(found.crossover_rad_per_s)
    assert np.isinf(found.phase_margin_deg) and np.isinf(found.delay_margin_s)
    assert found.gain_margin_db > 6.0
    assert found.is_stable


def test_integrator_plus_delay_on_a_grid():
    gain = np.array([[0.1], [1.0], [20.0]])
    delay = np.array([[0.02, 0.5]])
    flat = np.broadcast_to(gain, (3, 2)).ravel()

    def rational(s, points):
        return flat[points].reshape((-1,) + (1,) * (s.ndim - 1)) / s

    found = margins(Loop(rational, np.broadcast_to(delay, (3, 2))))
    assert found.phase_margin_deg.shape == (3, 2)
    np.testing.assert_allclose(found.crossover_rad_per_s, np.broadcast_to(gain, (3, 2)), rtol=1e-12)
    np.testing.assert_allclose(found.phase_margin_deg, 90 - np.degrees(gain * delay), atol=1e-9)
    expected_db = 20 * np.log10(np.pi / (2 * gain * delay))
    np.testing.assert_allclose(found.gain_margin_db, expected_db, atol=1e-9)
    assert (found.is_stable == (gain * delay < np.pi / 2)).all()


@pytest.mark.parametrize("zero", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_double_integrator_with_lead(zero, delay):
    gain = 2.0
    found = margins(Loop(lambda s, points: gain * (1 + s / zero) / s**2, delay))
    # |L| = 1: w^4 = gain^2 (1 + w^2 / zero^2)
    ratio = (gain / zero) ** 2
    crossover = np.sqrt((ratio + np.sqrt(ratio**2 + 4 * gain**2)) / 2)
    phase = np.arctan(crossover / zero) - crossover * delay
    assert found.crossover_rad_per_s == pytest.approx(crossover, rel=1e-11)
    assert np.radians(found.phase_margin_deg) == pytest.approx(phase, abs=1e-9)


def test_a_margin_far_below_zero_is_not_taken_for_a_positive_one():
    found = margins(Loop(lambda s, points: 100.0 / s, 0.1))
    assert found.phase_margin_deg == pytest.approx(90 - np.degrees(10.0), abs=1e-8)
    assert found.phase_margin_deg < -480


def test_of_several_crossovers_the_worst_counts():
    # A resonance lifts the gain above 1 twice more, at frequencies with less phase margin.
    def resonant(s, points):
        return 0.3 / s * 1.0 / (1 + 0.02 * s / 3 + (s / 3) ** 2)

    found = margins(Loop(resonant, 0.0))
    assert found.crossover_rad_per_s == pytest.approx(3.0, rel=0.2)
    assert found.phase_margin_deg < 0


@given(
    gain=st.floats(1e-8, 1e8), factor=st.floats(1.01, 50.0), delay=st.floats(1e-3, 10.0),
    scale=st.floats(0.1, 10.0),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_margins_fall_with_the_gain(gain, factor, delay, scale):
    low = margins(Loop(lambda s, points: gain / (s * (1 + s)), delay, scale))
    high = margins(Loop(lambda s, points: factor * gain / (s * (1 + s)), delay, scale))
    assert high.crossover_rad_per_s > low.crossover_rad_per_s
    assert high.phase_margin_deg < low.phase_margin_deg
    assert high.delay_margin_s < low.delay_margin_s
    fall_db = low.gain_margin_db - high.gain_margin_db
    assert fall_db == pytest.approx(20 * np.log10(factor), abs=1e-7)


@given(more=st.floats(0.0, 2.0), gain=st.floats(0.01, 10.0))
@settings(max_examples=40, deadline=None)
def test_delay_costs_its_phase_and_nothing_else(more, gain):
    near = margins(Loop(lambda s, points: gain / (s * (1 + s)), 0.1))
    far = margins(Loop(lambda s, points: gain / (s * (1 + s)), 0.1 + more))
    assert far.crossover_rad_per_s == pytest.approx(near.crossover_rad_per_s, rel=1e-11)
    cost = np.degrees(more * near.crossover_rad_per_s)
    assert near.phase_margin_deg - far.phase_margin_deg == pytest.approx(cost, abs=1e-7)
    assert near.delay_margin_s - far.delay_margin_s == pytest.approx(more, abs=1e-9)
