"""python-control as an independent judge: the rational part, and margins with delay as data."""

import numpy as np
import pytest

from sojourn.stability import margins
from sojourn.stability.loops.normalised import loop_at

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly]

control = pytest.importorskip("control", reason="the extra `test` installs python-control")

POINTS = [
    (rtt, prob, alpha, 10 * alpha, period)
    for rtt in (0.02, 0.1, 0.4)
    for prob in (1e-5, 1e-3, 0.1)
    for alpha in (0.002, 0.125)
    for period in (0.015, 0.03)
]


def transfer_function(rtt, prob, alpha, beta, period, gain=1.0):
    """Pan et al. 2013 section V, with the gain that follows from the equations."""
    zero = alpha / ((beta + alpha / 2) * period)
    slow, fast = np.sqrt(2 * prob) / rtt, 1 / rtt
    kappa = gain * alpha * rtt / (2 * prob * period)
    s = control.tf("s")
    return kappa * (s / zero + 1) / ((s / slow + 1) * (s / fast + 1) * s)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("name", "gain"), [("derived", 1.0), ("printed", 2.0)])
def test_the_rational_part_agrees(point, name, gain):
    w = np.geomspace(1e-3, 1e3, 200)
    ours = loop_at(*point, name=name, with_delay=False).response(w)
    theirs = transfer_function(*point, gain)(1j * w)
    assert np.abs(ours / theirs - 1).max() < 1e-9


@pytest.mark.parametrize("point", POINTS)
def test_margins_of_the_rational_part_agree(point):
    found = margins(loop_at(*point, name="derived", with_delay=False))
    _, phase_deg, _, crossover = control.margin(transfer_function(*point))
    assert found.crossover_rad_per_s == pytest.approx(crossover, rel=1e-9)
    assert found.phase_margin_deg == pytest.approx(phase_deg, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("point", [p for p in POINTS if p[1] == 0.1])
def test_margins_with_delay_agree_where_it_is_given_as_data(point):
    w = np.geomspace(1e-2, 20 / point[0], 20_000)
    values = transfer_function(*point)(1j * w) * np.exp(-1j * w * point[0])
    gain, phase_deg, at_phase, crossover = control.margin(control.frd(values, w))
    found = margins(loop_at(*point, name="derived"))
    assert found.gain_margin_db == pytest.approx(20 * np.log10(gain), abs=1e-2)
    assert found.phase_crossover_rad_per_s == pytest.approx(at_phase, rel=1e-3)
    if phase_deg is not None and np.isfinite(phase_deg):
        assert found.crossover_rad_per_s == pytest.approx(crossover, rel=1e-3)
        assert found.phase_margin_deg == pytest.approx(phase_deg, abs=0.05)
